"""Params of the wrong shape, at any depth: -32602 with the path of the field, and nothing done."""

from pathlib import Path
from typing import Any

from midstream.protocol.methods.table import METHODS
from support.raw import RawClient

THREAD = {"threadId": "thr_any"}
MESSAGE = {**THREAD, "message": {"text": "hello"}}
SELECTION = {"provider": "rehearsal", "model": None}
RANGE = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": "two"}}

WRONG: list[tuple[str, Any, str]] = [
    ("thread/read", {}, "threadId"),
    ("thread/read", None, "threadId"),
    ("thread/read", [], "threadId"),
    ("thread/read", "thr_any", ""),
    ("thread/read", [1], ""),
    ("thread/read", {"threadId": 5}, "threadId"),
    ("thread/read", {"threadId": None}, "threadId"),
    ("thread/create", {"workspace": ["file:///"]}, "workspace"),
    ("thread/create", {"workspace": "file:///", "title": 5}, "title"),
    ("thread/create", {"workspace": "file:///", "runtimeMode": "yolo"}, "runtimeMode"),
    ("thread/create", {"workspace": "file:///", "selection": "rehearsal"}, "selection"),
    ("thread/create", {"workspace": "file:///", "selection": {"model": None}}, "selection.provider"),
    ("thread/create", {"workspace": "file:///", "selection": {**SELECTION, "options": 1}}, "selection.options"),
    ("thread/create", {"workspace": "file:///", "commandId": 7}, "commandId"),
    ("thread/list", {"archived": "yes"}, "archived"),
    ("thread/list", {"limit": 2.5}, "limit"),
    ("thread/list", {"limit": True}, "limit"),
    ("thread/list", {"limit": 501}, "limit"),
    ("thread/list", {"limit": 0}, "limit"),
    ("thread/list", {"limit": -1}, "limit"),
    ("thread/list", {"workDoneToken": {}}, "workDoneToken"),
    ("thread/subscribe", {**THREAD, "afterSequence": "1"}, "afterSequence"),
    ("thread/items", {**THREAD, "limit": 0}, "limit"),
    ("thread/items", {**THREAD, "limit": 501}, "limit"),
    ("thread/items", {**THREAD, "last": False}, "last"),
    ("thread/items", {**THREAD, "afterItemId": "itm_a", "last": True}, "afterItemId"),
    ("item/output", {"itemId": "itm_any"}, "field"),
    ("item/output", {"itemId": "itm_any", "field": "text", "offset": -1}, "offset"),
    ("item/output", {"itemId": "itm_any", "field": "text", "limit": 0}, "limit"),
    ("item/output", {"itemId": "itm_any", "field": "text", "limit": 1_048_577}, "limit"),
    ("run/start", THREAD, "message"),
    ("run/start", {**THREAD, "message": {}}, "message.text"),
    ("run/start", {**THREAD, "message": {"text": None}}, "message.text"),
    ("run/start", {**THREAD, "message": {"text": "a", "attachments": {"a": 1}}}, "message.attachments"),
    ("run/start", {**THREAD, "message": {"text": "a", "attachments": [{}]}}, "message.attachments[0].type"),
    (
        "run/start",
        {**THREAD, "message": {"text": "a", "attachments": [{"type": "file", "uri": "file:///a"}, {"type": "file"}]}},
        "message.attachments[1].uri",
    ),
    (
        "run/start",
        {
            **THREAD,
            "message": {"text": "a", "attachments": [{"type": "file", "uri": "file:///a", "range": RANGE}]},
        },
        "message.attachments[0].range.end.character",
    ),
    (
        "run/start",
        {**THREAD, "message": {"text": "a", "attachments": [{"type": "image", "mimeType": "image/png"}]}},
        "message.attachments[0]",
    ),
    ("run/start", {**MESSAGE, "delivery": "pigeon"}, "delivery"),
    ("run/start", {**MESSAGE, "context": "dirty"}, "context"),
    ("run/start", {**MESSAGE, "handoffIds": "hof_a"}, "handoffIds"),
    ("run/start", {**MESSAGE, "handoffIds": ["hof_a", 2]}, "handoffIds[1]"),
    ("run/start", {**MESSAGE, "allowStaleHandoff": 1}, "allowStaleHandoff"),
    ("run/reorder", {"runId": "run_any"}, "beforeRunId"),
    ("run/edit", {"runId": "run_any", "text": ["a"]}, "text"),
    ("provider/switch", {**THREAD, "selection": None}, "selection"),
    ("handoff/preview", {**THREAD, "strategy": "telepathy"}, "strategy"),
    ("handoff/preview", {**THREAD, "budgetTokens": "many"}, "budgetTokens"),
    ("checkpoint/diff", {**THREAD, "to": "workspace"}, "from"),
    ("request/respond", {"requestId": "req_any", "decision": "maybe"}, "decision"),
    ("request/respond", {"requestId": "req_any", "answers": [{"questionId": "a"}]}, "answers[0].values"),
    (
        "request/respond",
        {"requestId": "req_any", "answers": [{"questionId": "a", "values": ["b", 3]}]},
        "answers[0].values[1]",
    ),
]


async def test_each_wrong_value_is_named_by_its_path(raw: RawClient) -> None:
    told = []
    for method, params, _ in WRONG:
        error = await raw.error(method, params)
        told.append((method, params, error["code"], error.get("data", {}).get("path"), error["message"]))
    assert [(method, params, code, path) for method, params, code, path, _ in told] == [
        (method, params, -32602, path) for method, params, path in WRONG
    ]
    assert all(path in message for *_, path, message in told)
    assert (await raw.result("thread/list"))["threads"] == []


async def test_every_answered_method_refuses_params_that_are_no_object(unopened: RawClient) -> None:
    result = await unopened.initialize()
    for method in result["capabilities"]["experimental"]["midstream"]["methods"]:
        for params in (5, "text", [1, 2], True):
            error = await unopened.error(method, params)
            assert (error["code"], error["data"]["path"]) == (-32602, ""), (method, params)


async def test_unknown_fields_are_no_reason_to_refuse(raw: RawClient, workspace: Path) -> None:
    params = {"workspace": workspace.as_uri(), "fromTheFuture": {"deep": [1]}, "workDoneToken": "token"}
    assert (await raw.result("thread/create", params))["thread"]["workspace"] == workspace.as_uri()


async def test_an_empty_array_stands_for_an_empty_object(raw: RawClient, workspace: Path) -> None:
    assert (await raw.result("thread/list", []))["threads"] == []
    selection = {"provider": "rehearsal", "model": None, "options": []}
    created = await raw.result("thread/create", {"workspace": workspace.as_uri(), "selection": selection})
    assert created["thread"]["selection"]["options"] == {}


async def test_params_may_be_absent_where_all_are_optional(raw: RawClient) -> None:
    for method in ("thread/list", "request/list"):
        await raw.send({"jsonrpc": "2.0", "id": method, "method": method})
        assert "result" in await raw.answer_to(method)
        assert method in METHODS
