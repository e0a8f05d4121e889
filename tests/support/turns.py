"""Turns of a driver's session in tests, as lists of events."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from midstream.protocol.records.thread import RuntimeMode
from midstream.server.providers.adapter import Session, ThreadOptions, TurnInput
from midstream.server.providers.events import ItemChanged, OutputAppended, ProviderEvent, RequestAsked, TurnEnded

BOUND = 15.0
E = TypeVar("E")
S = TypeVar("S", bound=Session, covariant=True)


class Opens(Protocol[S]):
    """A driver whose sessions are of one class."""

    async def open(self, workspace: Path) -> S: ...


def options_in(workspace: Path, mode: RuntimeMode = "approvalRequired", **more: Any) -> ThreadOptions:
    """Options that ask for nothing but a mode."""
    return ThreadOptions(workspace=workspace, model=more.pop("model", None), options=None, runtime_mode=mode, **more)


def words(text: str) -> TurnInput:
    """A turn of the user's words alone."""
    return TurnInput(context=(), attachments=(), text=text)


@asynccontextmanager
async def opened(driver: Opens[S], workspace: Path) -> AsyncIterator[S]:
    """A session that is ended with the test."""
    session = await driver.open(workspace)
    try:
        yield session
    finally:
        await session.aclose()


async def until(events: AsyncIterator[ProviderEvent], wanted: Callable[[ProviderEvent], bool]) -> list[ProviderEvent]:
    """The events up to the first that is wanted, or to the end."""
    seen: list[ProviderEvent] = []
    async with asyncio.timeout(BOUND):
        async for event in events:
            seen.append(event)
            if wanted(event):
                break
    return seen


async def turn(session: Session, ref: str, text: str, options: ThreadOptions) -> list[ProviderEvent]:
    """All events of a turn."""
    return await until(session.run_turn(ref, words(text), options), lambda event: False)


async def asked(events: AsyncIterator[ProviderEvent]) -> tuple[RequestAsked, list[ProviderEvent]]:
    """The next request, and the events before it."""
    *before, request = await until(events, lambda event: isinstance(event, RequestAsked))
    assert isinstance(request, RequestAsked)
    return request, before


def of(kind: type[E], events: list[ProviderEvent]) -> list[E]:
    """The events of a kind."""
    return [event for event in events if isinstance(event, kind)]


def said(events: list[ProviderEvent]) -> str:
    """All text that was streamed."""
    return "".join(event.text for event in of(OutputAppended, events))


def written(events: Iterable[ProviderEvent]) -> dict[str, str]:
    """The text that was appended to each item, by its ref."""
    texts: dict[str, str] = {}
    for event in events:
        if isinstance(event, OutputAppended):
            texts[event.ref] = texts.get(event.ref, "") + event.text
    return texts


def ended(events: list[ProviderEvent]) -> TurnEnded:
    """The end of a turn, which must be its last event and its only end."""
    assert isinstance(events[-1], TurnEnded)
    assert len(of(TurnEnded, events)) == 1
    return events[-1]


def last_of_each(events: list[ProviderEvent]) -> dict[str, ItemChanged]:
    """What was last said of each item."""
    return {event.ref: event for event in of(ItemChanged, events)}
