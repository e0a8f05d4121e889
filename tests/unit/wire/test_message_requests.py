"""Clients that only speak LSP: approvals as messages with buttons."""

from typing import Any

import pytest

from midstream.protocol.notifications import RequestClosed, RequestOpened
from support.echo_service import Echo
from support.wire_peer import LocalPeer
from support.wire_records import a_request

SHOWN = "window/showMessageRequest"


@pytest.fixture
async def plain(stranger: LocalPeer) -> LocalPeer:
    """An initialized client that is not native."""
    await stranger.open(native=False)
    return stranger


def opened(echo: Echo, *labels: str, id: str = "req_1") -> None:
    echo.service.hub.to_all(RequestOpened(request=a_request(*labels, id=id)))


async def reply(peer: LocalPeer, shown: Any, result: object) -> None:
    await peer.send({"jsonrpc": "2.0", "id": shown["id"], "result": result})
    await peer.call("thread/list")


async def test_a_request_is_shown_with_the_labels_of_its_options(echo: Echo, plain: LocalPeer) -> None:
    opened(echo, "Yes", "No")

    assert (await plain.until(SHOWN))["params"] == {
        "type": 3,
        "message": "Run the tests?",
        "actions": [{"title": "Yes"}, {"title": "No"}],
    }
    assert [message["method"] for message in plain.told] == ["request/opened"]


async def test_the_chosen_label_answers_the_request_with_its_option(echo: Echo, plain: LocalPeer) -> None:
    opened(echo, "Yes", "No")
    await reply(plain, await plain.until(SHOWN), {"title": "No"})

    assert [(answer.request_id, answer.option_id) for answer in echo.responses] == [("req_1", "option-1")]


async def test_options_with_one_label_can_be_told_apart(echo: Echo, plain: LocalPeer) -> None:
    opened(echo, "Yes", "Yes", "No")
    shown = await plain.until(SHOWN)
    await reply(plain, shown, shown["params"]["actions"][1])

    assert [action["title"] for action in shown["params"]["actions"]] == ["Yes (option-0)", "Yes (option-1)", "No"]
    assert [answer.option_id for answer in echo.responses] == ["option-1"]


@pytest.mark.parametrize("result", [None, {"title": "Perhaps"}, {"no": "title"}, 5])
async def test_an_answer_that_chooses_nothing_leaves_the_request_pending(
    echo: Echo, plain: LocalPeer, result: object
) -> None:
    opened(echo, "Yes", "No")
    await reply(plain, await plain.until(SHOWN), result)

    assert echo.responses == []


@pytest.mark.parametrize("error", [{"code": -32601, "message": "What?"}, {}, 5])
async def test_a_client_that_shows_no_messages_leaves_the_request_pending(
    echo: Echo, plain: LocalPeer, error: object
) -> None:
    opened(echo, "Yes", "No")
    shown = await plain.until(SHOWN)
    await plain.send({"jsonrpc": "2.0", "id": shown["id"], "error": error})
    await plain.call("thread/list")

    assert echo.responses == []


async def test_an_answer_that_another_client_forestalled_is_ignored(echo: Echo, plain: LocalPeer) -> None:
    for request_id in ("req_1", "req_2"):
        opened(echo, "Yes", id=request_id)
        await reply(plain, await plain.until(SHOWN), {"title": "Yes"})

    assert len(echo.responses) == 2
    assert [message["method"] for message in plain.told] == ["request/opened"] * 2


async def test_a_request_closed_elsewhere_is_taken_back_and_a_late_answer_ignored(echo: Echo, plain: LocalPeer) -> None:
    opened(echo, "Yes", "No")
    shown = await plain.until(SHOWN)
    echo.service.hub.to_all(RequestClosed(request=a_request("Yes", "No")))

    assert (await plain.until("$/cancelRequest"))["params"] == {"id": shown["id"]}
    await reply(plain, shown, {"title": "Yes"})
    assert echo.responses == []


async def test_a_request_without_options_is_not_shown(echo: Echo, plain: LocalPeer) -> None:
    opened(echo)
    await plain.call("thread/list")

    assert [message["method"] for message in plain.told] == ["request/opened"]


async def test_a_native_client_is_shown_nothing(echo: Echo, client: LocalPeer) -> None:
    opened(echo, "Yes", "No")
    await client.call("thread/list")

    assert [message["method"] for message in client.told] == ["request/opened"]


async def test_a_client_that_leaves_with_a_message_open_is_let_go(echo: Echo, plain: LocalPeer) -> None:
    opened(echo, "Yes", "No")
    await plain.until(SHOWN)
    await plain.notify("exit")

    assert await plain.status() == 1
