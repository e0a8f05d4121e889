"""Clients that only speak LSP: every request as a command."""

import pytest

from support.echo_service import Echo
from support.wire_peer import LocalPeer


@pytest.fixture
async def plain(stranger: LocalPeer) -> LocalPeer:
    """An initialized client that is not native."""
    await stranger.open(native=False)
    return stranger


def command(name: str, *arguments: object) -> dict[str, object]:
    return {"command": name, "arguments": list(arguments)}


async def test_a_plain_client_is_told_the_command_of_every_method(echo: Echo, stranger: LocalPeer) -> None:
    capabilities = (await stranger.open(native=False))["result"]["capabilities"]

    assert capabilities["executeCommandProvider"]["commands"] == [
        "midstream.rpc." + method.replace("/", ".") for method in sorted(echo.service.handlers)
    ]
    assert "midstream.rpc.thread.list" in capabilities["executeCommandProvider"]["commands"]


async def test_a_command_gives_what_its_request_gives(plain: LocalPeer) -> None:
    params = {"query": "q"}
    direct = await plain.call("thread/list", params)
    commanded = await plain.call("workspace/executeCommand", command("midstream.rpc.thread.list", params))

    assert commanded["result"] == direct["result"] == {"threads": [], "nextCursor": "q"}


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("thread/search", {"query": "not found"}),
        ("thread/search", {"query": "crash"}),
        ("thread/list", {"query": 7}),
        ("thread/create", {}),
    ],
)
async def test_a_command_fails_as_its_request_fails(plain: LocalPeer, method: str, params: object) -> None:
    direct = await plain.call(method, params)
    name = "midstream.rpc." + method.replace("/", ".")
    commanded = await plain.call("workspace/executeCommand", command(name, params))

    assert commanded["error"]["code"] == direct["error"]["code"]
    assert commanded["error"].get("data") == direct["error"].get("data")


@pytest.mark.parametrize("arguments", [{}, {"arguments": None}, {"arguments": []}, {"arguments": [[]]}])
async def test_a_command_may_come_without_params_where_all_are_optional(
    plain: LocalPeer, arguments: dict[str, object]
) -> None:
    answer = await plain.call("workspace/executeCommand", {"command": "midstream.rpc.thread.list", **arguments})

    assert "result" in answer


@pytest.mark.parametrize(
    ("params", "path"),
    [
        (command("midstream.rpc.no.such"), "command"),
        (command("editor.action.format"), "command"),
        (command("midstream.rpc.thread.list", {}, {}), "arguments"),
        ({"command": "midstream.rpc.thread.list", "arguments": {}}, "arguments"),
        (None, "command"),
    ],
)
async def test_what_is_no_command_of_the_daemon_is_refused_by_field(
    plain: LocalPeer, params: object, path: str
) -> None:
    error = (await plain.call("workspace/executeCommand", params))["error"]

    assert (error["code"], error["data"]["path"]) == (-32602, path)


async def test_a_command_is_cancelled_like_its_request(plain: LocalPeer) -> None:
    waiting = await plain.ask("workspace/executeCommand", command("midstream.rpc.run.wait", {"runId": "run_1"}))
    await plain.notify("$/cancelRequest", {"id": waiting})

    assert (await plain.answer(waiting))["error"]["code"] == -32800
