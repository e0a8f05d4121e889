"""Work that a run's agent gives to another provider: a child thread with its run, and what comes back of it."""

import asyncio
from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from attrs import frozen

from midstream.protocol.base import ItemId, ProviderKind, ProviderSessionId, ThreadId
from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.config import Config
from midstream.protocol.records.item import AgentMessageItem
from midstream.protocol.records.run import Message, Run
from midstream.protocol.records.thread import ModelSelection, SourcePoint, Thread
from midstream.server.graph.commands import BeginDelegation, EndDelegation, InterruptRun, SpawnChild
from midstream.server.graph.delegating import child_of, is_child
from midstream.server.graph.state import ThreadState
from midstream.server.graph.threads import title_from
from midstream.server.handoff.redact import Redactor
from midstream.server.runtime.engine import Engine, Turn
from midstream.server.runtime.persistence import until_stored
from midstream.server.runtime.planning import Planner, Wish
from midstream.server.runtime.publishing import Publisher
from midstream.server.runtime.secret_values import workspace_secrets
from midstream.server.runtime.workspaces import workspace_name
from midstream.server.store import ItemAnchor, Store

AT_ONCE: Final = 4
"""How many children of one run work at the same time."""

LAST_ITEMS: Final = 50
"""Among so many of a child's last items its result is looked for."""

Outcome: TypeAlias = Literal["completed", "failed", "interrupted"]


@frozen(kw_only=True)
class Order:
    """What an agent asks for: who is to do what, under which title."""

    provider: ProviderKind
    prompt: str
    title: str


@frozen(kw_only=True)
class _Child:
    item_id: ItemId
    thread: Thread
    run: Run


class Delegations:
    """Carries orders out. An agent may give work to the configured providers alone, and a child gives none away."""

    def __init__(
        self,
        engine: Engine,
        store: Store,
        planner: Planner,
        publisher: Publisher,
        config: Callable[[], Config],
        known_secrets: Callable[[], frozenset[str]],
    ) -> None:
        self._engine = engine
        self._store = store
        self._planner = planner
        self._publisher = publisher
        self._config = config
        self._known_secrets = known_secrets

    async def targets(self, thread_id: ThreadId) -> tuple[ProviderKind, ...]:
        """Return the providers to which a thread's agent may give work."""
        thread = await self._store.thread(thread_id)
        return () if thread is None or is_child(thread) else self._config().reader.delegate_to

    async def carry_out(
        self, session_id: ProviderSessionId, thread_id: ThreadId, order: Order, gone: asyncio.Future[bytes]
    ) -> ItemId:
        """Have an order done, and return the item that holds what came back.

        The child is interrupted once its parent's run is to end, or `gone` says that nobody waits any more.

        Raises:
            MidstreamError: the order is refused, and nothing was begun.
        """
        if order.provider not in (allowed := await self.targets(thread_id)):
            raise _refused(f"Work can be given to {', '.join(allowed) or 'nobody'} here, not to {order.provider}.")
        selection = ModelSelection(provider=order.provider, model=None)
        await self._planner.probe(selection)
        async with self._engine.thread(thread_id) as turn:
            parent_run = _at_work(turn.state, session_id)
            stopping = asyncio.ensure_future(self._publisher.stopping(parent_run))
            try:
                child = await self._begin(turn, parent_run, selection, order)
            except BaseException:
                stopping.cancel()
                raise
        ended = await self._ended(child, stopping, gone)
        command = EndDelegation(
            item_id=child.item_id,
            source_point=SourcePoint(thread_id=child.thread.id, run_id=ended.id),
            status=_outcome(ended),
            result=await self._result(ended),
        )
        await until_stored(lambda: self._engine.do(thread_id, command), f"What came back from {child.thread.id}")
        return child.item_id

    async def _begin(self, turn: Turn, parent_run: Run, selection: ModelSelection, order: Order) -> _Child:
        """Make the child first: what the parent shows of it has to be there."""
        parent = turn.state.thread
        redact = Redactor(self._known_secrets() | workspace_secrets(workspace_name(parent.workspace))).text
        prompt = redact(order.prompt)
        stamp = self._engine.stamp()
        title = redact(order.title) or title_from(prompt)
        thread = child_of(parent, self._engine.new_id("thr"), title, selection, stamp.now)
        plan = await self._planner.plan(ThreadState(thread=thread), Wish(selection=selection, context="auto"))
        item_id = self._engine.new_id("itm")
        begin = BeginDelegation(run_id=parent_run.id, item_id=item_id, child=thread, prompt=prompt)
        run = await self._engine.spawn(
            SpawnChild(
                thread=thread,
                message=Message(text=prompt, attachments=()),
                plan=plan,
                source_point=SourcePoint(thread_id=parent.id, run_id=parent_run.id, item_id=item_id),
                source_provider=parent_run.provider,
            )
        )
        child = _Child(item_id=item_id, thread=thread, run=run)
        try:
            await turn.do(begin)
        except BaseException:
            await self._interrupt(child)
            raise
        return child

    async def _ended(self, child: _Child, stopping: asyncio.Future[Run], gone: asyncio.Future[bytes]) -> Run:
        async with self._engine.thread(child.thread.id) as turn:  # no commit can end the run unseen meanwhile
            ended = asyncio.ensure_future(self._publisher.ended(turn.state.runs[child.run.id]))
        try:
            await asyncio.wait((ended, stopping, gone), return_when=asyncio.FIRST_COMPLETED)
            if not ended.done():
                await self._interrupt(child)
            return await ended
        finally:
            ended.cancel()
            stopping.cancel()

    async def _interrupt(self, child: _Child) -> None:
        async with self._engine.thread(child.thread.id) as turn:
            if turn.state.active_run_id == child.run.id:
                await turn.do(InterruptRun(run_id=child.run.id))

    async def _result(self, run: Run) -> str:
        """Return what the child said last, or why it failed."""
        page = await self._store.items(((run.thread_id, None),), run.id, ItemAnchor(last=True), LAST_ITEMS)
        for item in reversed(page.items if page is not None else ()):
            if isinstance(item, AgentMessageItem) and item.parent_item_id is None:
                text = await self._store.text(item.id, "text")
                return item.text if text is None else text
        return run.failure.message if run.failure is not None else ""


def _at_work(state: ThreadState, session_id: ProviderSessionId) -> Run:
    """Return the active run, where it is the agent's of that process.

    Raises:
        MidstreamError: invalidState.
    """
    run = state.active_run
    known = state.provider_threads.get((run.provider_thread_id if run else None) or "")
    if run is None or known is None or known.session_id != session_id or run.interrupt_requested_at is not None:
        raise _refused("Only the agent of a run that is at work can give work away.")
    children = sum(item.type == "subagent" and item.child_thread_id is not None for item in state.live_items.values())
    if children >= AT_ONCE:
        raise _refused(f"{AT_ONCE} agents are at work for this run already; wait until one of them is done.")
    return run


def _outcome(run: Run) -> Outcome:
    match run.status:
        case "completed" | "failed" as status:
            return status
        case _:
            return "interrupted"


def _refused(message: str) -> MidstreamError:
    return MidstreamError("invalidState", message)
