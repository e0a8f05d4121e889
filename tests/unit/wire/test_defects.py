"""The seven defects of pygls 2.1 that this wire closes, one test each."""

import logging
import threading

import pytest

from midstream.server.wire.logs import DiscreetFormatter
from support.echo_service import SECRET, Echo
from support.wire_peer import LocalPeer, connected


async def test_1_a_request_with_invalid_params_is_answered_with_the_path_of_the_field(client: LocalPeer) -> None:
    answer = await client.call("thread/list", {"query": 7})

    assert answer["error"]["code"] == -32602
    assert answer["error"]["data"] == {"path": "query"}


async def test_2_a_payload_that_contains_jsonrpc_is_not_taken_for_a_message(echo: Echo, client: LocalPeer) -> None:
    inner = {"jsonrpc": "2.0", "id": 1, "method": "exit"}
    await client.notify("workspace/didChangeConfiguration", {"settings": {"midstream": {"nested": inner}}})

    assert (await client.call("thread/list", {"query": "still here"}))["result"]["nextCursor"] == "still here"
    assert echo.settings == [{"nested": inner}]


async def test_3_what_is_not_json_is_answered_and_headers_are_read_in_any_case(client: LocalPeer) -> None:
    await client.send_bytes(b"content-LENGTH: 5\r\n\r\n{nope")

    assert (await client.answer(None))["error"]["code"] == -32700
    assert "result" in await client.call("thread/list")


async def test_4_exit_ends_one_connection_and_no_other(echo: Echo, client: LocalPeer) -> None:
    async with connected(echo.service) as other:
        await other.open()
        await other.notify("exit")

        assert await other.status() == 1
        assert "result" in await client.call("thread/list")


async def test_5_an_unforeseen_failure_shows_neither_traceback_nor_content(
    client: LocalPeer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.handler.setFormatter(DiscreetFormatter(lambda: False))
    answer = await client.call("thread/search", {"query": "crash"})

    assert answer["error"]["code"] == -32603
    assert "data" not in answer["error"]
    assert "ValueError" in caplog.text
    assert "in misbehave" in caplog.text
    for text in (str(answer), caplog.text):
        assert SECRET not in text


async def test_6_a_client_that_stops_reading_delays_no_other(echo: Echo, client: LocalPeer) -> None:
    async with connected(echo.service) as stalled:
        await stalled.open()
        await stalled.call("thread/subscribe", {"threadId": "thr_1"})
        await stalled.ask("item/output", {"itemId": "itm_1", "field": "text", "limit": 300})

        for _ in range(20):
            assert "result" in await client.call("thread/list")


async def test_7_a_pipe_is_read_without_a_thread(client: LocalPeer) -> None:
    for _ in range(20):
        await client.call("thread/list")

    assert threading.enumerate() == [threading.main_thread()]
