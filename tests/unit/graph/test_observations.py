"""What a provider says in a turn, made into items with their place and time."""

import attrs
import pytest

from midstream.protocol.records.item import CompactionItem
from midstream.protocol.records.run import Run, Usage
from midstream.server.graph import commands as c
from support.graph import Story, command, compaction, words


@pytest.fixture
def run(story: Story) -> Run:
    return story.go(story.start())


def test_items_get_their_place_and_time_when_they_are_put(story: Story, run: Run) -> None:
    first, second = words("itm_000900", run), words("itm_000901", run)
    story.hear(run, c.ObservedItem(item=first), c.ObservedItem(item=second))
    one, two = story.item(first), story.item(second)
    assert two.ordinal == one.ordinal + 1 == story.state.last_item_ordinal
    assert (one.run_id, one.thread_id) == (run.id, story.thread.id)
    assert one.started_at == one.completed_at != ""


def test_an_item_keeps_its_place_and_start_while_it_changes(story: Story, run: Run) -> None:
    live = command("itm_000900", run)
    story.hear(run, c.ObservedItem(item=live), c.ObservedItem(item=words("itm_000901", run)))
    began = story.item(live)
    assert began.completed_at is None
    story.hear(run, c.ObservedItem(item=attrs.evolve(live, status="completed", exit_code=0)))
    ended = story.item(live)
    assert (ended.ordinal, ended.started_at, ended.exit_code) == (began.ordinal, began.started_at, 0)
    assert ended.completed_at is not None
    assert ended.completed_at > began.started_at


def test_an_item_that_changes_after_it_ended_keeps_its_place_and_start(story: Story, run: Run) -> None:
    done = command("itm_000900", run, status="completed")
    story.hear(run, c.ObservedItem(item=done))
    ended = story.item(done)
    story.hear(run, c.ObservedItem(item=attrs.evolve(done, exit_code=1)))
    again = story.item(done)
    assert (again.ordinal, again.started_at, again.exit_code) == (ended.ordinal, ended.started_at, 1)


def test_a_child_s_end_ends_neither_its_parent_nor_the_run(story: Story, run: Run) -> None:
    parent = command("itm_000900", run)
    child = attrs.evolve(words("itm_000901", run, "Done."), parent_item_id=parent.id)
    story.hear(run, c.ObservedItem(item=parent), c.ObservedItem(item=child))
    assert (story.item(child).status, story.item(parent).status) == ("completed", "running")
    assert story.item(child).parent_item_id == parent.id
    assert story.run(run.id).status == "running"


def test_item_ordinals_go_on_over_runs(story: Story, run: Run) -> None:
    story.close(run)
    story.whole()
    ordinals = [item.ordinal for item in story.items().values()]
    assert ordinals == list(range(1, len(ordinals) + 1))


def test_text_for_an_item_that_is_not_live_changes_nothing(story: Story, run: Run) -> None:
    done = words("itm_000900", run, "Done.")
    story.hear(run, c.ObservedItem(item=done))
    for item_id in (done.id, "itm_999999"):
        late = c.ObservedText(item_id=item_id, field="text", text="more")
        assert story.ignores(c.Observe(run_id=run.id, attempt=1, observations=(late,)))


def test_usage_is_the_run_s_and_a_retry_counts_anew(story: Story, run: Run) -> None:
    usage = Usage(input_tokens=10, output_tokens=2)
    story.hear(run, c.ObservedUsage(usage=usage))
    assert story.run(run.id).usage == usage
    assert story.retry(story.close(run, "failed")).usage is None


def test_a_compaction_is_an_item_and_a_mark_and_leaves_coverage_as_it_is(story: Story, run: Run) -> None:
    story.hear(run, compaction("itm_000900", run))
    assert isinstance(story.items()["itm_000900"], CompactionItem)
    known = story.provider_thread()
    assert (known.compacted, known.native_run_ordinals, known.missing_item_ids) == (True, (1,), ())


def test_what_a_batch_says_is_taken_in_order(story: Story, run: Run) -> None:
    item = words("itm_000900", run, status="running")
    story.hear(
        run,
        c.ObservedItem(item=item),
        c.ObservedText(item_id=item.id, field="text", text="a"),
        c.ObservedText(item_id=item.id, field="text", text="b"),
        c.ObservedItem(item=attrs.evolve(item, status="completed")),
    )
    assert (story.item(item).status, story.item(item).text) == ("completed", "ab")
