"""What the Codex driver must survive: words that it does not know, and grants that it did not ask for."""

import logging
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from midstream.server.providers.adapter import ProviderError, Reply, TurnRefused
from midstream.server.providers.drafts import MessageDraft
from midstream.server.providers.events import (
    HistoryCompacted,
    ItemChanged,
    RequestAsked,
    RequestWithdrawn,
    TurnAccepted,
    TurnEnded,
)
from midstream.server.quoting import Quoted
from support.fake_codex import OPENED, THREAD, FakeCodex, fake_codex
from support.turns import ended, last_of_each, of, opened, options_in, turn, until, words

HERE = {"threadId": THREAD, "turnId": "turn-1"}


def told(method: str, **params: Any) -> dict[str, Any]:
    return {"method": method, "params": {**HERE, **params}}


def completed(status: str = "completed", **more: Any) -> dict[str, Any]:
    return told("turn/completed", turn={"id": "turn-1", "status": status, **more})


STARTED = [
    {"id": "$id", "result": {"turn": {"id": "turn-1"}}},
    told("turn/started", turn={"id": "turn-1"}),
    told("item/completed", item={"type": "userMessage", "id": "u1", "clientId": "$client"}),
]
MESSAGE = told("item/completed", item={"type": "agentMessage", "id": "m1", "text": "hello"})
COMMAND = {"type": "commandExecution", "id": "c1", "command": "rm x", "cwd": "/", "status": "inProgress"}
DECLINE = Reply(decision="decline", option_id=None, answers=None, message=None)


def playing(folder: Path, *steps: Any) -> FakeCodex:
    """A Codex that plays these messages once it is given a turn."""
    return fake_codex(folder, turn_start=list(steps))


async def test_unknown_notifications_and_items_break_nothing_and_are_quoted_raw_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "midstream.server.providers.codex")
    news = told("thread/dreamt", dream="of sheep")
    item = told("item/started", item={"type": "hologram", "id": "h1", "shape": "round"})
    codex = playing(tmp_path, *STARTED, news, item, MESSAGE, completed())
    async with opened(codex.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        events = await turn(session, thread.ref, "hi", options_in(tmp_path))
    assert ended(events).status == "completed"
    assert last_of_each(events)["m1"].draft == MessageDraft(type="agentMessage", text="hello")
    assert "thread/dreamt" in caplog.text
    assert "of sheep" not in caplog.text
    quoted = [str(arg.words) for record in caplog.records for arg in record.args or () if isinstance(arg, Quoted)]
    assert [("of sheep" in words, "hologram" in words) for words in quoted] == [(True, False), (False, True)]


@pytest.mark.parametrize(
    "granted",
    [
        {"sandbox": {"type": "dangerFullAccess"}},
        {"approvalPolicy": "never"},
        {"approvalsReviewer": "auto_review"},
    ],
)
async def test_a_conversation_that_would_be_allowed_more_than_was_asserted_is_refused(
    tmp_path: Path, granted: dict[str, Any]
) -> None:
    codex = fake_codex(tmp_path, thread_start={**OPENED, **granted})
    async with opened(codex.driver, tmp_path) as session:
        with pytest.raises(ProviderError) as refused:
            await session.start_thread(options_in(tmp_path, "approvalRequired"))
    assert refused.value.failure.class_ == "permission_error"


async def test_a_turn_that_failed_before_codex_had_the_message_is_refused(tmp_path: Path) -> None:
    error = {"message": "no room", "codexErrorInfo": "contextWindowExceeded"}
    codex = playing(tmp_path, *STARTED[:2], completed("failed", error=error))
    async with opened(codex.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        with pytest.raises(TurnRefused) as refused:
            await turn(session, thread.ref, "hi", options_in(tmp_path))
        assert refused.value.failure.class_ == "context_overflow"


async def test_what_comes_before_codex_has_the_message_is_told_after_the_acceptance(tmp_path: Path) -> None:
    compaction = told("item/completed", item={"type": "contextCompaction", "id": "k1"})
    codex = playing(tmp_path, *STARTED[:2], compaction, STARTED[2], MESSAGE, completed())
    async with opened(codex.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        events = await turn(session, thread.ref, "hi", options_in(tmp_path))
    assert [type(event) for event in events[:2]] == [TurnAccepted, HistoryCompacted]


async def test_a_codex_that_does_not_give_our_id_back_is_still_seen_to_take_the_message(tmp_path: Path) -> None:
    anonymous = told("item/completed", item={"type": "userMessage", "id": "u1", "clientId": None})
    codex = playing(tmp_path, *STARTED[:2], anonymous, completed("failed", error={"message": "later"}))
    async with opened(codex.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        events = await turn(session, thread.ref, "hi", options_in(tmp_path))
    assert [type(event) for event in events] == [TurnAccepted, TurnEnded]


async def test_a_codex_that_dies_before_it_has_the_message_leaves_no_acceptance(tmp_path: Path) -> None:
    codex = playing(tmp_path, *STARTED[:2], "$exit")
    async with opened(codex.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        (end,) = await turn(session, thread.ref, "hi", options_in(tmp_path))
    assert isinstance(end, TurnEnded)
    assert end.failure is not None
    assert (end.status, end.failure.class_) == ("failed", "transport_error")


async def test_a_request_that_codex_withdraws_needs_no_answer(tmp_path: Path) -> None:
    asks = {
        "id": 7,
        "method": "item/commandExecution/requestApproval",
        "params": {**HERE, "itemId": "c1", "command": "rm x"},
    }
    begun = told("item/started", item=COMMAND)
    codex = playing(tmp_path, *STARTED, begun, asks, told("serverRequest/resolved", requestId=7), completed())
    async with opened(codex.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        events = await turn(session, thread.ref, "hi", options_in(tmp_path))
        (request,) = of(RequestAsked, events)
        assert request.target_ref == "c1"
        assert of(RequestWithdrawn, events) == [RequestWithdrawn(ref=request.ref)]
        with pytest.raises(ProviderError, match="no longer waits"):
            await session.respond(thread.ref, request.ref, DECLINE)


async def test_a_request_while_no_turn_runs_is_declined_and_an_unknown_one_refused(tmp_path: Path) -> None:
    late = {"id": 8, "method": "item/fileChange/requestApproval", "params": {**HERE, "itemId": "p1"}}
    strange = {"id": 9, "method": "item/tool/dream", "params": HERE}
    codex = fake_codex(tmp_path, thread_unsubscribe=[late, "$wait", strange, "$wait", {"id": "$id", "result": {}}])
    async with opened(codex.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        await session.close_thread(thread.ref)
    answers = codex.answers()
    assert answers[8]["result"] == {"decision": "decline"}
    assert answers[9]["error"]["code"] == -32601


async def test_a_codex_that_does_not_end_an_interrupted_turn_is_ended(tmp_path: Path) -> None:
    codex = fake_codex(tmp_path, turn_start=[*STARTED, MESSAGE], turn_interrupt={})
    async with opened(codex.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        async with aclosing(session.run_turn(thread.ref, words("hi"), options_in(tmp_path))) as running:
            await until(running, lambda event: isinstance(event, ItemChanged))
            await session.interrupt(thread.ref)
            events = await until(running, lambda event: False)
        assert ended(events).status == "interrupted"
        assert not session.live


async def test_the_sandbox_that_codex_told_is_repeated_with_a_turn_and_not_after_the_mode_changed(
    tmp_path: Path,
) -> None:
    codex = playing(tmp_path, *STARTED, completed())
    async with opened(codex.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path, "approvalRequired"))
        await turn(session, thread.ref, "hi", options_in(tmp_path, "approvalRequired"))
        await turn(session, thread.ref, "hi", options_in(tmp_path, "readOnly"))
    first, second = [params for params in codex.received("turn/start") if "clientUserMessageId" in params]
    assert first["sandboxPolicy"] == {"type": "workspaceWrite", "networkAccess": True}
    assert (second["sandboxPolicy"], second["approvalPolicy"]) == ({"type": "readOnly"}, "never")
