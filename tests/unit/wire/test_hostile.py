"""A client that wants the daemon to grow, to hang or to fall over."""

import asyncio
import tracemalloc

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.protocol.nesting import DEEPEST
from midstream.server.wire.framing import BadFrame, Decoder
from midstream.server.wire.protocol import IN_FLIGHT, LONGEST_ID
from support.echo_service import Echo
from support.hostile import nested
from support.wire_peer import LocalPeer

HEADER = st.sampled_from(
    [b"Content-Length: ", b"content-length:", b"Content-Type: x", b"\r\n", b"\r\n\r\n", b"\r", b"\n", b":", b" ", b"0",
     b"7", b"99999999999", b"-1", b"+1", b"1_0", "٣".encode(), b"{}", b"\0", b"\xff"]
)  # fmt: skip


@given(st.lists(st.lists(HEADER | st.binary(max_size=9), max_size=6).map(b"".join), max_size=8))
def test_any_bytes_are_frames_or_faults_and_nothing_follows_a_fatal_one(pieces: list[bytes]) -> None:
    decoder = Decoder(limit=20)
    found = [frame for piece in pieces for frame in decoder.feed(piece)]
    fatal = [frame for frame in found if isinstance(frame, BadFrame) and frame.fatal]
    assert all(len(frame) <= 20 for frame in found if isinstance(frame, bytes))
    assert fatal in ([], found[-1:])


def test_a_message_of_10_gb_is_skipped_without_being_held() -> None:
    decoder, piece = Decoder(), b"x" * 65_536
    tracemalloc.start()
    try:
        (bad,) = decoder.feed(b"Content-Length: 10000000000\r\n\r\n")
        for _ in range(200):
            assert list(decoder.feed(piece)) == []
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
    assert isinstance(bad, BadFrame)
    assert not bad.fatal
    assert decoder.midway


@pytest.mark.parametrize(
    "body",
    ["1" + "0" * 400, nested(100_000), "[" * 100_000, '{"a":' * 100_000, '"\\ud800"', "NaN", "1e999"],
    ids=["huge integer", "deep", "deep and open", "deep objects", "surrogate", "nan", "infinite"],
)
async def test_json_that_cannot_be_held_is_a_parse_error(client: LocalPeer, body: str) -> None:
    message = f'{{"jsonrpc":"2.0","id":5,"method":"thread/list","params":{body}}}'.encode()
    await client.send_bytes(b"Content-Length: %d\r\n\r\n%b" % (len(message), message))

    assert (await client.answer(None))["error"]["code"] == -32700
    assert "result" in await client.call("thread/list")


async def test_a_message_nested_deeper_than_can_be_stored_is_refused_under_its_id(client: LocalPeer) -> None:
    fits, deep = (orjson.loads(nested(depth)) for depth in (DEEPEST - 2, DEEPEST - 1))

    assert "result" in await client.call("thread/list", {"unknown": fits})
    refused = await client.call("thread/list", {"unknown": deep})
    assert (refused["error"]["code"], "nested" in refused["error"]["message"]) == (-32600, True)
    await client.send([deep])
    assert (await client.answer(None))["error"]["code"] == -32600


async def test_a_key_given_twice_counts_as_it_was_given_last(client: LocalPeer) -> None:
    message = b'{"jsonrpc":"2.0","id":1,"id":2,"method":"thread/list","params":{"query":5,"query":"last"}}'
    await client.send_bytes(b"Content-Length: %d\r\n\r\n%b" % (len(message), message))

    assert (await client.answer(2))["result"]["nextCursor"] == "last"


async def test_an_id_that_is_a_book_is_not_kept(client: LocalPeer) -> None:
    for length, answered in ((LONGEST_ID, True), (LONGEST_ID + 1, False), (5_000_000, False)):
        msg_id = "x" * length
        await client.send({"jsonrpc": "2.0", "id": msg_id, "method": "thread/list"})
        answer = await client.answer(msg_id if answered else None)
        assert ("result" in answer) == answered


async def test_more_requests_in_flight_than_anybody_needs_are_refused_and_shutdown_still_passes(
    client: LocalPeer,
) -> None:
    sending = asyncio.create_task(_ask_often(client, IN_FLIGHT + 3))
    refusals = [await client.receive() for _ in range(3)]
    ids = await sending

    assert {refusal["id"] for refusal in refusals} == set(ids[-3:])
    assert {refusal["error"]["code"] for refusal in refusals} == {-32600}
    assert "wait for answers" in refusals[0]["error"]["message"]
    assert (await client.call("shutdown"))["result"] is None


async def _ask_often(client: LocalPeer, times: int) -> list[int]:
    return [await client.ask("run/wait", {"runId": "run_1"}) for _ in range(times)]


async def test_requests_in_flight_hold_a_bounded_share_of_memory(echo: Echo, client: LocalPeer) -> None:
    large = {"runId": "x" * 35_000_000}
    held = [await client.ask("run/wait", large) for _ in range(2)]
    behind = asyncio.create_task(client.ask("thread/list"))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await client.receive()

    echo.commit.set()
    for msg_id in held:
        await client.answer(msg_id)
    assert "result" in await client.answer(await behind)


async def test_subscribing_again_and_again_is_one_subscription(echo: Echo, client: LocalPeer) -> None:
    for _ in range(500):
        await client.call("thread/subscribe", {"threadId": "thr_1"})
    (connected,) = echo.service.hub

    assert len(connected.subscriptions.end_all()) == 1
