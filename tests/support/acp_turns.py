"""Driving ACP agents in tests: the scripted bad agent as a driver, and turns as lists of events."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from attrs import frozen

from midstream.protocol.records.config import ProviderConfig
from midstream.protocol.records.thread import RuntimeMode
from midstream.server.providers.acp.driver import AcpDriver
from midstream.server.providers.acp.session import AcpSession
from midstream.server.providers.adapter import ThreadOptions, TurnInput
from midstream.server.providers.events import ItemChanged, OutputAppended, ProviderEvent, RequestAsked, TurnEnded
from midstream.server.providers.requests import Patience

BOUND = 15.0
BRIEF = Patience(grace=0.05)
AGENT = Path(__file__).with_name("bad_agent.py")
E = TypeVar("E")


def chunk(text: str, **more: object) -> dict[str, object]:
    """A message chunk, as an update of a script or as params of ``session/update``."""
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}, **more}


def written(events: Iterable[ProviderEvent]) -> dict[str, str]:
    """The text that was appended to each item, by its ref."""
    texts: dict[str, str] = {}
    for event in events:
        if isinstance(event, OutputAppended):
            texts[event.ref] = texts.get(event.ref, "") + event.text
    return texts


def options_in(workspace: Path, mode: RuntimeMode = "approvalRequired", **more: Any) -> ThreadOptions:
    """Options that ask for nothing but a mode."""
    return ThreadOptions(workspace=workspace, model=more.pop("model", None), options=None, runtime_mode=mode, **more)


def words(text: str) -> TurnInput:
    """A turn of the user's words alone."""
    return TurnInput(context=(), attachments=(), text=text)


@frozen
class BadAgent:
    """A bad agent that is to be started, and the log of what it received."""

    driver: AcpDriver
    log: Path

    def received(self, method: str) -> list[dict[str, Any]]:
        """The params of every message of a method that the agent received."""
        return [line.get("params", {}) for line in self.lines() if line.get("method") == method]

    def answers(self) -> list[dict[str, Any]]:
        """Every answer that the agent received."""
        return [line for line in self.lines() if "method" not in line]

    def methods(self) -> list[str]:
        """The methods that the agent received, in order."""
        return [line["method"] for line in self.lines() if "method" in line]

    def lines(self) -> list[dict[str, Any]]:
        """Every message that the agent received, in order."""
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []


def bad_agent(folder: Path, patience: Patience = BRIEF, **script: object) -> BadAgent:
    """A bad agent; methods of the script are named with ``_`` for ``/``: ``session_prompt``."""
    file, log = folder / "script.json", folder / "received.jsonl"
    named = {name.replace("session_", "session/", 1): steps for name, steps in script.items()}
    file.write_text(json.dumps(named))
    command = (sys.executable, "-S", str(AGENT), str(file), str(log))
    return BadAgent(AcpDriver("bad", ProviderConfig(driver="acp", command=command), patience), log)


@asynccontextmanager
async def opened(driver: AcpDriver, workspace: Path) -> AsyncIterator[AcpSession]:
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


async def turn(session: AcpSession, ref: str, text: str, options: ThreadOptions) -> list[ProviderEvent]:
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


def ended(events: list[ProviderEvent]) -> TurnEnded:
    """The end of a turn, which must be its last event and its only end."""
    assert isinstance(events[-1], TurnEnded)
    assert len(of(TurnEnded, events)) == 1
    return events[-1]


def last_of_each(events: list[ProviderEvent]) -> dict[str, ItemChanged]:
    """What was last said of each item."""
    return {event.ref: event for event in of(ItemChanged, events)}
