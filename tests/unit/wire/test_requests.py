"""Every request gets exactly one answer."""

from typing import Any

import pytest

from midstream.server.wire.framing import encode
from support.echo_service import Echo
from support.wire_peer import LocalPeer


async def one_error(client: LocalPeer, msg_id: int | str | None) -> dict[str, Any]:
    """Return the error of an answer, once it is sure that no second one follows."""
    error: dict[str, Any] = (await client.answer(msg_id))["error"]
    await client.call("thread/list")
    assert [message for message in client.told if message.get("id") == msg_id] == []
    return error


async def test_a_result_comes_back_under_the_requests_id_of_either_type(client: LocalPeer) -> None:
    for msg_id in (7, "seven"):
        await client.send({"jsonrpc": "2.0", "id": msg_id, "method": "thread/list", "params": {"query": "q"}})

        assert await client.answer(msg_id) == {
            "jsonrpc": "2.0",
            "id": msg_id,
            "result": {"threads": [], "nextCursor": "q"},
        }


@pytest.mark.parametrize("params", [{}, [], None])
async def test_params_may_be_empty_in_any_way_where_all_are_optional(client: LocalPeer, params: object) -> None:
    assert (await client.call("thread/list", params))["result"]["nextCursor"] is None


async def test_params_may_be_absent_where_all_are_optional(client: LocalPeer) -> None:
    await client.send({"jsonrpc": "2.0", "id": "a", "method": "thread/list"})

    assert "result" in await client.answer("a")


@pytest.mark.parametrize(
    ("params", "path"),
    [(None, "threadId"), ([], "threadId"), ([1], ""), ("text", ""), ({"threadId": None}, "threadId")],
)
async def test_params_that_do_not_fit_are_refused_by_field(client: LocalPeer, params: object, path: str) -> None:
    error = await one_error(client, await client.ask("thread/subscribe", params))

    assert (error["code"], error["data"]["path"]) == (-32602, path)
    assert path in error["message"]


@pytest.mark.parametrize("method", ["thread/create", "no/such", "exit", "textDocument/hover", "$/setTrace"])
async def test_a_method_that_this_build_does_not_answer_is_unknown(client: LocalPeer, method: str) -> None:
    error = await one_error(client, await client.ask(method, {}))

    assert error["code"] == -32601
    assert method in error["message"]


async def test_an_error_of_midstream_keeps_its_code_its_words_and_its_data(client: LocalPeer) -> None:
    error = await one_error(client, await client.ask("thread/search", {"query": "not found"}))

    assert error == {
        "code": 4001,
        "message": "There is no run run_9.",
        "data": {"kind": "runNotFound", "runId": "run_9"},
    }


async def test_a_result_that_is_no_json_is_a_failure_of_the_daemon(client: LocalPeer) -> None:
    error = await one_error(client, await client.ask("thread/search", {"query": "not JSON"}))

    assert error["code"] == -32603


@pytest.mark.parametrize(
    ("message", "msg_id"),
    [
        ([{"jsonrpc": "2.0", "id": 1, "method": "thread/list"}], None),
        ([], None),
        (7, None),
        ({"jsonrpc": "2.0", "id": None, "method": "thread/list"}, None),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "thread/list"}, None),
        ({"jsonrpc": "2.0", "id": [1], "method": "thread/list"}, None),
        ({"jsonrpc": "1.0", "id": "x", "method": "thread/list"}, "x"),
        ({"id": "x", "method": "thread/list"}, "x"),
        ({"jsonrpc": "2.0", "id": "x", "method": 5}, "x"),
        ({"jsonrpc": "2.0", "id": "x"}, "x"),
    ],
)
async def test_what_is_no_request_is_answered_as_invalid(client: LocalPeer, message: object, msg_id: object) -> None:
    await client.send(message)

    assert (await one_error(client, msg_id))["code"] == -32600  # type: ignore[arg-type]


async def test_an_empty_body_is_a_parse_error_and_the_next_frame_is_read(client: LocalPeer) -> None:
    await client.send_bytes(b"Content-Length: 0\r\n\r\n")

    assert (await one_error(client, None))["code"] == -32700


async def test_an_answer_to_nothing_that_was_asked_is_left_alone(client: LocalPeer) -> None:
    for msg_id in ("x", 1, None, [1]):
        await client.send({"jsonrpc": "2.0", "id": msg_id, "result": 1})
        await client.send({"jsonrpc": "2.0", "id": msg_id, "error": {"code": 1, "message": "no"}})
    await client.call("thread/list")

    assert client.told == []


async def test_an_id_that_is_still_in_flight_is_refused(client: LocalPeer) -> None:
    waiting = await client.ask("run/wait", {"runId": "run_1"})
    await client.send({"jsonrpc": "2.0", "id": waiting, "method": "thread/list"})

    assert (await client.answer(waiting))["error"]["code"] == -32600

    await client.notify("$/cancelRequest", {"id": waiting})
    assert (await one_error(client, waiting))["code"] == -32800


async def test_a_request_that_waits_is_cancelled_with_one_answer(client: LocalPeer) -> None:
    waiting = await client.ask("run/wait", {"runId": "run_1"})
    await client.call("thread/list")
    await client.notify("$/cancelRequest", {"id": waiting})
    await client.notify("$/cancelRequest", {"id": waiting})

    assert (await one_error(client, waiting))["code"] == -32800


async def test_a_request_cancelled_in_the_same_breath_is_answered(client: LocalPeer) -> None:
    request = {"jsonrpc": "2.0", "id": "w", "method": "run/wait", "params": {"runId": "run_1"}}
    cancel = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "w"}}
    await client.send_bytes(encode(request) + encode(cancel))

    assert (await one_error(client, "w"))["code"] == -32800


async def test_a_request_that_has_committed_answers_its_success_though_cancelled(echo: Echo, client: LocalPeer) -> None:
    archiving = await client.ask("thread/archive", {"threadId": "thr_5"})
    await client.call("thread/list")
    await client.notify("$/cancelRequest", {"id": archiving})
    await client.call("thread/list")
    echo.commit.set()

    assert (await client.answer(archiving))["result"]["thread"]["id"] == "thr_5"


@pytest.mark.parametrize("params", [None, [], {"id": "unknown"}, {"id": [1]}, {"id": None}])
async def test_a_cancellation_of_nothing_changes_nothing(client: LocalPeer, params: object) -> None:
    await client.notify("$/cancelRequest", params)

    assert "result" in await client.call("thread/list")


async def test_a_long_request_reports_progress_on_its_token(client: LocalPeer) -> None:
    await client.call("thread/list", {"workDoneToken": "tok"})

    assert [(told["method"], told["params"]["token"]) for told in client.told] == [("$/progress", "tok")] * 3
    assert [told["params"]["value"]["kind"] for told in client.told] == ["begin", "report", "end"]
    assert client.told[1]["params"]["value"] == {"kind": "report", "message": "half way", "percentage": 50}


async def test_a_frame_of_64_mib_passes_in_both_directions(client: LocalPeer) -> None:
    size = 64 * 1024 * 1024
    assert (await client.call("thread/list", {"query": "y" * size}))["result"]["nextCursor"] == "y" * size
