import asyncio
import logging
from typing import Any

import pytest

from midstream.protocol.notifications import Notification, ThreadDeleted
from midstream.server.wire import outbox
from midstream.server.wire.client import Client
from support.echo_service import Echo
from support.wire_peer import LocalPeer, connected
from support.wire_records import a_change, an_event, some_output


@pytest.fixture
async def subscriber(echo: Echo, client: LocalPeer) -> LocalPeer:
    """A client that follows `thr_1`."""
    await client.call("thread/subscribe", {"threadId": "thr_1"})
    return client


def client_of(echo: Echo) -> Client:
    """The daemon's side of the only client."""
    (client,) = echo.service.hub
    return client


async def told(peer: LocalPeer) -> list[tuple[str, Any]]:
    """What a client was told so far: method and the text, sequence or title."""
    await peer.call("thread/list")
    messages, peer.told = peer.told, []
    return [(message["method"], _gist(message["params"])) for message in messages if "method" in message]


def _gist(params: dict[str, Any]) -> object:
    if "text" in params:
        return params["offset"], params["text"]
    if "thread" in params:
        return params["thread"]["title"]
    return params.get("sequence", params["threadId"])


def tell(echo: Echo, *notifications: Notification) -> None:
    for notification in notifications:
        echo.service.hub.to_subscribers("thr_1", notification)


async def stalled(peer: LocalPeer) -> int:
    """Fill a client's pipe with an answer that it does not read yet."""
    return await peer.ask("thread/export", {"threadId": str(3_000_000), "format": "jsonl"})


async def test_text_of_one_field_that_waits_goes_out_as_one(echo: Echo, subscriber: LocalPeer) -> None:
    tell(echo, some_output("ab"), some_output("cd", 2), some_output("é", 4))

    assert await told(subscriber) == [("run/output", (0, "abcdé"))]


async def test_text_of_several_items_is_merged_item_by_item(echo: Echo, subscriber: LocalPeer) -> None:
    for offset in range(3):
        tell(echo, some_output("a", offset, "itm_1"), some_output("b", offset, "itm_2"))

    assert await told(subscriber) == [("run/output", (0, "aaa")), ("run/output", (0, "bbb"))]


async def test_text_that_does_not_follow_on_is_not_merged(echo: Echo, subscriber: LocalPeer) -> None:
    tell(echo, some_output("ab"), some_output("cd", 9), some_output("ef", 11))

    assert await told(subscriber) == [("run/output", (0, "ab")), ("run/output", (9, "cdef"))]


async def test_merging_never_takes_text_past_another_message(echo: Echo, subscriber: LocalPeer) -> None:
    tell(echo, some_output("a"), an_event(1), some_output("b", 1), a_change("new"), some_output("c", 2))

    assert await told(subscriber) == [
        ("run/output", (0, "a")),
        ("thread/event", 1),
        ("run/output", (1, "b")),
        ("thread/changed", "new"),
        ("run/output", (2, "c")),
    ]


async def test_text_goes_out_though_nothing_else_is_written(echo: Echo, subscriber: LocalPeer) -> None:
    for offset in range(3):
        tell(echo, some_output("x", offset))
        await subscriber.until("run/output")


async def test_a_thread_is_told_to_its_subscribers_only(echo: Echo, client: LocalPeer) -> None:
    notifications = an_event(1), some_output("x")
    tell(echo, *notifications)
    for notification in notifications:
        client_of(echo).notify(notification)

    assert await told(client) == []


async def test_events_pass_once_in_order_and_without_a_gap_whoever_offers_them(
    echo: Echo, subscriber: LocalPeer
) -> None:
    tell(echo, *map(an_event, [2, 1, 1, 3, 2, 2, 3, 5]))

    assert await told(subscriber) == [("thread/event", 1), ("thread/event", 2), ("thread/event", 3)]
    assert client_of(echo).subscriptions.sequence("thr_1") == 3


async def test_a_new_subscription_to_a_thread_voids_what_waited_of_the_old_one(
    echo: Echo, subscriber: LocalPeer
) -> None:
    tell(echo, an_event(1), some_output("old"))
    client_of(echo).subscriptions.begin("thr_1", 7)
    tell(echo, an_event(2), an_event(8), some_output("new", 3))

    assert await told(subscriber) == [("thread/event", 8), ("run/output", (3, "new"))]


async def test_a_deleted_thread_is_followed_no_longer(echo: Echo, subscriber: LocalPeer) -> None:
    echo.service.hub.to_all(ThreadDeleted(thread_id="thr_1"))
    tell(echo, an_event(1))

    assert await told(subscriber) == [("thread/deleted", "thr_1")]


async def test_of_the_news_of_one_thread_that_waits_only_the_last_is_told(echo: Echo, client: LocalPeer) -> None:
    await stalled(client)
    async with connected(echo.service) as other:
        await other.open()  # by now the answer that nobody reads has filled the other pipe
        for number in range(300):
            echo.service.hub.to_all(a_change(f"title {number} " + "x" * 65536))

    ((method, title),) = await told(client)
    assert (method, title.split()[1]) == ("thread/changed", "299")
    assert await told(client) == []


async def test_a_client_too_far_behind_is_reset_to_the_last_event_that_it_got(
    echo: Echo, subscriber: LocalPeer, caplog: pytest.LogCaptureFixture
) -> None:
    await subscriber.call("thread/subscribe", {"threadId": "thr_2", "afterSequence": 40})
    flooding = await subscriber.ask("item/output", {"itemId": "itm_1", "field": "text", "limit": 400})
    async with connected(echo.service) as other:
        await other.open()
        while "The flood is over." not in caplog.text:
            await other.call("thread/list")

    assert "result" in await subscriber.answer(flooding)
    resets = [message["params"] for message in subscriber.told if message["method"] == "thread/reset"]
    events = [message["params"] for message in subscriber.told if message["method"] == "thread/event"]
    sequences = [event["sequence"] for event in events]
    assert sequences == list(range(1, len(events) + 1))
    assert 0 < len(events) < 400
    assert resets == [
        {"threadId": "thr_1", "afterSequence": len(events)},
        {"threadId": "thr_2", "afterSequence": 40},
    ]

    subscriber.told = []
    await subscriber.call("thread/subscribe", {"threadId": "thr_1", "afterSequence": len(events)})
    tell(echo, an_event(len(events) + 1))
    assert await told(subscriber) == [("thread/event", len(events) + 1)]


async def test_one_message_larger_than_all_room_is_told_nevertheless(echo: Echo, subscriber: LocalPeer) -> None:
    title = "x" * 9_000_000
    tell(echo, an_event(1, title=title))

    assert (await subscriber.until("thread/event"))["params"]["record"]["title"] == title


async def test_a_client_that_reads_no_answers_is_heard_no_further(echo: Echo, client: LocalPeer) -> None:
    params = {"threadId": str(1 << 20), "format": "jsonl", "workDoneToken": "x" * 70_000}
    asking = asyncio.gather(*[client.ask("thread/export", params) for _ in range(60)])
    async with connected(echo.service) as other:
        await other.open()
        heard = -1
        while heard < echo.exports:
            heard = echo.exports
            for _ in range(20):
                await other.call("thread/list")

    assert 5 < heard < 30
    await client.answer(60)
    await asking
    assert echo.exports == 60


async def test_room_is_waited_for_until_a_client_has_read(echo: Echo, subscriber: LocalPeer) -> None:
    await subscriber.call("thread/list")
    for number in range(100):
        tell(echo, an_event(number + 1, title="x" * 65536))
    waiting = asyncio.ensure_future(client_of(echo).emptied())
    await asyncio.wait([waiting], timeout=0)
    assert not waiting.done()

    while not waiting.done():
        await subscriber.receive()


async def test_a_client_that_is_gone_is_told_without_harm(echo: Echo, subscriber: LocalPeer) -> None:
    client = client_of(echo)
    await subscriber.hang_up()
    await subscriber.status()

    for notification in (an_event(1), some_output("x"), a_change("x")):
        client.notify(notification)
    client.show_message("hello")
    await client.emptied()


async def test_log_lines_are_not_kept_for_a_client_far_behind(
    echo: Echo, client: LocalPeer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    await stalled(client)
    await stalled(client)
    for _ in range(300):
        client_of(echo).log_message("x" * 65536)
    client_of(echo).show_message("still shown")

    await client.until("window/showMessage")
    lines = [message for message in client.told if message.get("method") == "window/logMessage"]
    assert 0 < len(lines) < 200


async def test_a_client_that_reads_nothing_while_answers_pile_up_is_cut_off(
    echo: Echo, client: LocalPeer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "CUT_OFF", 4_000_000)
    for _ in range(3):
        await stalled(client)
    assert await client.status() == 0


async def test_one_answer_however_large_cuts_nobody_off(
    echo: Echo, client: LocalPeer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "CUT_OFF", 1_000_000)
    answer = await client.answer(await stalled(client))
    assert len(answer["result"]["content"]) == 3_000_000
