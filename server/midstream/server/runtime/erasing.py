"""What a deleted thread leaves outside the log, and how it goes."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from midstream.protocol.base import ThreadId
from midstream.protocol.errors import MidstreamError
from midstream.server.checkpoints import CheckpointError, CheckpointStore
from midstream.server.graph.effects import EraseTraces
from midstream.server.quoting import Quoted
from midstream.server.runtime.attachments import AttachmentStore
from midstream.server.runtime.engine import Engine
from midstream.server.runtime.sessions import SessionManager
from midstream.server.store import StoreFailed

LOG: Final = logging.getLogger(__name__)


class Eraser:
    """Ends what agents hold of deleted threads, and removes their files."""

    def __init__(
        self, engine: Engine, sessions: SessionManager, attachments: AttachmentStore, checkpoints: CheckpointStore
    ) -> None:
        self._engine = engine
        self._sessions = sessions
        self._attachments = attachments
        self._checkpoints = checkpoints

    async def erase(self, thread_id: ThreadId, effect_id: int, effect: EraseTraces) -> None:
        """Leave nothing of a deleted thread. What fails is tried again at the next start: each step can be repeated."""
        try:
            await self._sessions.leave(thread_id, effect.native_refs)
            if await self._engine.store.forks(thread_id):
                await self._engine.finish_effect(thread_id, effect_id)
                LOG.info("thread %s is deleted, and kept unseen for its forks", thread_id)
                return
            for stored in await self._engine.store.remove_unneeded():
                self._engine.on_effect(stored)
            await self._engine.store.shred()
            await asyncio.to_thread(self._attachments.remove, thread_id)
            await self._checkpoints.forget(thread_id)
        except (StoreFailed, CheckpointError, OSError) as error:
            LOG.warning("traces of the deleted thread %s stay until the next start: %s", thread_id, Quoted(error))
            return
        await self._engine.finish_effect(thread_id, effect_id)
        LOG.info("thread %s is deleted, with all its traces", thread_id)


@contextmanager
def unless_deleted(thread_id: ThreadId) -> Iterator[None]:
    """Do nothing more for a thread that was deleted, and say so in the log."""
    try:
        yield
    except MidstreamError as error:
        if error.kind != "threadNotFound":
            raise
        LOG.info("thread %s is deleted: there is nothing to do", thread_id)
