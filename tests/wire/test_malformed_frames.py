"""Bytes and messages that no client should send: the daemon answers what it can, and stays, or closes where it must."""

import json
from pathlib import Path

import pytest

from support.raw import RawClient, framed, notification, request


async def still_answers(client: RawClient) -> bool:
    """Whether an ordinary request is answered."""
    return (await client.result("thread/list"))["threads"] == []


async def test_a_body_that_is_no_json_is_a_parse_error(raw: RawClient) -> None:
    for body in (b"{", b"", b"nonsense", b'{"jsonrpc": "2.0",}', b"\xff\xfe", b'{"a": NaN}'):
        await raw.send_bytes(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        assert (await raw.answer_to(None))["error"]["code"] == -32700
    assert await still_answers(raw)


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: eleven\r\n\r\n",
        b"Content-Length: -5\r\n\r\n",
        b"Content-Length:\r\n\r\n",
        b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"x" * 20_000,
    ],
    ids=["words", "negative", "empty", "two lengths", "http", "endless"],
)
async def test_a_header_without_a_usable_length_loses_the_connection(raw: RawClient, header: bytes) -> None:
    await raw.send_bytes(header)
    assert (await raw.answer_to(None))["error"]["code"] == -32700
    assert await raw.status() == 0


async def test_headers_are_taken_in_any_case_and_with_others_beside_them(raw: RawClient) -> None:
    body = json.dumps(request("odd", "thread/list")).encode()
    for header in (
        b"content-length: %d\r\n\r\n",
        b"CONTENT-LENGTH:%d\r\n\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length:   %d  \r\n\r\n",
    ):
        await raw.send_bytes(header % len(body) + body)
        assert (await raw.answer_to("odd"))["result"]["threads"] == []


async def test_a_frame_may_arrive_byte_by_byte(raw: RawClient) -> None:
    for byte in framed(request("slow", "thread/list")):
        await raw.send_bytes(bytes([byte]))
    assert (await raw.answer_to("slow"))["result"]["threads"] == []


async def test_values_that_are_no_message_are_invalid_requests(raw: RawClient) -> None:
    no_messages = (
        1,
        "text",
        None,
        True,
        {},
        {"jsonrpc": "2.0"},
        {"method": "thread/list"},
        {"jsonrpc": "2.0", "id": []},
    )
    for message in no_messages:
        await raw.send(message)
        assert (await raw.answer_to(None))["error"]["code"] == -32600
    for message in (
        {"jsonrpc": "1.0", "id": 5, "method": "thread/list"},
        {"id": 5, "method": "thread/list"},
        {"jsonrpc": "2.0", "id": 5, "method": 6},
    ):
        await raw.send(message)
        assert (await raw.answer_to(5))["error"]["code"] == -32600
    assert await still_answers(raw)


async def test_a_batch_is_refused_as_a_whole(raw: RawClient) -> None:
    for batch in ([], [request(1, "thread/list"), request(2, "thread/list")]):
        await raw.send(batch)
        assert (await raw.answer_to(None))["error"]["code"] == -32600
    assert await still_answers(raw)
    assert raw.heard == []


async def test_jsonrpc_inside_params_is_no_message_of_its_own(raw: RawClient, workspace: Path) -> None:
    nested = request("inner", "shutdown")
    options = {"nested": nested, "jsonrpc": "2.0"}
    selection = {"provider": "rehearsal", "model": None, "options": options}
    created = await raw.result("thread/create", {"workspace": workspace.as_uri(), "selection": selection})
    assert created["thread"]["selection"]["options"] == options
    assert len((await raw.result("thread/list"))["threads"]) == 1
    assert not [message for message in raw.heard if message.get("id") == "inner"]


async def test_a_request_for_an_unknown_method_is_refused_and_such_a_notification_ignored(raw: RawClient) -> None:
    for method in ("no/such", "textDocument/hover", "", "thread/", "__init__", "$/unknown"):
        assert (await raw.error(method, {}))["code"] == -32601
        await raw.send(notification(method, {}))
    assert await still_answers(raw)
    assert raw.heard == []


async def test_a_notification_of_a_request_method_does_nothing(raw: RawClient, workspace: Path) -> None:
    await raw.send(notification("thread/create", {"workspace": workspace.as_uri()}))
    assert await still_answers(raw)


async def test_answers_to_nothing_are_ignored(raw: RawClient) -> None:
    for msg_id in (1, "unknown", None):
        await raw.send({"jsonrpc": "2.0", "id": msg_id, "result": None})
        await raw.send({"jsonrpc": "2.0", "id": msg_id, "error": {"code": 1, "message": "no"}})
    assert await still_answers(raw)
    assert raw.heard == []


async def test_ids_come_back_as_they_were_sent(raw: RawClient) -> None:
    for msg_id in (0, -1, 2**53, "", "ünïcode 🌊", "1"):
        await raw.send(request(msg_id, "thread/list"))
        assert (await raw.answer_to(msg_id))["id"] == msg_id


async def test_a_message_of_64_mib_is_answered(raw: RawClient, workspace: Path) -> None:
    thread = await raw.new_thread(workspace)
    active = await raw.begin(thread, "run true")
    await raw.until("request/opened")
    text = "0123456789abcdef" * (4 * 1024 * 1024)
    answer = await raw.result("run/start", {"threadId": thread, "message": {"text": text}})
    assert answer["run"]["status"] == "queued"
    assert answer["run"]["message"]["text"] == text
    cancelled = await raw.result("run/cancel", {"runId": answer["run"]["id"]})
    assert cancelled["run"]["status"] == "cancelled"
    await raw.stop(active)


async def test_a_message_that_is_too_large_is_skipped_and_the_next_one_answered(raw: RawClient) -> None:
    length = 128 * 1024 * 1024 + 1
    await raw.send_bytes(b"Content-Length: %d\r\n\r\n" % length)
    block = b" " * (1024 * 1024)
    for _ in range(128):
        await raw.send_bytes(block)
    await raw.send_bytes(b" ")
    assert (await raw.answer_to(None))["error"]["code"] == -32600
    assert await still_answers(raw)


async def test_input_that_ends_inside_a_frame_ends_the_daemon(raw: RawClient) -> None:
    await raw.send_bytes(framed(request("whole", "thread/list")) + framed(request("cut", "thread/list"))[:-3])
    await raw.close_input()
    assert await raw.status() == 0
    assert [message["id"] for message in raw.heard if "id" in message] == ["whole"]


async def test_deep_nesting_and_odd_unicode_do_no_harm(raw: RawClient) -> None:
    for depth, code in ((90, -32602), (200, -32600)):
        deep: object = "end"
        for _ in range(depth):
            deep = [deep]
        assert (await raw.error("thread/read", {"threadId": deep}))["code"] == code
    body = b'{"jsonrpc":"2.0","id":"odd","method":"thread/read","params":{"threadId":"\\ud800"}}'
    await raw.send_bytes(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    assert (await raw.answer_to(None))["error"]["code"] == -32700
    bomb = b"[" * 100_000
    await raw.send_bytes(b"Content-Length: %d\r\n\r\n%b" % (len(bomb), bomb))
    assert (await raw.answer_to(None))["error"]["code"] == -32700
    assert await still_answers(raw)
