"""The making of one decision: events are put one after another, each seen by what follows."""

from collections.abc import Callable, Iterable
from typing import Final, Literal, NoReturn, TypeAlias

import attrs
from attrs import frozen

from midstream.protocol.base import ItemId, RequestId, RunId, Time
from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.provider import ProviderThread
from midstream.protocol.records.request import RuntimeRequest
from midstream.protocol.records.run import Run, RunAttempt
from midstream.protocol.records.thread import ThreadStatus
from midstream.server.graph.effects import Effect
from midstream.server.graph.events import Event, ProviderThreadPut, RunPut, ThreadPut
from midstream.server.graph.state import ThreadState, evolve

IdPrefix: TypeAlias = Literal["thr", "run", "itm", "pth", "pss", "trf", "hof", "ckp", "req"]


@frozen
class Stamp:
    """What a decision may not find out for itself: the time, and fresh ids."""

    now: Time
    new_id: Callable[[IdPrefix], str]


class Changes:
    """Events and effects so far, and the state with them."""

    def __init__(self, state: ThreadState, stamp: Stamp) -> None:
        self.state = state
        self.now: Final = stamp.now
        self.new_id: Final = stamp.new_id
        self.events: Final[list[Event]] = []
        self.effects: Final[list[Effect]] = []
        self.forget = False

    def put(self, event: Event) -> None:
        """Add an event."""
        self.events.append(event)
        self.state = evolve(self.state, event)

    def put_run(self, run: Run) -> Run:
        """Add a run's new version, where it is one."""
        if self.state.runs.get(run.id) != run:
            self.put(RunPut(run))
        return run

    def add_missing(self, known: ProviderThread, missed: Iterable[ItemId]) -> None:
        """Add items of covered runs that a provider thread never took in."""
        new = tuple(sorted(set(missed) - set(known.missing_item_ids)))
        if new:
            self.put(ProviderThreadPut(attrs.evolve(known, missing_item_ids=(*known.missing_item_ids, *new))))

    def settle_thread(self) -> None:
        """Bring the thread's own record in step with its runs and transfers."""
        thread = self.state.thread
        settled = attrs.evolve(
            thread,
            status=self._thread_status(),
            pending_transfer_ids=tuple(
                transfer.id
                for transfer in sorted(self.state.transfers.values(), key=lambda transfer: transfer.id)
                if transfer.status == "pending" and transfer.target_thread_id == thread.id
            ),
            queue_held=thread.queue_held and bool(self.state.queue),
        )
        if settled != thread:
            self.put(ThreadPut(attrs.evolve(settled, updated_at=self.now)))

    def _thread_status(self) -> ThreadStatus:
        run = self.state.active_run
        match run.status if run else None:
            case "starting" | "running" | "waiting" as status:
                return status
            case _:
                return "queued" if self.state.queue else "idle"

    def run(self, run_id: RunId) -> Run:
        """Return a run of this thread.

        Raises:
            MidstreamError: runNotFound.
        """
        run = self.state.runs.get(run_id)
        if run is None:
            raise MidstreamError("runNotFound", f"There is no run {run_id} in this thread.", runId=run_id)
        return run

    def request(self, request_id: RequestId) -> RuntimeRequest:
        """Return a request of this thread.

        Raises:
            MidstreamError: requestNotFound.
        """
        request = self.state.requests.get(request_id)
        if request is None:
            raise MidstreamError(
                "requestNotFound", f"There is no request {request_id} in this thread.", requestId=request_id
            )
        return request

    def current(self, run_id: RunId, attempt: int) -> Run | None:
        """Return the run if it is active and this is its latest attempt: only then may the runtime change it."""
        run = self.state.runs.get(run_id)
        if run is None or run.id != self.state.active_run_id or run.attempts[-1].ordinal != attempt:
            return None
        return run

    def preparing(self, run_id: RunId, attempt: int) -> Run | None:
        """Return the run if this is its latest attempt and no provider took it yet."""
        run = self.current(run_id, attempt)
        return run if run is not None and run.attempts[-1].status == "pending" else None


def with_attempt(run: Run, attempt: RunAttempt) -> Run:
    """Return the run with a new version of one of its attempts."""
    return attrs.evolve(
        run,
        attempts=tuple(attempt if old.ordinal == attempt.ordinal else old for old in run.attempts),
    )


def refuse(message: str, run: Run) -> NoReturn:
    """Refuse a command that does not fit the run's state."""
    raise MidstreamError("invalidState", message, runId=run.id, status=run.status)
