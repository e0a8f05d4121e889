import asyncio
import os

import pytest

from midstream.protocol.methods.table import NOTIFICATIONS
from midstream.server.wire.framing import encode
from midstream.server.wire.parent import process_ended
from support.echo_service import Echo
from support.wire_peer import LocalPeer, connected
from support.wire_records import a_change


async def test_initialize_tells_exactly_what_this_build_answers(echo: Echo, stranger: LocalPeer) -> None:
    result = (await stranger.open(config={"handof": {}}))["result"]

    assert result["serverInfo"] == {"name": "midstream", "version": "1.2.3"}
    assert result["capabilities"] == {
        "textDocumentSync": 0,
        "experimental": {
            "midstream": {
                "protocolVersion": 1,
                "methods": sorted(echo.service.handlers),
                "notifications": sorted(NOTIFICATIONS),
                "configProblems": [{"key": "handoff", "message": "No such thing."}],
            }
        },
    }


async def test_initialize_hands_on_the_clients_options_and_name(echo: Echo, stranger: LocalPeer) -> None:
    options = {"dataDir": "here", "config": {"a": 1}, "native": True, "later": "unknown"}
    await stranger.call("initialize", {"initializationOptions": options, "clientInfo": {"name": "vim"}})

    assert (echo.options[0].data_dir, echo.options[0].config) == ("here", {"a": 1})
    assert [(client.name, client.native) for client in echo.service.hub] == [("vim", True)]


@pytest.mark.parametrize(
    "params",
    [[], {}, {"capabilities": [], "initializationOptions": []}, {"processId": None, "initializationOptions": None}],
)
async def test_initialize_takes_lua_tables_and_nulls(stranger: LocalPeer, params: object) -> None:
    assert "result" in await stranger.call("initialize", params)


async def test_a_client_may_have_capabilities_that_nobody_has_heard_of(stranger: LocalPeer) -> None:
    capabilities = {"textDocument": {"codeAction": "yes"}, "general": {"positionEncodings": ["utf-64"]}}

    assert "result" in await stranger.call("initialize", {"capabilities": capabilities})


async def test_options_of_a_wrong_type_are_refused_by_field_and_a_second_try_may_follow(stranger: LocalPeer) -> None:
    refused = await stranger.open(dataDir=5)

    assert refused["error"]["code"] == -32602
    assert refused["error"]["data"] == {"path": "initializationOptions.dataDir"}
    assert "result" in await stranger.open()


async def test_a_daemon_that_cannot_open_its_store_says_why_and_is_not_initialized(
    echo: Echo, stranger: LocalPeer
) -> None:
    refused = await stranger.open(dataDir="locked")

    assert refused["error"]["code"] == 4010
    assert refused["error"]["data"] == {"kind": "storeLocked", "dataDir": "locked"}
    assert (await stranger.call("thread/list"))["error"]["code"] == -32002
    assert len(echo.service.hub) == 0


@pytest.mark.parametrize("method", ["thread/list", "shutdown", "no/such"])
async def test_a_request_before_initialize_is_refused(stranger: LocalPeer, method: str) -> None:
    assert (await stranger.call(method))["error"]["code"] == -32002


async def test_a_request_right_behind_initialize_waits_its_turn(stranger: LocalPeer) -> None:
    opening = {"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {}}
    listing = {"jsonrpc": "2.0", "id": "l", "method": "thread/list"}
    await stranger.send_bytes(encode(opening) + encode(listing))

    assert "result" in await stranger.answer("l")
    assert "result" in stranger.told[0]


async def test_a_second_initialize_is_refused(client: LocalPeer) -> None:
    assert (await client.open())["error"]["code"] == -32600


async def test_shutdown_refuses_what_follows_it_even_in_the_same_breath(client: LocalPeer) -> None:
    shutdown = {"jsonrpc": "2.0", "id": "s", "method": "shutdown"}
    listing = {"jsonrpc": "2.0", "id": "l", "method": "thread/list"}
    await client.send_bytes(encode(shutdown) + encode(listing))

    assert (await client.answer("l"))["error"]["code"] == -32600
    assert (await client.answer("s"))["result"] is None


async def test_shutdown_answers_what_is_still_in_flight(client: LocalPeer) -> None:
    waiting = await client.ask("run/wait", {"runId": "run_1"})
    await client.ask("shutdown")

    assert (await client.answer(waiting))["error"]["code"] == -32800


@pytest.mark.parametrize(("goodbye", "status"), [(["shutdown"], 0), ([], 1)])
async def test_exit_gives_a_status_that_says_whether_it_was_orderly(
    client: LocalPeer, goodbye: list[str], status: int
) -> None:
    for method in goodbye:
        assert (await client.call(method, []))["result"] is None
    await client.notify("exit")

    assert await client.status() == status


async def test_exit_is_heeded_before_initialize(stranger: LocalPeer) -> None:
    await stranger.notify("exit")

    assert await stranger.status() == 1


async def test_a_client_that_closes_its_input_is_let_go_once(echo: Echo, client: LocalPeer) -> None:
    waiting = await client.ask("run/wait", {"runId": "run_1"})
    await client.hang_up()

    assert (await client.answer(waiting))["error"]["code"] == -32800
    assert await client.status() == 0
    assert len(echo.closed) == 1
    assert len(echo.service.hub) == 0


async def test_a_client_that_closes_its_input_still_reads_what_it_asked_for(echo: Echo, client: LocalPeer) -> None:
    waiting = await client.ask("run/wait", {"runId": "run_1"})
    await client.hang_up()
    async with connected(echo.service) as other:
        await other.open()  # by now the end of the input has been seen
        echo.commit.set()

        assert (await client.answer(waiting))["result"] is None


async def test_a_client_that_was_never_initialized_is_not_closed(echo: Echo, stranger: LocalPeer) -> None:
    await stranger.hang_up()

    assert await stranger.status() == 0
    assert echo.closed == []


async def test_a_client_whose_process_ends_is_let_go(stranger: LocalPeer) -> None:
    process = await asyncio.create_subprocess_exec("cat", stdin=asyncio.subprocess.PIPE)
    await stranger.call("initialize", {"processId": process.pid})
    await stranger.call("thread/list")
    process.kill()

    assert await stranger.status() == 0
    await process.communicate()


@pytest.mark.parametrize("pid", [0, -1, 2**31 - 1, 2**40])
async def test_a_client_whose_process_is_not_there_is_let_go(stranger: LocalPeer, pid: int) -> None:
    await stranger.ask("initialize", {"processId": pid})

    assert await stranger.status() == 0


async def test_a_process_that_ended_is_noticed_where_the_kernel_has_no_pidfds(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int) -> int:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(os, "pidfd_open", refuse)
    process = await asyncio.create_subprocess_exec("true")
    await process.wait()

    await asyncio.wait_for(process_ended(process.pid), 5)


async def test_a_client_whose_process_lives_is_kept(stranger: LocalPeer) -> None:
    await stranger.call("initialize", {"processId": os.getpid()})

    assert "result" in await stranger.call("thread/list")


async def test_a_header_that_loses_the_place_is_answered_and_ends_the_connection(client: LocalPeer) -> None:
    await client.send_bytes(b"Content-Length: soon\r\n\r\n" + encode({"jsonrpc": "2.0", "id": 9, "method": "x"}))

    assert [message["error"]["code"] for message in await client.rest()] == [-32700]
    assert await client.status() == 0


@pytest.mark.parametrize("params", [None, [], {"settings": None}, {"settings": {"other": 1}}])
async def test_settings_that_do_not_concern_the_daemon_are_left_alone(
    echo: Echo, client: LocalPeer, params: object
) -> None:
    await client.notify("workspace/didChangeConfiguration", params)
    await client.call("thread/list")

    assert echo.settings == []


async def test_settings_of_a_wrong_type_are_shown_to_the_user(client: LocalPeer) -> None:
    await client.notify("workspace/didChangeConfiguration", {"settings": 5})

    assert "settings" in (await client.until("window/showMessage"))["params"]["message"]


@pytest.mark.parametrize("method", ["initialized", "$/setTrace", "textDocument/didOpen", "shutdown", "no/such"])
async def test_notifications_that_say_nothing_to_the_daemon_are_left_alone(client: LocalPeer, method: str) -> None:
    await client.notify(method, {"value": 1})
    await client.call("thread/list")

    assert client.told == []


async def test_what_goes_to_all_reaches_only_initialized_clients(echo: Echo, client: LocalPeer) -> None:
    async with connected(echo.service) as stranger:
        await stranger.call("thread/list")
        echo.service.hub.to_all(a_change("new"))

        assert (await client.until("thread/changed"))["params"]["thread"]["title"] == "new"
        await stranger.call("thread/list")
        assert stranger.told == []
