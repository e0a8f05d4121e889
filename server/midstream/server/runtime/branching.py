"""Native conversations of threads that branch: where one is forked, and how one forgets what was rolled back."""

import logging
from typing import Final

from midstream.protocol.base import ThreadId
from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.provider import Capabilities, ProviderThread
from midstream.protocol.records.thread import SourcePoint
from midstream.server.graph.commands import SettleRevert
from midstream.server.graph.effects import RevertConversation
from midstream.server.graph.state import ThreadState
from midstream.server.providers.adapter import ProviderError, Session, ThreadOptions
from midstream.server.quoting import Quoted
from midstream.server.runtime.engine import Engine
from midstream.server.runtime.erasing import unless_deleted
from midstream.server.runtime.persistence import until_stored
from midstream.server.runtime.sessions import LiveSession, SessionManager
from midstream.server.runtime.workspaces import workspace_path

LOG: Final = logging.getLogger(__name__)


def fork_turn(source: ThreadState, provider_thread_id: str, point: SourcePoint, able: Capabilities) -> str | None:
    """Return the turn to fork a conversation at, as its thread now stands; None forks at its head.

    Raises:
        MidstreamError: unsupported, where the conversation went on and the provider forks only at the head.
    """
    if point.native_turn_ref is not None and able.fork_at_turn:
        return point.native_turn_ref
    known = source.provider_threads[provider_thread_id]
    run = source.runs.get(point.run_id or "")
    if run is None or known.last_run_ordinal != run.ordinal or source.active_run is not None:
        message = f"{known.provider} forks a conversation only as it now is, and this one went on."
        raise MidstreamError("unsupported", message, capability="forkAtTurn")
    return None


class Reverter:
    """Has providers drop rolled-back runs from their own conversations."""

    def __init__(self, engine: Engine, sessions: SessionManager) -> None:
        self._engine: Final = engine
        self._sessions: Final = sessions

    async def revert(self, thread_id: ThreadId, effect_id: int, effect: RevertConversation) -> None:
        """Revert a conversation; where that fails, or cannot be seen, it stays divergent and is not gone on with."""
        try:
            with unless_deleted(thread_id):
                await self._revert(thread_id, effect)
        except (ProviderError, MidstreamError, OSError) as error:
            LOG.info("a conversation of thread %s stays divergent: %s", thread_id, Quoted(error))
        finally:
            await self._engine.finish_effect(thread_id, effect_id)

    async def _revert(self, thread_id: ThreadId, effect: RevertConversation) -> None:
        async with self._engine.thread(thread_id) as turn:
            state = turn.state
        known = state.provider_threads[effect.provider_thread_id]
        workspace = workspace_path(state.thread.workspace)
        async with self._sessions.use(known.provider, workspace, state.thread.workspace, thread_id) as live:
            ref = await _open(live, known, state)
            if not await _dropped(live.session, ref, effect.turn_ref):
                raise MidstreamError("unsupported", f"{known.provider} still has what was rolled back.")
            missing = [await self._engine.store.item(item_id) for item_id in known.missing_item_ids]
            settled = SettleRevert(
                provider_thread_id=known.id,
                run_ids=effect.run_ids,
                missing_item_ids=tuple(one.id for one in missing if one and one.run_id not in effect.run_ids),
                loaded=live.record.id == known.session_id,
            )
            await until_stored(
                lambda: self._engine.do(thread_id, settled), f"What {known.provider} dropped of thread {thread_id}"
            )


async def _open(live: LiveSession, known: ProviderThread, state: ThreadState) -> str:
    ref = known.native_ref or ""
    if ref not in live.loaded:
        selection = known.selection or state.thread.selection
        options = ThreadOptions(
            workspace=workspace_path(state.thread.workspace),
            model=selection.model,
            options=selection.options,
            runtime_mode=state.thread.runtime_mode,
        )
        ref = (await live.session.resume_thread(ref, options)).ref
        live.loaded.add(ref)
    return ref


async def _dropped(session: Session, ref: str, turn_ref: str) -> bool:
    """Have the provider drop a turn and what follows, and return whether its history read back shows just that."""
    before = [turn.ref for turn in await session.read_turns(ref)]
    if turn_ref not in before:
        return False
    await session.revert_thread(ref, turn_ref)
    after = [turn.ref for turn in await session.read_turns(ref)]
    return after == before[: before.index(turn_ref)]
