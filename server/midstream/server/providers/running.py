"""How a turn runs, whoever the agent is: it is sent, told to its end, and stopped or abandoned if need be."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar

from midstream.protocol.records.run import Failure
from midstream.server.providers.adapter import ProviderError
from midstream.server.providers.events import Events, ProviderEvent, TurnAccepted, merged
from midstream.server.providers.failures import failure
from midstream.server.providers.mailbox import Mailbox
from midstream.server.quoting import Quoted

logger: Final = logging.getLogger(__name__)

M = TypeVar("M")
Status: TypeAlias = Literal["completed", "interrupted", "failed"]


class Turn(ABC, Generic[M]):
    """One turn in flight: what the agent says of it waits in a mailbox, and leaves that as provider events.

    `sent` once the agent may know of it, `cancelled` once it is to stop, `ended` once the agent ended it, and `over`
    once its last event was told.
    """

    def __init__(self) -> None:
        self.sent = False
        self.cancelled = False
        self.over = False
        self.ended: Final = asyncio.Event()
        self._mailbox: Final[Mailbox[M]] = Mailbox(self._drop)

    @abstractmethod
    async def stop(self) -> None:
        """Ask the agent to end it; `ended` says when it has. Raises ProviderError where the agent is gone."""

    @abstractmethod
    async def _handle(self, message: M) -> Events:
        """Return the events of a message."""

    @abstractmethod
    async def _drop(self, message: M) -> None:
        """Answer a message that nobody will see, if it waits for an answer."""

    @abstractmethod
    def _finish(self, status: Status, why: Failure | None = None) -> Events:
        """Return the last events, and be over."""

    async def step(self) -> Sequence[ProviderEvent]:
        """Wait for what comes next and return the events of all that came.

        Raises:
            TurnRefused: the agent did not take the turn.
        """
        if not self.sent:
            return self._finish("interrupted")
        events = [*await self._handle(await self._mailbox.take())]
        while self._mailbox.has_more and not self.over:
            events += await self._handle(await self._mailbox.take())
        return tuple(merged(events))

    async def abandon(self) -> None:
        """Take no more events out."""
        await self._mailbox.abandon()


class HoldingTurn(Turn[M]):
    """A turn of an agent that tells of it before it took it, as of a compaction: until then that is held.

    `id` is the agent's own of the turn, or the one that we gave it.
    """

    id: str | None

    def __init__(self) -> None:
        super().__init__()
        self._accepted = False
        self._held: list[ProviderEvent] = []

    def _accept(self) -> Events:
        if self._accepted:
            return ()
        self._accepted = True
        held, self._held = self._held, []
        return TurnAccepted(turn_ref=self.id), *held

    def _after_acceptance(self, events: Events) -> Events:
        if self._accepted:
            return events
        self._held += events
        return ()


T = TypeVar("T", bound=Turn[Any])


class RunningTurn(Generic[T]):
    """The running turn of one conversation, if it has one.

    An agent that does not end a turn within `patience` seconds of being asked is ended by `end`: it would take no more.
    """

    def __init__(self, patience: float, end: Callable[[], Awaitable[None]]) -> None:
        self.turn: T | None = None
        self._patience: Final = patience
        self._end: Final = end
        self._abandoned: asyncio.Event | None = None
        self._tasks: Final[set[asyncio.Task[None]]] = set()

    async def run(self, turn: T, send: Callable[[], Awaitable[None]]) -> AsyncGenerator[ProviderEvent, None]:
        """Send a turn, unless it is cancelled by then, and yield what happens until it has ended.

        Raises:
            ProviderError: another one runs.
        """
        if self._abandoned is not None:
            await self._abandoned.wait()
        if self.turn is not None:
            raise ProviderError(failure("validation_error", "The conversation runs a turn."))
        self.turn = turn
        try:
            await send()
            while not turn.over:
                for event in await turn.step():
                    yield event
        finally:
            if turn.sent and not turn.ended.is_set():
                self._abandoned = asyncio.Event()
                self._spawn(self._abandon(turn, self._abandoned))
            else:
                await turn.abandon()
                self.turn = None

    def interrupt(self) -> None:
        """Have the turn stopped; its `TurnEnded` says when it has."""
        turn = self.turn
        if turn is not None and not turn.cancelled:
            turn.cancelled = True
            if turn.sent:  # otherwise it never will be
                self._spawn(self._stop(turn))

    async def aclose(self) -> None:
        """Wait for what goes on beside the turn; the agent is ended by then."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _stop(self, turn: T) -> None:
        try:
            async with asyncio.timeout(self._patience):
                await turn.stop()
                await turn.ended.wait()
        except ProviderError as error:
            logger.info("An agent is gone while a turn is stopped: %s", Quoted(error))
        except TimeoutError:
            logger.warning("An agent did not end a turn that was to stop; its process is ended.")
            await self._end()

    async def _abandon(self, turn: T, done: asyncio.Event) -> None:
        turn.cancelled = True
        try:
            await turn.abandon()
            await self._stop(turn)
        finally:
            self.turn = self._abandoned = None
            done.set()

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
