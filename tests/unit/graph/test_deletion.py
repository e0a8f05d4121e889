"""Deleting a thread: when it is refused, and what it takes along."""

import pytest

from midstream.server.graph import commands as c
from midstream.server.graph.deletion import native_conversations
from midstream.server.graph.effects import EraseTraces
from support.graph import Story, refusal


@pytest.mark.parametrize("status", ["starting", "running"])
def test_a_thread_whose_run_is_active_is_not_deleted_and_the_refusal_says_to_interrupt(
    story: Story, status: str
) -> None:
    run = story.start()
    story.start("Later.", queue=True)
    if status == "running":
        story.go(run)
    error = refusal(story, c.DeleteThread())
    assert (error.kind, error.data) == ("invalidState", {"runId": run.id, "status": status})
    assert "interrupt it" in error.message


def test_queued_runs_are_cancelled_with_their_thread(story: Story) -> None:
    story.go(story.start())
    queued = [story.start(text, queue=True) for text in ("One.", "Two.")]
    story.do(c.RecoverThread())
    decision = story.do(c.DeleteThread())
    assert decision.forget
    assert [story.run(run.id).status for run in queued] == ["cancelled", "cancelled"]
    assert story.thread.status == "idle"


def test_what_a_deleted_thread_leaves_elsewhere_is_erased_after_the_commit(story: Story) -> None:
    story.whole(provider="claude")
    story.whole(provider="codex")
    refs = [story.provider_thread(kind).native_ref for kind in ("claude", "codex")]
    assert native_conversations(story.state) == (f"claude {refs[0]}", f"codex {refs[1]}")
    decision = story.do(c.DeleteThread())
    assert decision.answer is None
    assert decision.effects == (EraseTraces(native_refs=tuple(sorted(map(str, refs)))),)


def test_no_other_command_forgets_the_thread(story: Story) -> None:
    assert not story.do(c.ArchiveThread(archived=True)).forget
