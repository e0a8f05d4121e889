"""Letting go of old checkpoints, in the background, after runs."""

import logging
from collections import defaultdict
from pathlib import Path
from typing import Final

from midstream.protocol.base import CheckpointId, ThreadId
from midstream.protocol.errors import MidstreamError
from midstream.server.checkpoints import CheckpointError, CheckpointStore
from midstream.server.graph.commands import LoseCheckpoints
from midstream.server.quoting import Quoted
from midstream.server.runtime.background import Background
from midstream.server.runtime.engine import Engine

LOG: Final = logging.getLogger(__name__)


class Retention:
    """Keeps the stores of checkpoints as small as the policy says."""

    def __init__(self, store: CheckpointStore, engine: Engine) -> None:
        self._store = store
        self._engine = engine
        self._background = Background()
        self._under_way: set[Path] = set()

    def look_after(self, workspace: Path) -> None:
        """Let go of what is kept too long, unless that is under way."""
        if workspace not in self._under_way:
            self._under_way.add(workspace)
            self._background.spawn(self._let_go(workspace))

    async def _let_go(self, workspace: Path) -> None:
        try:
            gone = await self._store.retain(workspace)
        except CheckpointError as error:
            LOG.info("the checkpoints of %s stay as they are: %s", Quoted(workspace), Quoted(error))
            return
        finally:
            self._under_way.discard(workspace)
        lost: defaultdict[ThreadId, list[CheckpointId]] = defaultdict(list)
        for one in gone:
            lost[one.thread_id].append(one.name)
        for thread_id, names in lost.items():
            try:
                await self._engine.do(thread_id, LoseCheckpoints(checkpoint_ids=tuple(names)))
            except MidstreamError as error:
                LOG.info("thread %s: %s", thread_id, Quoted(error))

    async def aclose(self) -> None:
        """Stop; what is not done is done after a later run."""
        await self._background.cancel()
