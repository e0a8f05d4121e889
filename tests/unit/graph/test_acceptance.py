"""An attempt's way to its turn, and the line that acceptance is: before it nothing is covered, after it all is."""

import pytest

from midstream.protocol.records.handoff import ContextTransfer, Delivery, HandoffInfo
from midstream.protocol.records.item import HandoffItem
from midstream.server.graph import commands as c
from midstream.server.graph.events import CheckpointPut, HandoffPut
from support.graph import (
    REASON,
    Story,
    accepting,
    binding,
    checkpoint,
    compaction,
    fixing,
    handoff,
    permission,
    sending,
)


def transfer_of(story: Story, handoff_id: str) -> ContextTransfer:
    return story.state.transfers[story.state.handoffs[handoff_id].transfer_id or ""]


def delivery_of(story: Story, handoff_id: str) -> Delivery:
    delivery = story.state.handoffs[handoff_id].delivery
    assert delivery is not None
    return delivery


# The baseline


def test_the_files_before_a_run_are_its_baseline(story: Story) -> None:
    run = story.start()
    before = checkpoint("ckp_000500", run, "baseline")
    story.do(c.AttachBaseline(run_id=run.id, checkpoint=before))
    assert story.run(run.id).baseline_checkpoint_id == before.id
    assert story.state.latest_checkpoint_id == before.id


def test_an_unchanged_workspace_needs_no_checkpoint_of_its_own(story: Story) -> None:
    first = story.whole()
    left = story.state.checkpoints[first.checkpoint_id or ""]
    run = story.start()
    decision = story.do(c.AttachBaseline(run_id=run.id, checkpoint=left))
    assert story.run(run.id).baseline_checkpoint_id == left.id
    assert not any(isinstance(event, CheckpointPut) for event in decision.events)


def test_a_baseline_that_could_not_be_taken_is_noted_but_none(story: Story) -> None:
    run = story.start()
    story.do(c.AttachBaseline(run_id=run.id, checkpoint=checkpoint("ckp_000500", run, "baseline", "error")))
    assert story.run(run.id).baseline_checkpoint_id is None
    assert story.state.checkpoints["ckp_000500"].status == "error"
    assert story.state.latest_checkpoint_id is None


def test_a_retry_keeps_the_baseline_of_the_first_attempt(story: Story) -> None:
    run = story.close(story.go(story.start()), "failed")
    story.retry(run)
    assert story.ignores(c.AttachBaseline(run_id=run.id, checkpoint=checkpoint("ckp_000500", run, "baseline")))


# The plan and its handoffs


def test_a_fixed_plan_gives_each_handoff_a_transfer_to_this_run(story: Story) -> None:
    first = story.whole(provider="claude")
    run = story.start(provider="codex")
    story.do(fixing(run, handoff("hof_1", 1)))
    run = story.run(run.id)
    transfer = transfer_of(story, "hof_1")
    assert (run.handoff_ids, run.context_handoff_id, run.transfer_ids) == (("hof_1",), "hof_1", (transfer.id,))
    assert (transfer.status, transfer.target_run_id, transfer.consumed_at) == ("resolved_portable", run.id, None)
    assert (transfer.source_provider, transfer.target_provider) == ("claude", "codex")
    assert (transfer.source_point.run_id, transfer.source_point.provider_thread_id) == (first.id, "pth_claude")


def test_a_handoff_is_meant_for_the_conversation_that_the_attempt_got(story: Story) -> None:
    story.prepare(story.start(), handoff("hof_1", 1), on="pth_new")
    assert story.state.handoffs["hof_1"].to_provider_thread_id == "pth_new"


def test_a_second_plan_supersedes_what_it_no_longer_sends(story: Story) -> None:
    run = story.start()
    story.do(fixing(run, handoff("hof_1", 1)))
    old = transfer_of(story, "hof_1")
    story.do(fixing(run, handoff("hof_2", 1, 2)))
    superseded = story.state.handoffs["hof_1"]
    assert (superseded.status, superseded.superseded_by) == ("superseded", "hof_2")
    assert story.state.transfers[old.id].status == "superseded"
    assert story.run(run.id).handoff_ids == ("hof_2",)


def test_a_plan_is_not_fixed_for_an_attempt_that_is_not_the_latest(story: Story) -> None:
    run = story.start()
    story.restart(run, "Otherwise.")
    assert story.ignores(fixing(run, handoff("hof_1", 1)))


# The conversation


def test_an_attempt_gets_its_conversation_which_is_the_thread_s_from_then_on(story: Story) -> None:
    run = story.prepare(story.start(provider="codex"))
    assert run.provider_thread_id == run.attempts[-1].provider_thread_id == "pth_codex"
    assert story.thread.active_provider_thread_id == "pth_codex"
    known = story.provider_thread("codex")
    assert (known.provider, known.native_ref, known.status) == ("codex", "native-pth_codex", "idle")
    assert known.selection == run.selection


def test_a_provider_thread_is_used_again_with_all_that_it_covers(story: Story) -> None:
    story.whole()
    story.whole()
    assert list(story.state.provider_threads) == ["pth_claude"]
    known = story.provider_thread()
    assert (known.first_run_ordinal, known.last_run_ordinal, known.native_run_ordinals) == (1, 2, (1, 2))


def test_a_conversation_that_cannot_be_resumed_is_stale_for_a_reason(story: Story) -> None:
    story.whole()
    story.do(c.FailResume(provider_thread_id="pth_claude", reason=REASON))
    assert (story.provider_thread().status, story.provider_thread().stale_reasons) == ("error", (REASON,))


# Sending and acceptance


def test_before_acceptance_nothing_is_covered(story: Story) -> None:
    run = story.send(story.prepare(story.start(), handoff("hof_1", 1)))
    known = story.provider_thread()
    assert (known.status, known.native_run_ordinals, known.handoff_ids) == ("active", (), ())
    assert (known.first_run_ordinal, known.last_run_ordinal) == (None, None)
    assert delivery_of(story, "hof_1") == Delivery(
        native_thread_ref="native-pth_claude", channel="embeddedResource", status="pending", sha256="sha-hof_1"
    )
    assert transfer_of(story, "hof_1").status == "resolved_portable"
    assert (run.status, run.attempts[-1].status) == ("starting", "pending")


def test_sending_without_a_handoff_is_noted_too(story: Story) -> None:
    story.send(story.prepare(story.start()))
    assert story.provider_thread().status == "active"


def test_acceptance_covers_the_run_and_delivers_its_handoffs_in_one_decision(story: Story) -> None:
    run = story.send(story.prepare(story.start(), handoff("hof_1", 1), handoff("hof_2", 2)))
    story.accept(run)
    known = story.provider_thread()
    assert known.native_run_ordinals == (1,)
    assert known.handoff_ids == ("hof_1", "hof_2")
    for handoff_id in known.handoff_ids:
        assert delivery_of(story, handoff_id).status == "delivered"
        transfer = transfer_of(story, handoff_id)
        assert (transfer.status, transfer.target_run_id) == ("consumed", run.id)
        assert transfer.consumed_at is not None
    run = story.run(run.id)
    assert (run.status, run.attempts[-1].status, run.attempts[-1].provider_turn_id) == (
        "running",
        "running",
        "turn-1-1",
    )


def test_a_delivered_handoff_is_an_item_of_its_run(story: Story) -> None:
    story.whole(provider="claude")
    run = story.go(story.start(provider="codex"), handoff("hof_1", 1))
    (item,) = [item for item in story.items().values() if isinstance(item, HandoffItem)]
    assert (item.run_id, item.handoff_id, item.transfer_id) == (run.id, "hof_1", transfer_of(story, "hof_1").id)
    assert (item.from_providers, item.to_provider) == (("claude",), "codex")


def test_a_turn_is_accepted_once(story: Story) -> None:
    run = story.go(story.start(), handoff("hof_1", 1))
    assert story.ignores(accepting(run))


def test_a_turn_that_asked_before_it_was_accepted_still_waits(story: Story) -> None:
    run = story.send(story.prepare(story.start()))
    story.hear(run, permission(story, run))
    assert story.accept(run).status == "waiting"


def test_an_attempt_without_a_conversation_cannot_be_sent_or_accepted(story: Story) -> None:
    run = story.start()
    assert story.ignores(sending(run, story.state))
    assert story.ignores(accepting(run))


def test_a_retry_without_a_conversation_of_its_own_covers_nothing_on_the_old_one(story: Story) -> None:
    run = story.prepare(story.start())
    run = story.retry(story.close(run, "failed"))
    assert story.ignores(sending(run, story.state))
    assert story.ignores(accepting(run))


@pytest.mark.parametrize("step", ["plan", "conversation", "sending"])
def test_what_was_accepted_is_not_prepared_anew(story: Story, step: str) -> None:
    run = story.go(story.start(), handoff("hof_1", 1))
    again: c.Command
    match step:
        case "plan":
            again = fixing(run, handoff("hof_2", 1))
        case "conversation":
            again = binding(run, "pth_other")
        case _:
            again = c.MarkDelivering(run_id=run.id, attempt=1, channel="embeddedResource", sha256={"hof_1": "other"})
    assert story.ignores(again)


def test_a_run_accepted_but_failed_is_covered_all_the_same(story: Story) -> None:
    story.close(story.go(story.start(), handoff("hof_1", 1)), "failed")
    assert story.provider_thread().native_run_ordinals == (1,)
    assert story.provider_thread().handoff_ids == ("hof_1",)


def test_a_run_that_failed_before_acceptance_is_covered_nowhere(story: Story) -> None:
    run = story.close(story.prepare(story.start(), handoff("hof_1", 1)), "failed")
    assert run.status == "failed"
    assert story.provider_thread().native_run_ordinals == ()
    assert story.state.handoffs["hof_1"].delivery is None


def test_a_retry_sends_an_unsent_handoff_again_byte_for_byte(story: Story) -> None:
    run = story.send(story.prepare(story.start(), handoff("hof_1", 1)))
    run = story.retry(story.close(run, "failed"))
    run = story.go(run, keep=("hof_1",))
    told = story.state.handoffs["hof_1"]
    assert (told.status, told.superseded_by, delivery_of(story, "hof_1").status) == ("ready", None, "delivered")
    assert run.handoff_ids == story.provider_thread().handoff_ids == ("hof_1",)
    texts = [event.content.sent_text for event in story.events if isinstance(event, HandoffPut) and event.content]
    assert texts == ["<(1,)>"]


def test_a_retry_supersedes_an_unsent_handoff_that_is_no_longer_meant(story: Story) -> None:
    run = story.send(story.prepare(story.start(), handoff("hof_1", 1)))
    run = story.retry(story.close(run, "failed"))
    story.go(run, handoff("hof_2", 1), on="pth_fresh")
    old: HandoffInfo = story.state.handoffs["hof_1"]
    assert (old.status, old.superseded_by) == ("superseded", "hof_2")
    assert transfer_of(story, "hof_1").status == "superseded"
    assert story.state.provider_threads["pth_fresh"].handoff_ids == ("hof_2",)


def test_a_retry_into_another_conversation_takes_the_unsent_handoff_there(story: Story) -> None:
    run = story.send(story.prepare(story.start(), handoff("hof_1", 1)))
    run = story.retry(story.close(run, "failed"))
    story.go(run, keep=("hof_1",), on="pth_fresh")
    assert story.state.handoffs["hof_1"].to_provider_thread_id == "pth_fresh"
    assert delivery_of(story, "hof_1").native_thread_ref == "native-pth_fresh"


def test_a_retry_keeps_a_delivered_handoff_as_it_was(story: Story) -> None:
    run = story.close(story.go(story.start(), handoff("hof_1", 1)), "failed")
    delivered = story.state.handoffs["hof_1"]
    run = story.retry(run)
    story.go(run, handoff("hof_2", 1))
    assert story.state.handoffs["hof_1"] == delivered
    assert story.provider_thread().handoff_ids == ("hof_1", "hof_2")
    assert story.provider_thread().native_run_ordinals == (1,)


def test_a_handoff_makes_up_for_missing_items_and_a_compaction(story: Story) -> None:
    run = story.go(story.start())
    story.hear(run, compaction("itm_000900", run))
    story.steer(run, "Also this.")
    story.close(run)
    assert story.provider_thread().missing_item_ids
    assert story.provider_thread().compacted
    story.go(story.start(), handoff("hof_1", 1))
    assert story.provider_thread().missing_item_ids == ()
    assert story.provider_thread().compacted is None


def test_a_run_without_a_handoff_leaves_missing_what_is_missing(story: Story) -> None:
    run = story.go(story.start())
    lost = story.steer(run, "Also this.")
    story.close(run)
    story.go(story.start())
    assert story.provider_thread().missing_item_ids == (lost.id,)
