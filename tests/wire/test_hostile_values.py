"""Every request of this build with values that break things elsewhere: answered or refused, no failure inside."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from midstream.protocol.methods.table import METHODS
from support.classes import sample
from support.raw import RawClient, request

VALUES: Final[tuple[object, ...]] = (
    *("", "\0", "a\nb", "../..", "--help", "%s%n{}", "' OR 1=1 --", "🌊" * 5, "x" * 100_000, "file://[x", "http://[x"),
    *(-1, 0, 2**53, -(2**53), 2**63, 1e308, True, None, [], {}, [[]], {"type": "../.."}),
)
PENDING: Final = {"run/wait"}
"""May be answered much later, or never."""
LEFT_OUT: Final = {
    *("commandId", "workDoneToken", "strategy", "summarizer", "context", "attachments", "delivery", "decision"),
    *("afterItemId", "beforeItemId", "aroundItemId", "last", "cursor"),
}
"""Fields that would make every request with them an odd one."""


def ways(value: object, way: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the way to each value inside params."""
    if way:
        yield way
    match value:
        case dict():
            for key, inner in value.items():
                yield from ways(inner, (*way, key))
        case list():
            for place, inner in enumerate(value):
                yield from ways(inner, (*way, place))
        case _:
            pass


def altered(value: Any, way: tuple[str | int, ...], new: object) -> Any:
    """Return params with a value in the place of theirs."""
    if not way:
        return new
    copy = value.copy()
    copy[way[0]] = altered(value[way[0]], way[1:], new)
    return copy


def real(value: Any, ids: dict[str, Any]) -> Any:
    """Return params in which known ids and plain names stand for the sample's, and what is odd anyway is left out."""
    match value:
        case dict():
            return {key: ids.get(key, real(inner, ids)) for key, inner in value.items() if key not in LEFT_OUT}
        case list():
            return [real(inner, ids) for inner in value]
        case _:
            return value


async def test_no_value_of_any_field_is_a_failure_inside(unopened: RawClient, workspace: Path) -> None:
    raw = unopened
    methods = (await raw.initialize())["capabilities"]["experimental"]["midstream"]["methods"]
    thread_id = await raw.new_thread(workspace, mode="fullAccess")
    run_id = await raw.begin(thread_id, "write a.txt: a")
    run = (await raw.result("run/wait", {"runId": run_id}))["run"]
    items = (await raw.result("thread/items", {"threadId": thread_id}))["items"]
    ids = {
        "threadId": thread_id,
        "runId": run_id,
        "beforeRunId": None,
        "itemId": items[0]["id"],
        "field": "text",
        "checkpointId": run["checkpointId"],
        "from": run["checkpointId"],
        "to": "workspace",
        "context": 3,
        "workspace": workspace.as_uri(),
        "provider": "rehearsal",
        "model": None,
        "handoffIds": [],
        "limit": 5,
        "selection": {"provider": "rehearsal", "model": None, "options": {}},
        "offset": 0,
        "path": "a.txt",
    }
    asked = {
        (name := f"{method} {way} {place}"): request(name, method, altered(params, way, value))
        for method in sorted(set(methods) - PENDING)
        for params in [real(sample(METHODS[method].params), ids)]
        for way in ways(params)
        for place, value in enumerate(VALUES)
    }
    assert len(asked) > 1000
    sending = asyncio.create_task(_send(raw, list(asked.values())))
    wrong, waiting = [], set(asked)
    while waiting:
        message = await raw.next()
        if "method" in message:
            continue
        waiting.discard(message["id"])
        if message.get("error", {}).get("code") in (-32603, -32700):
            wrong.append((message["id"], message["error"]))
    await sending
    assert wrong == []


async def _send(raw: RawClient, messages: list[Any]) -> None:
    for message in messages:
        await raw.send(message)
