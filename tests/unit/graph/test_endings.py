"""How turns and runs end, and what a conversation misses of them."""

import pytest

from midstream.server.graph import commands as c
from midstream.server.graph.effects import ExecuteAttempt
from support.graph import (
    FAILURE,
    Story,
    accepting,
    binding,
    checkpoint,
    command,
    ending,
    fixing,
    handoff,
    permission,
    sending,
    session,
    thought,
    words,
)

OUTCOMES = pytest.mark.parametrize("status", ["completed", "interrupted", "failed"])


@OUTCOMES
def test_a_run_ends_as_its_turn_did_once_its_files_are_captured(story: Story, status) -> None:  # type: ignore[no-untyped-def]
    run = story.end(story.go(story.start()), status)
    assert run.status == "running"
    assert (run.attempts[-1].status, run.completed_at) == (status, None)
    assert story.state.active_run_id == run.id
    run = story.finish(run)
    assert run.status == status
    assert story.state.active_run_id is None
    assert story.thread.status == "idle"
    assert run.completed_at is not None
    assert run.failure == (FAILURE if status == "failed" else None)


def test_why_an_attempt_failed_stays_in_the_run_when_it_is_tried_again(story: Story) -> None:
    run = story.whole(status="failed")
    run = story.retry(run)
    assert run.failure is None
    (item,) = [item for item in story.items().values() if item.type == "error"]
    assert (item.run_id, item.message, item.failure) == (run.id, FAILURE.message, FAILURE)


def test_a_run_is_not_finished_before_its_turn_ended(story: Story) -> None:
    run = story.go(story.start())
    assert story.ignores(c.FinishRun(run_id=run.id, attempt=1, checkpoint=checkpoint("ckp_000500", run, "run")))


def test_the_files_after_a_run_are_its_checkpoint_and_an_item(story: Story) -> None:
    run = story.whole()
    assert run.checkpoint_id == story.state.latest_checkpoint_id
    (item,) = [item for item in story.items().values() if item.type == "checkpoint"]
    assert (item.run_id, item.checkpoint_id, item.status) == (run.id, run.checkpoint_id, "completed")


def test_a_run_whose_files_could_not_be_captured_ends_without_a_checkpoint(story: Story) -> None:
    run = story.end(story.go(story.start()))
    before = story.state.latest_checkpoint_id
    failed = checkpoint("ckp_000500", run, "run", "error")
    story.do(c.FinishRun(run_id=run.id, attempt=1, checkpoint=failed))
    assert (story.run(run.id).status, story.run(run.id).checkpoint_id) == ("completed", None)
    assert story.state.latest_checkpoint_id == before
    assert list(story.items().values())[-1].status == "failed"


@pytest.mark.parametrize("kind", ["safety", "subagent"])
def test_a_checkpoint_beside_the_workspace_s_own_is_not_the_latest(story: Story, kind) -> None:  # type: ignore[no-untyped-def]
    run = story.start()
    story.do(c.AttachBaseline(run_id=run.id, checkpoint=checkpoint("ckp_000500", run, kind)))
    assert story.state.latest_checkpoint_id is None


# Terminal absorbs


@OUTCOMES
def test_nothing_late_changes_a_run_that_is_over(story: Story, status) -> None:  # type: ignore[no-untyped-def]
    run = story.go(story.start())
    asked = permission(story, run)
    story.hear(run, asked)
    live = words("itm_000900", run, status="running")
    story.hear(run, c.ObservedItem(item=live))
    run = story.close(run, status)
    before = story.state
    late: tuple[c.Command, ...] = (
        c.AttachBaseline(run_id=run.id, checkpoint=checkpoint("ckp_000900", run, "baseline")),
        fixing(run),
        binding(run, "pth_other"),
        sending(run, story.state),
        accepting(run),
        c.Observe(run_id=run.id, attempt=1, observations=(c.ObservedItem(item=words("itm_000901", run, "Late.")),)),
        c.Observe(run_id=run.id, attempt=1, observations=(c.ObservedText(item_id=live.id, field="text", text="L"),)),
        c.Observe(run_id=run.id, attempt=1, observations=(permission(story, run),)),
        c.Observe(run_id=run.id, attempt=1, observations=(c.ObservedWithdrawal(request_id=asked.request.id),)),
        c.SettleSteer(run_id=run.id, item_id=live.id, taken=True),
        ending(run, "failed", lost=True),
        c.FinishRun(run_id=run.id, attempt=1, checkpoint=checkpoint("ckp_000901", run, "run")),
        c.ExpireRequests(run_id=run.id),
        c.RecoverThread(),
    )
    story.do(c.UpdateSession(session=session("claude", "stopped")))
    before = story.state
    for word in late:
        assert story.ignores(word), word
    assert story.state == before


@pytest.mark.parametrize("status", ["completed", "interrupted"])
def test_nothing_late_changes_a_turn_that_is_over_while_its_run_is_ending(story: Story, status) -> None:  # type: ignore[no-untyped-def]
    run = story.go(story.start())
    story.end(run, status)
    for late in (c.ObservedItem(item=words("itm_000900", run, status="running")), permission(story, run)):
        assert story.ignores(c.Observe(run_id=run.id, attempt=1, observations=(late,)))
    assert story.ignores(ending(run, "failed", lost=True))
    assert story.finish(run).status == status


def test_a_restarted_attempt_s_tail_changes_nothing_once_the_new_one_ended(story: Story) -> None:
    run = story.go(story.start())
    story.restart(run, "Otherwise.")
    story.end(story.go(run))
    late = c.ObservedItem(item=words("itm_000900", run, status="running"))
    assert story.ignores(c.Observe(run_id=run.id, attempt=1, observations=(late,)))


def test_words_for_a_run_that_is_not_there_change_nothing(story: Story) -> None:
    run = story.go(story.start())
    late = c.ObservedItem(item=words("itm_000900", run))
    assert story.ignores(c.Observe(run_id="run_999999", attempt=1, observations=(late,)))
    assert story.ignores(c.Observe(run_id=run.id, attempt=2, observations=(late,)))
    assert story.ignores(c.EndTurn(run_id="run_999999", attempt=1, status="failed", failure=None, lost=True))
    assert story.ignores(c.EndTurn(run_id=run.id, attempt=2, status="failed", failure=None, lost=True))


def test_the_end_of_one_run_is_not_the_end_of_the_next(story: Story) -> None:
    first = story.go(story.start())
    second = story.start()
    story.close(first)
    assert story.ignores(ending(first, "failed"))
    assert story.run(second.id).status == "starting"


# What an ended turn leaves


def test_a_completed_turn_completes_what_was_said_and_interrupts_what_was_being_done(story: Story) -> None:
    run = story.go(story.start())
    said, done = words("itm_000900", run, status="running"), command("itm_000901", run)
    story.hear(run, c.ObservedItem(item=said), c.ObservedItem(item=done))
    story.end(run, "completed")
    assert (story.item(said).status, story.item(done).status) == ("completed", "interrupted")
    assert len(story.state.live_items) == 0


@pytest.mark.parametrize("status", ["interrupted", "failed"])
def test_a_turn_that_broke_off_leaves_its_items_broken_off_with_their_text(story: Story, status) -> None:  # type: ignore[no-untyped-def]
    run = story.go(story.start())
    said = words("itm_000900", run, status="running")
    story.hear(run, c.ObservedItem(item=said), c.ObservedText(item_id=said.id, field="text", text="I will"))
    story.end(run, status)
    assert (story.item(said).status, story.item(said).text) == (status, "I will")


def test_an_ended_turn_cancels_what_it_still_asked(story: Story) -> None:
    run = story.go(story.start())
    asked = permission(story, run)
    story.hear(run, asked)
    story.end(run, "failed")
    assert (story.request(asked.request).status, story.item(asked.item).status) == ("cancelled", "cancelled")
    assert story.state.pending_requests == ()


def test_an_ended_turn_leaves_its_conversation_idle_and_a_lost_one_not_loaded(story: Story) -> None:
    run = story.go(story.start())
    assert story.provider_thread().status == "active"
    story.close(run)
    assert story.provider_thread().status == "idle"
    story.close(story.go(story.start()), "failed", lost=True)
    assert story.provider_thread().status == "not_loaded"


# What a conversation misses


def test_a_turn_that_ended_in_order_misses_nothing(story: Story) -> None:
    run = story.go(story.start())
    story.hear(run, c.ObservedItem(item=command("itm_000900", run)))
    story.close(run, "interrupted")
    assert story.provider_thread().missing_item_ids == ()


def test_items_of_a_lost_turn_that_had_not_ended_are_missing(story: Story) -> None:
    run = story.go(story.start())
    ended, live = words("itm_000900", run, "Yes."), command("itm_000901", run)
    thinking = thought("itm_000902", run, "running")
    story.hear(run, *(c.ObservedItem(item=item) for item in (ended, live, thinking)))
    story.close(run, "failed", lost=True)
    assert story.provider_thread().missing_item_ids == (live.id,)


def test_a_turn_lost_before_acceptance_misses_nothing_since_nothing_is_covered(story: Story) -> None:
    run = story.prepare(story.start())
    story.hear(run, c.ObservedItem(item=command("itm_000900", run)))
    story.close(run, "failed", lost=True)
    assert story.provider_thread().missing_item_ids == ()


def test_a_turn_lost_after_a_restart_misses_what_the_old_attempt_left_open(story: Story) -> None:
    run = story.go(story.start())
    live = command("itm_000900", run)
    story.hear(run, c.ObservedItem(item=live))
    story.restart(run, "Otherwise.")
    story.end(run, "interrupted", lost=True, attempt=1)
    assert story.provider_thread().missing_item_ids == (live.id,)


def test_a_retry_on_another_provider_is_missing_in_the_first_conversation(story: Story) -> None:
    run = story.go(story.start(provider="claude"))
    first = words("itm_000900", run, "By Claude.")
    story.hear(run, c.ObservedItem(item=first))
    story.close(run, "failed")
    run = story.go(story.retry(run, "codex"))
    second, thinking = words("itm_000901", run, "By Codex."), thought("itm_000902", run)
    story.hear(run, c.ObservedItem(item=second), c.ObservedItem(item=thinking))
    story.close(run)
    assert story.provider_thread("claude").missing_item_ids == (second.id,)
    assert story.provider_thread("codex").missing_item_ids == ()
    assert story.provider_thread("codex").native_run_ordinals == (1,)


def test_retries_to_and_fro_leave_each_conversation_missing_the_other_s_part(story: Story) -> None:
    run = story.start(provider="claude")
    said = []
    for step, provider in enumerate(("claude", "codex", "claude")):
        run = run if step == 0 else story.retry(run, provider)
        run = story.go(run)
        item = words(f"itm_00090{step}", run, provider)
        story.hear(run, c.ObservedItem(item=item))
        run = story.close(run, "failed")
        said.append(item.id)
    errors = [item.id for item in story.items().values() if item.type == "error"]
    assert set(story.provider_thread("claude").missing_item_ids) == {said[1], errors[1]}
    assert set(story.provider_thread("codex").missing_item_ids) == {said[2], errors[2]}


def test_words_that_a_retry_brought_elsewhere_are_missing_in_the_first_conversation(story: Story) -> None:
    run = story.go(story.start("This."))
    story.restart(run, "Otherwise.")
    story.end(run, "interrupted", attempt=1)
    story.close(run, "failed")
    story.close(story.go(story.retry(run, "codex")))
    assert story.provider_thread("claude").missing_item_ids == (story.said("Otherwise.").id,)


# Doubt


def test_a_message_that_was_on_its_way_when_its_agent_died_is_doubted(story: Story) -> None:
    run = story.send(story.prepare(story.start(), handoff("hof_1", 1)))
    story.close(run, "failed", lost=True)
    delivery = story.state.handoffs["hof_1"].delivery
    assert delivery is not None
    assert delivery.status == "uncertain"
    assert [reason.code for reason in story.provider_thread().stale_reasons] == ["delivery_uncertain"]


def test_a_message_that_its_agent_refused_is_not_doubted(story: Story) -> None:
    run = story.send(story.prepare(story.start()))
    story.close(run, "failed")
    assert story.provider_thread().stale_reasons == ()


def test_an_accepted_turn_that_is_lost_is_not_doubted(story: Story) -> None:
    story.close(story.go(story.start()), "failed", lost=True)
    assert story.provider_thread().stale_reasons == ()


def test_ordinals_of_runs_are_never_used_again(story: Story) -> None:
    runs = [story.whole(status=status) for status in ("completed", "interrupted", "failed")]
    retried = story.close(story.go(story.retry(runs[-1])))
    assert [run.ordinal for run in (*runs, retried, story.whole())] == [1, 2, 3, 3, 4]
    assert len(story.asked(ExecuteAttempt)) == 5
