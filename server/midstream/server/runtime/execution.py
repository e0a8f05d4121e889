"""Carrying out one attempt of a run, from its baseline to its end."""

import asyncio
import logging
from pathlib import Path
from typing import Final, TypeAlias

from midstream.protocol.base import ThreadId
from midstream.protocol.errors import MidstreamError
from midstream.protocol.notifications import CheckpointCaptured
from midstream.protocol.records.item import UserMessageItem
from midstream.protocol.records.run import Failure, FailureClass, Run
from midstream.server.graph.commands import EndTurn, FinishRun, SettleSteer
from midstream.server.graph.delegating import is_child
from midstream.server.graph.effects import AnswerRequest, ExecuteAttempt, InterruptTurn, SteerTurn
from midstream.server.graph.state import ThreadState
from midstream.server.providers.adapter import ProviderError, Reply
from midstream.server.quoting import Quoted
from midstream.server.runtime.checkpointing import RunCheckpoint
from midstream.server.runtime.leases import Lease
from midstream.server.runtime.persistence import until_stored
from midstream.server.runtime.preparation import Preparation, Prepared, Superseded
from midstream.server.runtime.services import Services
from midstream.server.runtime.turn import Ended, ProviderTurn
from midstream.server.runtime.workspaces import workspace_path
from midstream.server.store import StoreFailed

LOG: Final = logging.getLogger(__name__)
FAILURES: Final[dict[str, FailureClass]] = {
    "providerUnauthenticated": "authentication",
    "handoffOverBudget": "context_overflow",
}


Word: TypeAlias = InterruptTurn | SteerTurn | AnswerRequest
"""What the user says to a run that is being carried out."""


class Execution:
    """One attempt of a run. Whatever happens, it ends in `EndTurn` and `FinishRun`."""

    def __init__(self, services: Services, thread_id: ThreadId, effect_id: int, effect: ExecuteAttempt) -> None:
        self._services = services
        self._engine = services.engine
        self._thread_id = thread_id
        self._effect_id = effect_id
        self._effect = effect
        self._turn: ProviderTurn | None = None
        self._preparing: asyncio.Task[Prepared] | None = None
        self._interrupted = False
        self._sent = asyncio.Event()
        self._over = asyncio.Event()

    @property
    def run_id(self) -> str:
        """The run that this carries out."""
        return self._effect.run_id

    def is_meant_by(self, word: Word) -> bool:
        """Whether this is the attempt that the user speaks to; an answer is for the one that asked, the first."""
        match word:
            case AnswerRequest(run_id=run_id):
                return run_id == self.run_id
            case _:
                return (word.run_id, word.attempt) == (self.run_id, self._effect.attempt)

    async def run(self) -> None:
        """Carry the attempt out."""
        async with self._engine.thread(self._thread_id) as turn:
            thread, run = turn.state.thread, turn.state.runs[self.run_id]
        try:
            workspace = workspace_path(thread.workspace)
        except MidstreamError as error:
            await self._end(_refused(error))
            await self._finish(None)
            return
        leases = self._services.leases
        parent = leases.held_by(thread.lineage.parent_thread_id) if is_child(thread) else None
        async with leases.share(workspace, self._thread_id, under=parent) as lease:
            self._interrupted = self._interrupted or run.interrupt_requested_at is not None
            await self._end(await self._guarded())
            captured = await self._captured(lease, workspace)
        await self._finish(captured)
        self._services.retention.look_after(workspace)

    async def _guarded(self) -> Ended:
        preparation = Preparation(self._services, self._thread_id, self._effect)
        ended = await self._tried(preparation)
        preparation.tell_ended(ended)
        return ended

    async def _tried(self, preparation: Preparation) -> Ended:
        try:
            return await self._attempt(preparation)
        except Superseded:
            return Ended(status="interrupted")
        except MidstreamError as error:
            return _refused(error)
        except ProviderError as error:
            return Ended(status="failed", failure=error.failure)
        except StoreFailed as error:
            LOG.error("run %s cannot be written down, and is stopped: %s", self.run_id, Quoted(error))
            return self._broken(f"What the agent does cannot be stored ({error}). Make room, then retry the run.")
        except Exception:
            LOG.exception("run %s failed inside the daemon", self.run_id)
            return self._broken("Midstream failed while it carried this run out; its log says more. Retry the run.")

    def _broken(self, message: str) -> Ended:
        """Return the end of an attempt that the daemon gave up: what was sent may have gone further than is known."""
        failure = Failure(class_="unknown", message=message, retryable=True)
        return Ended(status="failed", failure=failure, lost=self._turn is not None)

    async def _attempt(self, preparation: Preparation) -> Ended:
        async with preparation:
            if self._interrupted:
                return Ended(status="interrupted")
            self._preparing = asyncio.ensure_future(preparation.prepare())
            try:
                prepared = await self._preparing
            except asyncio.CancelledError:
                if self._interrupted and self._preparing.cancelled():
                    return Ended(status="interrupted")
                raise
            if self._interrupted:  # it came in the very step in which all was ready
                return Ended(status="interrupted")
            self._turn = prepared.turn
            self._sent.set()
            return await prepared.turn.run(prepared.input, prepared.options)

    async def hear(self, word: Word) -> None:
        """Pass the user's word on to the provider."""
        try:
            match word:
                case InterruptTurn():
                    await self._interrupt()
                case SteerTurn(message_item_id=item_id):
                    await self._steer(item_id)
                case AnswerRequest():
                    await self._answer(word)
        except ProviderError as error:
            LOG.warning("run %s did not take the user's word: %s", self.run_id, Quoted(error))

    async def _interrupt(self) -> None:
        self._interrupted = True
        if self._turn is not None:
            await self._turn.interrupt()
        elif self._preparing is not None:
            self._preparing.cancel()

    async def _steer(self, item_id: str) -> None:
        item = await self._engine.store.item(item_id)
        taken = False
        if isinstance(item, UserMessageItem) and await self._accepted() and self._turn is not None:
            text = await self._engine.store.text(item_id, "text")
            words = item.text if text is None else text
            outcome = await self._turn.live.session.steer(self._turn.native_ref, words)
            if outcome == "queued":
                return
            taken = outcome == "taken"
        await self._engine.do(self._thread_id, SettleSteer(run_id=self.run_id, item_id=item_id, taken=taken))

    async def _accepted(self) -> bool:
        """Wait until the provider took the turn; False where the attempt ended before it did."""
        while self._turn is None:
            if self._over.is_set():
                return False
            await self._sent.wait()
        accepted = asyncio.ensure_future(self._turn.accepted.wait())
        over = asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait((accepted, over), return_when=asyncio.FIRST_COMPLETED)
        finally:
            accepted.cancel()
            over.cancel()
        return self._turn.accepted.is_set() and not self._over.is_set()

    async def _answer(self, word: AnswerRequest) -> None:
        request = await self._engine.store.request(word.request_id)
        native = self._turn.transcript.native_request(word.request_id) if self._turn else None
        if request is None or request.decision is None or self._turn is None or native is None:
            LOG.info("request %s: nobody waits for its answer", word.request_id)
            return
        reply = Reply(
            decision=request.decision,
            option_id=word.option_id,
            answers=request.answers,
            message=request.message,
        )
        await self._turn.live.session.respond(self._turn.native_ref, native, reply)

    async def _end(self, ended: Ended) -> None:
        self._over.set()
        self._sent.set()
        command = EndTurn(
            run_id=self.run_id,
            attempt=self._effect.attempt,
            status=ended.status,
            failure=ended.failure,
            lost=ended.lost,
        )
        await until_stored(lambda: self._engine.do(self._thread_id, command), f"The end of run {self.run_id}")

    async def _captured(self, lease: Lease, workspace: Path) -> RunCheckpoint | None:
        """Capture what the run left, unless it goes on in another attempt."""
        async with self._engine.thread(self._thread_id) as turn:
            state = turn.state
        run = state.runs[self.run_id]
        current = run.id == state.active_run_id and run.attempts[-1].ordinal == self._effect.attempt
        return await self._capture(state, run, workspace, lease) if current else None

    async def _finish(self, captured: RunCheckpoint | None) -> None:
        record = captured.record if captured else None
        command = FinishRun(run_id=self.run_id, attempt=self._effect.attempt, checkpoint=record)
        await until_stored(
            lambda: self._engine.do(self._thread_id, command, done=(self._effect_id,)),
            f"The end of run {self.run_id}",
        )
        if captured is not None:
            self._services.audience.to_subscribers(
                self._thread_id,
                CheckpointCaptured(
                    thread_id=self._thread_id,
                    run_id=self.run_id,
                    checkpoint=captured.record,
                    patch=captured.patch,
                    truncated=captured.truncated,
                ),
            )

    async def _capture(self, state: ThreadState, run: Run, workspace: Path, lease: Lease) -> RunCheckpoint | None:
        stamp = self._engine.stamp()
        try:
            return await self._services.checkpointer.after(state, run, workspace, stamp, mixed=lease.mixed)
        except Exception:  # a run must end, whatever its files are like
            LOG.exception("the files after run %s could not be captured", run.id)
            return None


def _refused(error: MidstreamError) -> Ended:
    class_ = FAILURES.get(error.kind, "validation_error")
    return Ended(status="failed", failure=Failure(class_=class_, message=error.message, retryable=True))
