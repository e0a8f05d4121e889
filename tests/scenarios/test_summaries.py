"""Summaries that providers write: used where they can be trusted, done without where they cannot."""

from pathlib import Path
from typing import Any

import pytest

from midstream.protocol.notifications import HandoffProgress
from midstream.protocol.records.handoff import ContextHandoff
from midstream.protocol.records.thread import Thread
from scenarios.steps import phases, received, selection
from support.editor import Editor, editor_on, providers
from support.raw import notification, raw_client, request

TALK = "\n".join(f"say: Statement{n} was made about module{n}." for n in range(60))
QUICK = {"handoff": {"summarySeconds": 1.0}}
AGENTS = {**providers("discreet"), **providers("chatty", flags=["--no-throw-away"])}


async def thread_with(editor: Editor, workspace: Path, behaviour: str = "good") -> Thread:
    """A thread that the rehearsal answered, which summarises in some way from now on."""
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "Never touch the schema.\n" + TALK)
    await editor.say(thread, f"summary {behaviour}")
    return thread


async def preview(editor: Editor, thread: Thread, **params: Any) -> ContextHandoff:
    answer = await editor.call("handoff/preview", thread_id=thread.id, selection=selection("understudy"), **params)
    (handoff,) = answer.handoffs
    return handoff


@pytest.mark.parametrize(("summarizer", "author"), [("source", "rehearsal"), ("rehearsal", "rehearsal")])
async def test_a_good_summary_is_used_and_its_author_is_named(
    editor: Editor, workspace: Path, summarizer: str, author: str
) -> None:
    thread = await thread_with(editor, workspace)
    handoff = await preview(editor, thread, summarizer=summarizer)
    assert (handoff.created_by, handoff.created_by_provider, handoff.fallback_reason) == ("provider", author, None)
    assert "rehearsal summarised:" in handoff.summary_text
    assert handoff.summary_text.count("Never touch the schema.") >= 1
    assert [section.kind for section in handoff.sections][-1] == "conversation"


async def test_the_target_can_write_the_summary_that_it_is_sent(editor: Editor, workspace: Path) -> None:
    thread = await thread_with(editor, workspace)
    handoff = await preview(editor, thread, summarizer="target")
    assert (handoff.created_by, handoff.created_by_provider) == ("provider", "understudy")


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [
        ("long", "no smaller than what it summarised"),
        ("invalid", "no plain text"),
        ("drops", "left out"),
        ("orders", "without a source, or as an order"),
    ],
)
async def test_a_summary_that_cannot_be_trusted_is_replaced_and_the_handoff_says_why(
    editor: Editor, workspace: Path, behaviour: str, why: str
) -> None:
    thread = await thread_with(editor, workspace, behaviour)
    handoff = await preview(editor, thread, summarizer="source")
    assert (handoff.created_by, handoff.created_by_provider) == ("deterministic", None)
    assert handoff.fallback_reason is not None
    assert handoff.fallback_reason.startswith("rehearsal was asked for a summary: ")
    assert why in handoff.fallback_reason
    assert "Never touch the schema." in handoff.summary_text
    assert not (workspace / "orders.txt").exists()


async def test_a_provider_that_hangs_is_not_waited_for_longer_than_configured(tmp_path: Path, workspace: Path) -> None:
    async with editor_on(tmp_path / "data", "--rehearsal", config=QUICK) as editor:
        thread = await thread_with(editor, workspace, "hang")
        handoff = await preview(editor, thread, summarizer="source")
        assert handoff.created_by == "deterministic"
        assert "did not answer within 1 seconds" in (handoff.fallback_reason or "")


async def test_a_provider_that_cannot_promise_to_run_nothing_is_not_asked(tmp_path: Path, workspace: Path) -> None:
    async with editor_on(tmp_path / "data", "--rehearsal", config={"providers": AGENTS}) as editor:
        listed = {p.kind: p.capabilities.summarize for p in (await editor.call("provider/list")).providers}
        assert (listed["discreet"], listed["chatty"]) == (True, False)
        thread = await thread_with(editor, workspace)
        handoff = await preview(editor, thread, summarizer="chatty")
        assert "cannot promise to run no tool" in (handoff.fallback_reason or "")
        handoff = await preview(editor, thread, summarizer="nobody")
        assert "cannot be asked for a summary: No provider nobody is configured" in (handoff.fallback_reason or "")


async def test_the_conversation_of_a_summary_is_in_no_list_and_no_record(tmp_path: Path, workspace: Path) -> None:
    agents = providers("discreet", state=tmp_path / "agents")
    async with editor_on(tmp_path / "data", "--rehearsal", config={"providers": agents}) as editor:
        thread = await editor.new_thread(workspace, "discreet")
        await editor.say(thread, TALK)
        before, files = await editor.read(thread), sorted((tmp_path / "agents").rglob("*.jsonl"))
        handoff = await preview(editor, thread, summarizer="discreet")
        assert handoff.created_by == "provider"
        after = await editor.read(thread)
        assert after.provider_threads == before.provider_threads
        assert sorted((tmp_path / "agents").rglob("*.jsonl")) == files
        assert received(await editor.recall(thread, "discreet")) == [TALK, "recall"]


async def test_a_configured_summariser_writes_what_a_run_is_sent(tmp_path: Path, workspace: Path) -> None:
    config = {"handoff": {"summarizer": "source"}}
    async with editor_on(tmp_path / "data", "--rehearsal", config=config) as editor:
        thread = await thread_with(editor, workspace)
        run = await editor.say(thread, "say: here", "understudy")
        sent = (await editor.call("handoff/read", handoff_id=run.context_handoff_id)).handoff
        assert (sent.created_by, sent.created_by_provider) == ("provider", "rehearsal")
        assert phases(editor, run) == ["deciding", "collecting", "summarizing", "ready", "delivering", "delivered"]


async def test_a_run_can_be_interrupted_while_its_summary_is_written(tmp_path: Path, workspace: Path) -> None:
    async with editor_on(tmp_path / "data", "--rehearsal", config={"handoff": {"summarizer": "source"}}) as editor:
        thread = await thread_with(editor, workspace, "hang")
        run = await editor.begin(thread, "say: here", "understudy")
        await editor.until(lambda n: isinstance(n, HandoffProgress) and n.phase == "summarizing")
        await editor.call("run/interrupt", run_id=run.id)
        assert (await editor.ended(run)).status == "interrupted"
        assert phases(editor, run)[-1] == "cancelled"


async def test_a_preview_can_be_had_without_waiting_for_its_summary(tmp_path: Path, workspace: Path) -> None:
    async with raw_client(tmp_path / "data") as client:
        await client.initialize(config={"providers": providers("rehearsal", "understudy", state=tmp_path / "agents")})
        thread = await client.new_thread(workspace, "rehearsal")
        await client.result("thread/subscribe", {"threadId": thread})
        for text in (TALK, "summary hang"):
            await client.result("run/wait", {"runId": await client.begin(thread, text)})
        params = {"threadId": thread, "selection": selection("understudy"), "summarizer": "source", "workDoneToken": 7}
        await client.send(request("asked", "handoff/preview", params))
        while (await client.until("handoff/progress"))["params"]["phase"] != "summarizing":
            pass
        await client.send(notification("window/workDoneProgress/cancel", {"token": "another"}))
        await client.send(notification("window/workDoneProgress/cancel", {"token": 7}))
        (handoff,) = (await client.answer_to("asked"))["result"]["handoffs"]
        assert handoff["createdBy"] == "deterministic"
        assert "The summary of rehearsal was not waited for." in str(handoff)


async def test_a_preview_can_be_cancelled_while_its_summary_is_written(tmp_path: Path, workspace: Path) -> None:
    async with raw_client(tmp_path / "data") as client:
        await client.initialize(config={"providers": providers("rehearsal", "understudy", state=tmp_path / "agents")})
        thread = await client.new_thread(workspace, "rehearsal")
        await client.result("thread/subscribe", {"threadId": thread})
        for text in (TALK, "summary hang"):
            await client.result("run/wait", {"runId": await client.begin(thread, text)})
        params = {"threadId": thread, "selection": selection("understudy"), "summarizer": "source"}
        await client.send(request("asked", "handoff/preview", params))
        while (await client.until("handoff/progress"))["params"]["phase"] != "summarizing":
            pass
        await client.send(notification("$/cancelRequest", {"id": "asked"}))
        assert (await client.answer_to("asked"))["error"]["code"] == -32800
        while (told := await client.until("handoff/progress"))["params"]["phase"] != "cancelled":
            pass
        assert told["params"]["handoffId"] is None
        assert await client.result("handoff/list", {"threadId": thread}) == {"handoffs": []}
