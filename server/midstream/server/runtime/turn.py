"""A provider's turn as it happens: events are taken down in commits, each with all that came meanwhile."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final, Literal

from attrs import frozen

from midstream.protocol.base import ThreadId
from midstream.protocol.records.run import Failure
from midstream.server.graph.commands import AcceptTurn, Observe
from midstream.server.providers.adapter import ProviderError, ThreadOptions, TurnInput, TurnRefused
from midstream.server.providers.events import ProviderEvent, TurnAccepted, TurnEnded
from midstream.server.providers.inbox import Inbox
from midstream.server.providers.weight import weight
from midstream.server.runtime.engine import Engine
from midstream.server.runtime.sessions import LiveSession
from midstream.server.runtime.subagents import SubagentWatch
from midstream.server.runtime.transcript import ObservableEvent, Transcript

LOG: Final = logging.getLogger(__name__)


@frozen(kw_only=True)
class Ended:
    """How an attempt ended; `lost` where the agent's process went with it."""

    status: Literal["completed", "interrupted", "failed"]
    failure: Failure | None = None
    lost: bool = False


class ProviderTurn:
    """A turn that is ready to be sent, and then runs."""

    def __init__(
        self,
        engine: Engine,
        thread_id: ThreadId,
        attempt: tuple[str, int],
        live: LiveSession,
        native_ref: str,
        transcript: Transcript,
        subagents: SubagentWatch,
    ) -> None:
        self._engine = engine
        self._thread_id = thread_id
        self._run_id, self._attempt = attempt
        self.live: Final = live
        self.native_ref: Final = native_ref
        self.transcript: Final = transcript
        self._subagents = subagents
        self.accepted: Final = asyncio.Event()
        self._interrupted = False
        self.on_accepted: Callable[[], None] = lambda: None

    async def interrupt(self) -> None:
        """Ask for the turn to stop, once it was taken for certain: a session may not know a turn that just begins."""
        self._interrupted = True
        await self.live.session.interrupt(self.native_ref)

    async def run(self, turn: TurnInput, options: ThreadOptions) -> Ended:
        """Send the turn and take it down until it has ended."""
        inbox: Inbox[ProviderEvent] = Inbox()
        events = self.live.session.run_turn(self.native_ref, turn, options)
        reading = asyncio.ensure_future(fill(events, inbox))
        try:
            ended = await self._take_down(inbox)
            await reading
        except TurnRefused as error:
            return Ended(status="failed", failure=error.failure)
        except ProviderError as error:
            self.live.loaded.discard(self.native_ref)
            return Ended(status="failed", failure=error.failure, lost=not self.live.session.live)
        finally:
            reading.cancel()
            await asyncio.wait([reading])
        if ended.lost:
            self.live.loaded.discard(self.native_ref)  # so the next turn resumes it, and learns whether it was kept
        return ended

    async def _take_down(self, inbox: Inbox[ProviderEvent]) -> Ended:
        ended = _silent_end()
        while batch := await inbox.take():
            seen: list[ObservableEvent] = []
            for event in batch:
                match event:
                    case TurnAccepted(turn_ref=turn_ref):
                        await self._accept(turn_ref)
                    case TurnEnded(status=status, failure=failure, lost=lost):
                        ended = Ended(status=status, failure=failure, lost=lost or not self.live.session.live)
                    case _:
                        seen.append(event)
            if observations := self.transcript.take(seen):
                await self._engine.do(
                    self._thread_id,
                    Observe(run_id=self._run_id, attempt=self._attempt, observations=observations),
                )
            await self._subagents.see(seen)
        return ended

    async def _accept(self, turn_ref: str | None) -> None:
        await self._engine.do(
            self._thread_id, AcceptTurn(run_id=self._run_id, attempt=self._attempt, turn_ref=turn_ref)
        )
        self.accepted.set()
        self.on_accepted()
        if self._interrupted:
            await self.live.session.interrupt(self.native_ref)


async def fill(events: AsyncGenerator[ProviderEvent, None], inbox: Inbox[ProviderEvent]) -> None:
    """Put events in the inbox, as fast as there is room for what they say; close it after the last."""
    try:
        async with aclosing(events):
            async for event in events:
                await inbox.room()
                inbox.add(event, weight(event))
    finally:
        inbox.close()


def _silent_end() -> Ended:
    failure = Failure(class_="provider_error", message="The agent ended its turn without a word.", retryable=True)
    return Ended(status="failed", failure=failure)
