"""Work that a run's agent gives to another provider."""

from collections.abc import Callable
from typing import Literal

import pytest

from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.item import SubagentItem
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import SourcePoint, Thread
from midstream.server.graph.commands import BeginDelegation, EndDelegation, RecoverThread, SpawnChild
from midstream.server.graph.decide import spawn
from midstream.server.graph.delegating import child_of
from support.graph import NO_CONTEXT, Story, message, selecting

ITEM = "itm_000900"


def child(story: Story) -> Thread:
    return child_of(story.thread, "thr_000900", "Part", selecting("codex"), story.stamp().now)


def begin(story: Story, run: Run) -> SubagentItem:
    story.do(BeginDelegation(run_id=run.id, item_id=ITEM, child=child(story), prompt="Do a part."))
    return shown(story)


def shown(story: Story) -> SubagentItem:
    item = story.items()[ITEM]
    assert isinstance(item, SubagentItem)
    return item


def end(status: Literal["completed", "failed", "interrupted"] = "completed") -> EndDelegation:
    point = SourcePoint(thread_id="thr_000900", run_id="run_000900")
    return EndDelegation(item_id=ITEM, source_point=point, status=status, result="Done.")


def test_a_child_stands_under_its_parent_and_may_do_as_much(story: Story) -> None:
    thread = child(story)
    assert thread.lineage.parent_thread_id == story.thread.id
    assert thread.lineage.root_thread_id == story.thread.lineage.root_thread_id
    assert thread.lineage.relationship_to_parent == "subagent"
    assert (thread.workspace, thread.runtime_mode) == (story.thread.workspace, story.thread.runtime_mode)
    assert thread.forked_from is None


def test_a_child_begins_with_its_run_and_the_transfer_that_brought_it(story: Story) -> None:
    run = story.go(story.start())
    point = SourcePoint(thread_id=story.thread.id, run_id=run.id, item_id=ITEM)
    command = SpawnChild(
        thread=child(story),
        message=message("Do a part."),
        plan=NO_CONTEXT,
        source_point=point,
        source_provider="claude",
    )
    decision = spawn(command, story.stamp())
    (begun,) = decision.state.runs.values()
    assert decision.answer == begun
    assert (begun.status, begun.provider, begun.message.text) == ("starting", "codex", "Do a part.")
    assert [effect.type for effect in decision.effects] == ["executeAttempt"]
    (transfer,) = decision.state.transfers.values()
    assert (transfer.type, transfer.status, transfer.target_run_id) == ("subagent_spawn", "consumed", begun.id)
    assert (transfer.source_point, transfer.source_provider, transfer.target_provider) == (point, "claude", "codex")
    assert decision.state.thread.status == "starting"


def test_work_that_was_given_away_is_shown_in_the_run_and_lived_by_its_agent(story: Story) -> None:
    run = story.go(story.start())
    item = begin(story, run)
    assert (item.run_id, item.status, item.child_thread_id) == (run.id, "running", "thr_000900")
    assert (item.title, item.prompt, item.provider) == ("Part", "Do a part.", "codex")
    assert item.provider_thread_id == run.provider_thread_id


@pytest.mark.parametrize(("status", "transferred"), [("completed", "consumed"), ("failed", "failed")])
def test_what_comes_back_ends_the_item_and_not_the_run(
    story: Story, status: Literal["completed", "failed"], transferred: str
) -> None:
    run = story.go(story.start())
    begin(story, run)
    story.do(end(status))
    assert (shown(story).status, shown(story).result) == (status, "Done.")
    assert story.state.active_run_id == run.id
    (transfer,) = [one for one in story.state.transfers.values() if one.type == "subagent_result"]
    assert (transfer.status, transfer.target_run_id, transfer.created_by) == (transferred, run.id, "agent")
    assert (transfer.source_thread_id, transfer.target_thread_id) == ("thr_000900", story.thread.id)
    assert (transfer.source_provider, transfer.target_provider) == ("codex", "claude")


@pytest.mark.parametrize("go", [lambda story, run: story.end(run), lambda story, run: story.finish(story.end(run))])
def test_a_run_whose_turn_is_over_gives_no_work_away(story: Story, go: Callable[[Story, Run], Run]) -> None:
    run = go(story, story.go(story.start()))
    with pytest.raises(MidstreamError, match="is not at work"):
        begin(story, run)


def test_what_comes_back_after_the_turn_ended_changes_nothing(story: Story) -> None:
    run = story.go(story.start())
    begin(story, run)
    story.end(run, "interrupted")
    assert shown(story).status == "interrupted"
    assert story.ignores(end())


def test_a_crash_interrupts_work_that_was_given_away(story: Story) -> None:
    begin(story, story.go(story.start()))
    story.do(RecoverThread())
    assert (shown(story).status, shown(story).result) == ("interrupted", None)
    assert story.ignores(end())
