"""Clients that only speak LSP: every request as a command, and approvals as messages with buttons."""

from pathlib import Path
from typing import Any

import pytest

from support.raw import RawClient


@pytest.fixture
async def plain(unopened: RawClient) -> RawClient:
    """A client on a fresh daemon that does not call itself native."""
    await unopened.initialize(native=False)
    return unopened


async def execute(client: RawClient, command: str, *arguments: Any) -> Any:
    """Run a command and return its result."""
    params = {"command": f"midstream.rpc.{command}", "arguments": list(arguments)}
    return await client.result("workspace/executeCommand", params)


async def ask_for_approval(client: RawClient, workspace: Path) -> tuple[str, dict[str, Any]]:
    """Start a run that asks for permission; return its id and the message that was shown."""
    thread = await client.new_thread(workspace)
    run = await client.begin(thread, "run touch made.txt")
    return run, await client.until("window/showMessageRequest")


async def answer(client: RawClient, shown: dict[str, Any], result: Any) -> None:
    """Answer a message that was shown."""
    await client.send({"jsonrpc": "2.0", "id": shown["id"], "result": result})


async def test_commands_are_listed_only_for_who_needs_them(unopened: RawClient) -> None:
    result = await unopened.initialize(native=False)
    capabilities = result["capabilities"]
    methods = capabilities["experimental"]["midstream"]["methods"]
    commands = capabilities["executeCommandProvider"]["commands"]
    assert commands == [f"midstream.rpc.{method.replace('/', '.')}" for method in methods]
    assert "midstream.rpc.run.start" in commands


async def test_without_options_a_client_is_a_plain_one(unopened: RawClient) -> None:
    result = await unopened.result("initialize", {"capabilities": {}, "processId": None})
    assert result["capabilities"]["executeCommandProvider"]["commands"]


async def test_a_command_does_what_its_request_does(plain: RawClient, workspace: Path) -> None:
    created = await execute(plain, "thread.create", {"workspace": workspace.as_uri(), "title": "By command"})
    thread = created["thread"]
    assert (thread["title"], thread["workspace"]) == ("By command", workspace.as_uri())
    assert await execute(plain, "thread.list") == {"threads": [thread], "nextCursor": None}
    assert await plain.result("workspace/executeCommand", {"command": "midstream.rpc.thread.list"}) == {
        "threads": [thread],
        "nextCursor": None,
    }
    run = (await execute(plain, "run.start", {"threadId": thread["id"], "message": {"text": "say: hello"}}))["run"]
    ended = (await execute(plain, "run.wait", {"runId": run["id"]}))["run"]
    assert ended["status"] == "completed"


async def test_a_command_is_refused_as_its_request_is(plain: RawClient) -> None:
    for params, code, data in (
        ({"command": "midstream.rpc.thread.read", "arguments": [{"threadId": "thr_none"}]}, 4001, "threadNotFound"),
        ({"command": "midstream.rpc.thread.read", "arguments": [{"threadId": 1}]}, -32602, "threadId"),
        ({"command": "midstream.rpc.thread.read", "arguments": [{}, {}]}, -32602, "arguments"),
        ({"command": "midstream.rpc.thread.read", "arguments": {}}, -32602, "arguments"),
        ({"command": "midstream.rpc.no.such"}, -32602, "command"),
        ({"command": "thread/list"}, -32602, "command"),
        ({"arguments": []}, -32602, "command"),
        ({"command": "midstream.rpc.session.scan"}, -32601, None),
    ):
        error = await plain.error("workspace/executeCommand", params)
        told = error.get("data") or {}
        assert (error["code"], told.get("kind", told.get("path"))) == (code, data), params


async def test_an_approval_is_shown_and_the_chosen_button_answers_it(plain: RawClient, workspace: Path) -> None:
    run, shown = await ask_for_approval(plain, workspace)
    (request,) = (await plain.result("request/list"))["requests"]
    assert shown["params"]["message"] == request["prompt"]
    labels = [action["title"] for action in shown["params"]["actions"]]
    assert labels == [option["label"] for option in request["options"]]
    accept = next(option for option in request["options"] if option["decision"] == "accept")
    await answer(plain, shown, {"title": accept["label"]})
    closed = (await plain.until("request/closed"))["params"]["request"]
    assert (closed["id"], closed["status"], closed["decision"]) == (request["id"], "resolved", "accept")
    assert (await plain.result("run/wait", {"runId": run}))["run"]["status"] == "completed"
    assert (workspace / "made.txt").exists()


async def test_a_message_closed_without_a_choice_leaves_the_request_pending(plain: RawClient, workspace: Path) -> None:
    run, shown = await ask_for_approval(plain, workspace)
    await answer(plain, shown, None)
    (request,) = (await plain.result("request/list"))["requests"]
    assert request["status"] == "pending"
    await plain.result("request/respond", {"requestId": request["id"], "decision": "decline"})
    assert (await plain.result("run/wait", {"runId": run}))["run"]["status"] == "completed"
    assert not (workspace / "made.txt").exists()


@pytest.mark.parametrize(
    "reply",
    [
        {"error": {"code": -32601, "message": "No messages here."}},
        {"error": "broken"},
        {"result": {"title": "A button that was not there"}},
        {"result": 5},
    ],
    ids=["error", "broken error", "other button", "no button"],
)
async def test_a_client_that_cannot_show_messages_leaves_the_request_pending(
    plain: RawClient, workspace: Path, reply: dict[str, Any]
) -> None:
    run, shown = await ask_for_approval(plain, workspace)
    await plain.send({"jsonrpc": "2.0", "id": shown["id"], **reply})
    (request,) = (await plain.result("request/list"))["requests"]
    assert request["status"] == "pending"
    await plain.result("request/respond", {"requestId": request["id"], "decision": "accept"})
    assert (await plain.result("run/wait", {"runId": run}))["run"]["status"] == "completed"


async def test_a_message_is_taken_back_once_the_request_is_answered_otherwise(
    plain: RawClient, workspace: Path
) -> None:
    run, shown = await ask_for_approval(plain, workspace)
    (request,) = (await plain.result("request/list"))["requests"]
    await plain.result("request/respond", {"requestId": request["id"], "decision": "decline"})
    assert (await plain.until("$/cancelRequest"))["params"] == {"id": shown["id"]}
    await answer(plain, shown, {"title": "Allow"})
    assert (await plain.result("run/wait", {"runId": run}))["run"]["status"] == "completed"
    assert not (workspace / "made.txt").exists()


async def test_a_native_client_is_shown_no_message(raw: RawClient, workspace: Path) -> None:
    thread = await raw.new_thread(workspace)
    run = await raw.begin(thread, "run true")
    request = (await raw.until("request/opened"))["params"]["request"]
    await raw.result("request/respond", {"requestId": request["id"], "decision": "accept"})
    await raw.result("run/wait", {"runId": run})
    assert not [message for message in raw.heard if message.get("method", "").startswith("window/")]
