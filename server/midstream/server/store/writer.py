"""The one writer: it takes all that is queued, and commits it in one transaction."""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from attrs import frozen

from midstream.server.store.connection import Connection
from midstream.server.store.errors import StoreFailed
from midstream.server.store.log import Encoded, Log, encoded
from midstream.server.store.model import Commit, Write

LOG: Final = logging.getLogger(__name__)
BATCH: Final = 256
"""How many writes one transaction takes at most, so that none waits long for its neighbours."""


@frozen
class _Waiting:
    encoded: Encoded
    done: asyncio.Future[Commit]


class Writer:
    """Commits writes in the order in which they came; those that wait together are committed together."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._log = Log()
        self._waiting: list[_Waiting] = []
        self._filled = asyncio.Event()
        self._closing = False
        self._task = asyncio.create_task(self._work())
        self.on_committed: Callable[[Commit], None] = lambda _: None

    async def commit(self, write: Write) -> Commit:
        """Commit a write; a cancelled caller's write is committed nevertheless.

        Raises WriteRefused, StoreFailed, or MidstreamError storeLocked or storeCorrupt.
        """
        if self._closing:
            raise StoreFailed("the store is closed")
        waiting = _Waiting(encoded(write), asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._filled.set()
        return await waiting.done

    async def aclose(self) -> None:
        """Commit what waits, and end."""
        self._closing = True
        self._filled.set()
        # Awaited bare, the task would be cancelled with the caller, in the middle of a commit.
        await asyncio.shield(self._task)

    async def _work(self) -> None:
        while True:
            await self._filled.wait()
            self._filled.clear()
            while self._waiting:
                batch, self._waiting = self._waiting[:BATCH], self._waiting[BATCH:]
                await self._commit(batch)
            if self._closing:
                return

    async def _commit(self, batch: list[_Waiting]) -> None:
        try:
            commits = await self._connection.run(self._log.append, [waiting.encoded for waiting in batch])
        except Exception as error:  # whatever it was, it must not end the writer
            if len(batch) == 1:
                if not batch[0].done.cancelled():
                    batch[0].done.set_exception(error)
                return
            # One write is at fault; its neighbours must not pay for it.
            for waiting in batch:
                await self._commit([waiting])
            return
        for waiting, commit in zip(batch, commits, strict=True):
            self._publish(commit)
            if not waiting.done.cancelled():
                waiting.done.set_result(commit)

    def _publish(self, commit: Commit) -> None:
        try:
            self.on_committed(commit)
        except Exception:  # the commit stands, and the writer must go on
            LOG.exception("publishing a commit failed")
