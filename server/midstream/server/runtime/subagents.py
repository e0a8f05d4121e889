"""Subagents that work in a folder of their own: its files are captured as each of them ends."""

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from midstream.protocol.base import RunId, ThreadId
from midstream.server.checkpoints import CheckpointError
from midstream.server.graph.commands import KeepCheckpoint
from midstream.server.graph.state import LIVE_ITEM
from midstream.server.providers.drafts import SubagentDraft
from midstream.server.providers.events import ItemChanged
from midstream.server.quoting import Quoted
from midstream.server.runtime.checkpointing import Checkpointer
from midstream.server.runtime.engine import Engine
from midstream.server.runtime.transcript import ObservableEvent

LOG: Final = logging.getLogger(__name__)


class SubagentWatch:
    """Takes the checkpoints of one run's subagents."""

    def __init__(
        self, engine: Engine, checkpointer: Checkpointer, thread_id: ThreadId, run_id: RunId, workspace: Path
    ) -> None:
        self._engine = engine
        self._checkpointer = checkpointer
        self._thread_id = thread_id
        self._run_id = run_id
        self._workspace = workspace

    async def see(self, events: Iterable[ObservableEvent]) -> None:
        """Capture the folders of those that ended."""
        for event in events:
            match event:
                case ItemChanged(draft=SubagentDraft(folder=str(folder)), status=status) if status not in LIVE_ITEM:
                    await self._capture(folder)
                case _:
                    pass

    async def _capture(self, named: str) -> None:
        folder = _own_folder(self._workspace, named)
        if folder is None:
            return
        async with self._engine.thread(self._thread_id) as turn:
            state = turn.state
        try:
            checkpoint = await self._checkpointer.subagent(
                state, state.runs[self._run_id], folder, self._engine.stamp()
            )
        except CheckpointError as error:
            LOG.warning("no checkpoint of the subagent's folder %s: %s", Quoted(folder), Quoted(error))
            return
        await self._engine.do(self._thread_id, KeepCheckpoint(checkpoint=checkpoint))


def _own_folder(workspace: Path, named: str) -> Path | None:
    """Return a folder in the workspace. An agent names what it likes: what lies outside is not captured."""
    folder = Path(named).resolve()
    inside = folder != workspace and folder.is_relative_to(workspace)
    return folder if inside and folder.is_dir() else None
