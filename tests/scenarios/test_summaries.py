"""Summaries that providers write: used where they can be trusted, done without where they cannot."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from midstream.protocol.notifications import HandoffProgress
from midstream.protocol.records.handoff import ContextHandoff
from midstream.protocol.records.thread import Thread
from scenarios.steps import phases, selection
from support.editor import Editor, Refused, editor_on, providers

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


async def test_the_conversation_of_a_summary_is_in_no_list_and_no_record(editor: Editor, workspace: Path) -> None:
    thread = await thread_with(editor, workspace)
    before = await editor.read(thread)
    said = await editor.recall(thread, "rehearsal")
    handoff = await preview(editor, thread, summarizer="rehearsal")
    assert handoff.created_by == "provider"
    after = await editor.read(thread)
    assert after.provider_threads[0].native_run_ordinals == (1, 2, 3)
    assert len(after.provider_threads) == len(before.provider_threads) == 1
    assert (await editor.recall(thread, "rehearsal"))[: len(said)] == said


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


async def test_a_preview_can_be_cancelled_while_its_summary_is_written(editor: Editor, workspace: Path) -> None:
    thread = await thread_with(editor, workspace, "hang")
    params = {"threadId": thread.id, "selection": selection("understudy"), "summarizer": "source"}
    asked = editor.protocol.send_request_async("handoff/preview", params, msg_id="preview-1")
    waiting = asyncio.ensure_future(asked)
    await editor.until(lambda n: isinstance(n, HandoffProgress) and n.phase == "summarizing")
    editor.protocol.notify(lsp.CANCEL_REQUEST, lsp.CancelParams(id="preview-1"))
    await editor.until(lambda n: isinstance(n, HandoffProgress) and n.phase == "cancelled")
    waiting.cancel()
    assert (await editor.call("handoff/list", thread_id=thread.id)).handoffs == ()
    with pytest.raises(Refused):
        await editor.call("handoff/read", handoff_id="hof_none")
