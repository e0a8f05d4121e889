"""The native conversations of subagents."""

import attrs
import pytest

from midstream.protocol.records.item import ItemStatus, SubagentItem
from midstream.protocol.records.provider import ProviderThread
from midstream.protocol.records.run import Run
from midstream.server.graph import commands as c
from midstream.server.graph.events import ProviderThreadPut
from support.graph import Story, base, ending

ITEM = "itm_000900"


@pytest.fixture
def run(story: Story) -> Run:
    return story.go(story.start())


def begins(run: Run, status: ItemStatus = "running") -> c.ObservedItem:
    item = SubagentItem(
        **base(ITEM, run, status),
        title="Helper",
        prompt="Look.",
        child_thread_id=None,
        provider=run.provider,
        result=None,
    )
    return c.ObservedItem(item=item, conversation_ref="native-child")


def childs(story: Story) -> ProviderThread:
    (known,) = [known for known in story.state.provider_threads.values() if known.subagent_item_id is not None]
    return known


def test_a_subagents_conversation_has_a_record_that_goes_with_its_item(story: Story, run: Run) -> None:
    story.hear(run, begins(run))
    known = childs(story)
    parent = story.state.provider_threads[run.provider_thread_id or ""]
    assert (known.native_ref, known.subagent_item_id, known.status) == ("native-child", ITEM, "active")
    assert (known.provider, known.session_id) == (parent.provider, parent.session_id)
    assert (known.first_run_ordinal, known.native_run_ordinals, known.handoff_ids) == (run.ordinal, (), ())
    story.hear(run, begins(run, "completed"))
    assert childs(story) == attrs.evolve(known, status="idle")


def test_what_is_told_again_of_a_subagent_puts_its_conversation_once(story: Story, run: Run) -> None:
    story.hear(run, begins(run), begins(run))
    puts = [event for event in story.events if isinstance(event, ProviderThreadPut) and event.record.subagent_item_id]
    assert len(puts) == 1


@pytest.mark.parametrize(("lost", "status"), [(False, "idle"), (True, "not_loaded")])
def test_a_turns_end_settles_the_conversations_of_its_subagents(
    story: Story, run: Run, lost: bool, status: str
) -> None:
    story.hear(run, begins(run))
    story.do(ending(run, "interrupted", lost=lost))
    assert childs(story).status == status


def test_a_rollback_of_its_run_makes_a_subagents_conversation_divergent(story: Story, run: Run) -> None:
    story.hear(run, begins(run))
    run = story.finish(story.end(run))
    story.do(c.RollBack(to_run_ordinal=1, standing=frozenset()))
    assert childs(story).status == "idle"
    story.do(c.RollBack(to_run_ordinal=0, standing=frozenset()))
    assert childs(story).status == "divergent"
