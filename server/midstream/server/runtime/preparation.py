"""Getting an attempt ready: baseline, context, session, native conversation, and what is sent."""

import hashlib
from contextlib import AsyncExitStack
from functools import partial
from typing import Final, Self

import attrs
from attrs import frozen

from midstream.protocol.base import Reason, ThreadId
from midstream.protocol.errors import MidstreamError
from midstream.protocol.notifications import HandoffPhase
from midstream.protocol.records.handoff import ContextHandoff
from midstream.protocol.records.item import UserMessageItem
from midstream.protocol.records.run import Message, Run, SwitchPlan
from midstream.server.graph.commands import (
    AttachBaseline,
    BindProviderThread,
    FailFork,
    FailResume,
    FixPlan,
    MarkDelivering,
)
from midstream.server.graph.effects import ExecuteAttempt
from midstream.server.graph.state import ThreadState
from midstream.server.providers.adapter import (
    ContextBlock,
    McpServer,
    NativeThread,
    ProviderError,
    ResumeFailed,
    ThreadOptions,
    TurnInput,
)
from midstream.server.runtime.branching import fork_turn
from midstream.server.runtime.engine import Turn
from midstream.server.runtime.handoffs import NOT_ASKED, Catchup, Summarised
from midstream.server.runtime.planning import Decided, Wish, context_of
from midstream.server.runtime.progress import HandoffReport
from midstream.server.runtime.services import Services
from midstream.server.runtime.sessions import LiveSession
from midstream.server.runtime.subagents import SubagentWatch
from midstream.server.runtime.transcript import Setting, Transcript
from midstream.server.runtime.turn import Ended, ProviderTurn
from midstream.server.runtime.workspaces import workspace_path

PLANS: Final = 3
"""How often an attempt plans anew after a native conversation could not be resumed."""


class Superseded(Exception):
    """The run goes on without this attempt."""


class ForkFailed(Exception):
    """The provider could not fork its conversation."""

    def __init__(self, provider_thread_id: str, message: str) -> None:
        super().__init__(message)
        self.provider_thread_id = provider_thread_id


@frozen(kw_only=True)
class Prepared:
    """A turn that can be sent."""

    turn: ProviderTurn
    input: TurnInput
    options: ThreadOptions


@frozen(kw_only=True)
class Conversation:
    """The native conversation of an attempt."""

    provider_thread_id: str
    native: NativeThread
    forked_from: str | None = None


class Preparation:
    """The way of one attempt to its turn; holds the agent's session until it is left."""

    def __init__(self, services: Services, thread_id: ThreadId, effect: ExecuteAttempt) -> None:
        self._services = services
        self._engine = services.engine
        self._thread_id = thread_id
        self._effect = effect
        self._stack = AsyncExitStack()
        self._handoffs: tuple[ContextHandoff, ...] = ()
        self._cannot_fork: frozenset[str] = frozenset()
        self._resolved = False
        self._report = HandoffReport(services.audience, thread_id, run_id=effect.run_id)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def prepare(self) -> Prepared:
        """Do all that comes before the turn is sent.

        Raises:
            Superseded: the run went on without this attempt.
            ProviderError: the provider could not be started, or gave no conversation.
            MidstreamError: the run cannot be done as it stands.
        """
        await self._take_baseline()
        for _ in range(PLANS):
            state, run = await self._current()
            catchup = await self._resolve()
            self._resolved = True
            live = await self._session(state, run)
            await self._services.ingest.refresh(self._thread_id)  # what the reader tells is made of facts
            options = self._options(state, run, live)
            try:
                conversation = await self._converse(live, state, catchup.plan, options)
            except ResumeFailed as error:
                await self._fail_resume(catchup.plan, error)
                continue
            except ForkFailed as error:
                await self._fail_fork(error)
                continue
            return await self._ready(live, conversation, catchup)
        raise MidstreamError("invalidState", "The provider's conversations could not be resumed.")

    async def _current(self) -> tuple[ThreadState, Run]:
        async with self._engine.thread(self._thread_id) as turn:
            return turn.state, self._run_of(turn.state)

    def _run_of(self, state: ThreadState) -> Run:
        run = state.runs.get(self._effect.run_id)
        if run is None or run.id != state.active_run_id or run.attempts[-1].ordinal != self._effect.attempt:
            raise Superseded
        return run

    async def _take_baseline(self) -> None:
        state, run = await self._current()
        if run.baseline_checkpoint_id is not None:
            return
        workspace = workspace_path(state.thread.workspace)
        checkpoint = await self._services.checkpointer.baseline(state, run, workspace, self._engine.stamp())
        await self._engine.do(self._thread_id, AttachBaseline(run_id=run.id, checkpoint=checkpoint))

    async def _resolve(self) -> Catchup:
        self._report.say("deciding", "Deciding how the agent catches up.")
        _, run = await self._current()
        await self._services.planner.probe(run.selection)  # not under the lock: the agent may be slow to start
        async with self._engine.thread(self._thread_id) as turn:
            run = self._run_of(turn.state)
            wish = Wish(selection=run.selection, context=context_of(run.plan), cannot_fork=self._cannot_fork)
            named = [turn.state.handoffs[handoff_id] for handoff_id in run.handoff_ids]
            catchup = await self._services.handoffs.kept(turn.state, wish, named, run, stale=True)
            if catchup is not None:
                return await self._fix(turn, run, catchup)
            decided = await self._services.planner.decide(turn.state, wish, run)
        if decided.material is not None:
            self._report.say("collecting", "Collecting what the agent missed.", 20)
        summarised = await self._summarise(turn.state, decided, wish)
        async with self._engine.thread(self._thread_id) as turn:
            run = self._run_of(turn.state)
            decided = await self._services.planner.decide(turn.state, wish, run)
            handoff = self._services.handoffs.make(turn.state, decided, wish, summarised)
            made = () if handoff is None else (handoff,)
            return await self._fix(turn, run, Catchup(plan=decided.plan, handoffs=made))

    async def _summarise(self, state: ThreadState, decided: Decided, wish: Wish) -> Summarised:
        """Wait for a provider's summary, where one is wanted; the thread is free meanwhile."""
        asked = self._services.summarizers.asked(state, wish)
        if asked is None or decided.material is None:
            return NOT_ASKED
        self._report.say("summarizing", f"Waiting for the summary of {asked}.", 40)
        return await self._services.summarizers.summarise(state, decided, wish)

    async def _fix(self, turn: Turn, run: Run, catchup: Catchup) -> Catchup:
        known = turn.state.handoffs
        merged = await self._services.handoffs.merge_backs(turn.state, catchup.plan, run)
        catchup = attrs.evolve(catchup, handoffs=(*catchup.handoffs, *merged))
        await turn.do(
            FixPlan(
                run_id=run.id,
                attempt=self._effect.attempt,
                plan=catchup.plan,
                handoff_ids=tuple(handoff.id for handoff in catchup.handoffs),
                handoffs=tuple(handoff for handoff in catchup.handoffs if handoff.id not in known),
            )
        )
        self._handoffs = catchup.handoffs
        if catchup.handoffs:
            self._tell("ready", "What the agent has to be told is ready.", 100)
        return catchup

    async def _session(self, state: ThreadState, run: Run) -> LiveSession:
        workspace = workspace_path(state.thread.workspace)
        await self._stack.aclose()
        return await self._stack.enter_async_context(
            self._services.sessions.use(run.provider, workspace, state.thread.workspace, self._thread_id)
        )

    def _options(self, state: ThreadState, run: Run, live: LiveSession) -> ThreadOptions:
        return ThreadOptions(
            workspace=workspace_path(state.thread.workspace),
            model=run.selection.model,
            options=run.selection.options,
            runtime_mode=state.thread.runtime_mode,
            mcp_servers=self._mcp_servers(live),
        )

    def _mcp_servers(self, live: LiveSession) -> tuple[McpServer, ...]:
        readers = self._services.readers
        if not (readers.offered and live.session.capabilities.mcp_servers):
            return ()
        return (readers.server_for(live.record.id, self._thread_id, lambda: live.session.live),)

    async def _converse(
        self, live: LiveSession, state: ThreadState, plan: SwitchPlan, options: ThreadOptions
    ) -> Conversation:
        if plan.strategy == "native_fork":
            return await self._fork(live, state, options)
        known = state.provider_threads.get(plan.provider_thread_id or "")
        if known is None or known.native_ref is None:
            native = await live.session.start_thread(options)
            live.loaded.add(native.ref)
            return Conversation(provider_thread_id=self._engine.new_id("pth"), native=native)
        if known.native_ref in live.loaded:
            native = NativeThread(ref=known.native_ref, model=known.model)
        else:
            native = await live.session.resume_thread(known.native_ref, options)
            live.loaded.add(native.ref)
        return Conversation(provider_thread_id=known.id, native=native)

    async def _fork(self, live: LiveSession, state: ThreadState, options: ThreadOptions) -> Conversation:
        """Have the provider fork its own conversation at the fork's point."""
        point = next(one.source_point for one in state.transfers.values() if one.type == "fork")
        source = state.inherited.provider_threads[point.provider_thread_id or ""]
        try:
            async with self._engine.thread(source.thread_id) as turn:
                turn_ref = fork_turn(turn.state, source.id, point, live.session.capabilities)
            native = await live.session.fork_thread(point.native_thread_ref or "", turn_ref, options)
        except (ProviderError, MidstreamError) as error:
            raise ForkFailed(source.id, str(error)) from error
        live.loaded.add(native.ref)
        return Conversation(provider_thread_id=self._engine.new_id("pth"), native=native, forked_from=source.id)

    async def _fail_fork(self, error: ForkFailed) -> None:
        self._cannot_fork |= {error.provider_thread_id}
        run_id, attempt = self._effect.run_id, self._effect.attempt
        await self._engine.do(self._thread_id, FailFork(run_id=run_id, attempt=attempt, error=str(error)))

    async def _fail_resume(self, plan: SwitchPlan, error: ResumeFailed) -> None:
        reason = Reason(
            code="resume_failed",
            message=f"The earlier conversation could not be resumed: {error.failure.message}",
        )
        await self._engine.do(
            self._thread_id, FailResume(provider_thread_id=plan.provider_thread_id or "", reason=reason)
        )

    async def _ready(self, live: LiveSession, conversation: Conversation, catchup: Catchup) -> Prepared:
        run_id, attempt = self._effect.run_id, self._effect.attempt
        await self._engine.do(
            self._thread_id,
            BindProviderThread(
                run_id=run_id,
                attempt=attempt,
                provider_thread_id=conversation.provider_thread_id,
                native_ref=conversation.native.ref,
                model=conversation.native.model,
                session=live.record,
                forked_from=conversation.forked_from,
            ),
        )
        turn_input = await self._input(catchup)
        state, run = await self._current()
        # As the thread's settings stand now: a mode that was narrowed meanwhile holds for this turn too.
        options = self._options(state, run, live)
        if self._handoffs:
            self._tell("delivering", "Sending the handoff with the message.", 100)
        await self._engine.do(
            self._thread_id,
            MarkDelivering(
                run_id=run_id,
                attempt=attempt,
                channel=catchup.plan.channel,
                sha256={
                    block.handoff_id: hashlib.sha256(block.text.encode()).hexdigest() for block in turn_input.context
                },
            ),
        )
        setting = Setting(
            thread_id=self._thread_id,
            run_id=run_id,
            provider=run.provider,
            provider_thread_id=conversation.provider_thread_id,
        )
        transcript = Transcript(setting, self._engine.new_id)
        subagents = SubagentWatch(self._engine, self._services.checkpointer, self._thread_id, run_id, options.workspace)
        turn = ProviderTurn(
            self._engine,
            self._thread_id,
            (run_id, attempt),
            live,
            conversation.native.ref,
            transcript,
            subagents,
        )
        turn.on_accepted = self.tell_accepted
        return Prepared(turn=turn, input=turn_input, options=options)

    async def _input(self, catchup: Catchup) -> TurnInput:
        channel = catchup.plan.channel
        messages = await self._messages()
        block = partial(self._services.attachments.block, self._thread_id)
        return TurnInput(
            context=tuple(
                ContextBlock(handoff_id=handoff.id, channel=channel, text=handoff.sent_text)
                for handoff in self._handoffs
                if channel is not None
            ),
            attachments=tuple([await block(attachment) for message in messages for attachment in message.attachments]),
            text="\n\n".join(message.text for message in messages),
        )

    async def _messages(self) -> list[Message]:
        _, run = await self._current()
        messages: list[Message] = []
        for item_id in self._effect.message_item_ids:
            item = await self._engine.store.item(item_id)
            if isinstance(item, UserMessageItem):
                text = await self._engine.store.text(item_id, "text")
                messages.append(Message(text=item.text if text is None else text, attachments=item.attachments))
        return messages or [run.message]

    def tell_accepted(self) -> None:
        """Say that the handoffs arrived."""
        if self._handoffs:
            self._tell("delivered", "The agent took the handoff.", 100)

    def tell_ended(self, ended: Ended) -> None:
        """Say that the handoffs did not arrive, where they did not: nothing is told after they did."""
        if self._handoffs or not self._resolved:
            phase: HandoffPhase = "cancelled" if ended.status == "interrupted" else "failed"
            self._tell(phase, ended.failure.message if ended.failure else "The run ended before the agent took it.")

    def _tell(self, phase: HandoffPhase, message: str, percentage: int | None = None) -> None:
        self._report.say(phase, message, percentage, self._handoffs[0].id if self._handoffs else None)
