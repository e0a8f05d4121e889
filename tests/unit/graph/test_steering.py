"""The user in the middle of a run: steering, restarting, interrupting, trying again."""

import pytest

from midstream.server.graph import commands as c
from midstream.server.graph.effects import ExecuteAttempt, InterruptTurn, SteerTurn
from support.graph import NO_CONTEXT, Story, accepting, message, permission, refusal, selecting, words


def steering(run_id: str) -> c.Command:
    return c.SteerRun(run_id=run_id, message=message("Also this."))


def restarting(run_id: str) -> c.Command:
    return c.RestartRun(run_id=run_id, message=message("Otherwise."), reason="steering_restart")


def interrupting(run_id: str) -> c.Command:
    return c.InterruptRun(run_id=run_id)


def retrying(run_id: str) -> c.Command:
    return c.RetryRun(run_id=run_id, selection=selecting("claude"), plan=NO_CONTEXT)


MIDDLE = pytest.mark.parametrize("command", [steering, restarting, interrupting])


@MIDDLE
def test_a_queued_run_cannot_be_steered_restarted_or_interrupted(story: Story, command) -> None:  # type: ignore[no-untyped-def]
    story.start()
    run = story.start()
    error = refusal(story, command(run.id))
    assert (error.kind, error.code, error.data) == ("invalidState", 4004, {"runId": run.id, "status": "queued"})


@MIDDLE
def test_a_terminal_run_cannot_be_steered_restarted_or_interrupted(story: Story, command) -> None:  # type: ignore[no-untyped-def]
    run = story.whole()
    error = refusal(story, command(run.id))
    assert (error.kind, error.code, error.data) == ("invalidState", 4004, {"runId": run.id, "status": "completed"})


@MIDDLE
def test_a_run_whose_turn_has_ended_is_ending(story: Story, command) -> None:  # type: ignore[no-untyped-def]
    run = story.end(story.go(story.start()))
    assert run.status == "running"
    assert "is ending" in refusal(story, command(run.id)).message


@MIDDLE
def test_a_run_that_is_not_there_is_not_found(story: Story, command) -> None:  # type: ignore[no-untyped-def]
    assert refusal(story, command("run_999999")).code == 4001


# Steering


def test_steered_words_are_on_their_way_until_the_provider_took_them(story: Story) -> None:
    run = story.go(story.start())
    said = story.steer(run, "Also this.")
    assert (said.status, said.intent, said.run_id) == ("pending", "steer", run.id)
    assert story.asked(SteerTurn) == [SteerTurn(run_id=run.id, attempt=1, message_item_id=said.id)]
    story.do(c.SettleSteer(run_id=run.id, item_id=said.id, taken=True))
    assert story.item(said).status == "completed"
    story.close(run)
    assert story.provider_thread().missing_item_ids == ()


@pytest.mark.parametrize("settled", [True, False])
def test_steered_words_that_were_never_taken_are_cancelled_and_missing(story: Story, settled: bool) -> None:
    run = story.go(story.start())
    said = story.steer(run, "Also this.")
    if settled:
        story.do(c.SettleSteer(run_id=run.id, item_id=said.id, taken=False))
    story.close(run)
    assert story.item(said).status == "cancelled"
    assert story.provider_thread().missing_item_ids == (said.id,)


def test_words_that_are_called_taken_after_the_end_stay_missing(story: Story) -> None:
    run = story.go(story.start())
    said = story.steer(run, "Also this.")
    story.end(run)
    assert story.ignores(c.SettleSteer(run_id=run.id, item_id=said.id, taken=True))
    assert story.provider_thread().missing_item_ids == (said.id,)


def test_words_that_a_lost_agent_may_have_taken_make_its_conversation_stale(story: Story) -> None:
    run = story.go(story.start())
    story.steer(run, "Also this.")
    story.close(run, "failed", lost=True)
    assert [reason.code for reason in story.provider_thread().stale_reasons] == ["delivery_uncertain"]


def test_words_that_no_agent_was_given_yet_are_not_doubted(story: Story) -> None:
    run = story.prepare(story.start())
    story.steer(run, "Also this.")
    story.close(run, "failed", lost=True)
    assert story.provider_thread().stale_reasons == ()


def test_words_steered_into_a_run_that_was_never_accepted_are_missing_nowhere(story: Story) -> None:
    run = story.prepare(story.start())
    said = story.steer(run, "Also this.")
    story.close(run, "failed")
    assert story.item(said).status == "cancelled"
    assert story.provider_thread().missing_item_ids == ()


# Restarting


def test_a_restart_interrupts_the_turn_and_adds_an_attempt_to_the_same_run(story: Story) -> None:
    run = story.go(story.start("This."))
    run = story.restart(run, "Otherwise.")
    assert [(attempt.ordinal, attempt.status, attempt.reason) for attempt in run.attempts] == [
        (1, "superseded", "initial"),
        (2, "pending", "steering_restart"),
    ]
    assert (run.status, run.ordinal, run.message.text) == ("running", 1, "This.")
    assert story.asked(InterruptTurn) == [InterruptTurn(run_id=run.id, attempt=1)]
    said = story.said("Otherwise.")
    assert story.asked(ExecuteAttempt)[-1] == ExecuteAttempt(run_id=run.id, attempt=2, message_item_ids=(said.id,))


def test_a_restart_before_acceptance_sends_both_messages(story: Story) -> None:
    run = story.prepare(story.start("This."))
    story.restart(run, "Otherwise.")
    both = (story.said("This.").id, story.said("Otherwise.").id)
    assert story.asked(ExecuteAttempt)[-1].message_item_ids == both


def test_words_after_a_restart_are_for_the_new_attempt_and_outlive_the_old_one(story: Story) -> None:
    run = story.go(story.start("This."))
    early = story.steer(run, "For the first.")
    run = story.restart(run, "Otherwise.")
    late = story.steer(run, "For the second.")
    assert story.asked(InterruptTurn) == [InterruptTurn(run_id=run.id, attempt=1)]
    assert story.asked(SteerTurn)[-1] == SteerTurn(run_id=run.id, attempt=2, message_item_id=late.id)
    story.end(run, "interrupted", attempt=1)
    assert (story.item(early).status, story.item(late).status) == ("cancelled", "pending")
    assert story.provider_thread().missing_item_ids == (early.id,)
    run = story.go(story.run(run.id))
    story.hear(run, c.ObservedSteer())
    assert story.item(late).status == "completed"
    story.close(run)
    assert late.id not in story.provider_thread().missing_item_ids


def test_what_a_superseded_attempt_takes_late_are_its_own_words(story: Story) -> None:
    run = story.restart(story.go(story.start("This.")), "Otherwise.")
    late = story.steer(run, "For the second.")
    story.hear(run, c.ObservedSteer(), attempt=1)
    assert story.item(late).status == "pending"


def test_an_interrupt_after_a_restart_is_for_the_new_attempt(story: Story) -> None:
    run = story.restart(story.go(story.start("This.")), "Otherwise.")
    assert story.do(interrupting(run.id)).effects == (InterruptTurn(run_id=run.id, attempt=2),)


def test_two_restarts_send_all_that_was_not_taken(story: Story) -> None:
    run = story.go(story.start("This."))
    story.restart(run, "Otherwise.")
    run = story.restart(run, "Or so.")
    assert [attempt.status for attempt in run.attempts] == ["superseded", "superseded", "pending"]
    unsent = (story.said("Otherwise.").id, story.said("Or so.").id)
    assert story.asked(ExecuteAttempt)[-1].message_item_ids == unsent


def test_the_old_attempt_s_tail_is_still_taken_down(story: Story) -> None:
    run = story.go(story.start())
    story.restart(run, "Otherwise.")
    said = words("itm_000900", run, "One more thing.")
    story.hear(run, c.ObservedItem(item=said), attempt=1)
    assert story.item(said).text == "One more thing."


def test_the_old_attempt_s_end_does_not_end_the_run(story: Story) -> None:
    run = story.go(story.start())
    live = words("itm_000900", run, status="running")
    story.hear(run, c.ObservedItem(item=live))
    story.restart(run, "Otherwise.")
    run = story.end(run, "interrupted", attempt=1)
    assert [attempt.status for attempt in run.attempts] == ["superseded", "pending"]
    assert run.status == "running"
    assert story.item(live).status == "interrupted"
    assert story.ignores(c.FinishRun(run_id=run.id, attempt=1, checkpoint=None))


def test_the_new_attempt_s_end_ends_the_run(story: Story) -> None:
    run = story.go(story.start())
    story.restart(run, "Otherwise.")
    story.end(run, "interrupted", attempt=1)
    run = story.close(story.go(run))
    assert (run.status, [attempt.status for attempt in run.attempts]) == ("completed", ["superseded", "completed"])
    assert story.provider_thread().native_run_ordinals == (1,)


def test_an_old_attempt_is_not_accepted_any_more(story: Story) -> None:
    run = story.send(story.prepare(story.start()))
    late = accepting(run)
    story.restart(run, "Otherwise.")
    assert story.ignores(late)


def test_a_message_that_was_on_its_way_when_the_run_restarted_is_doubted(story: Story) -> None:
    """The new attempt says it again: it must not do so to the conversation that may have it already."""
    run = story.send(story.prepare(story.start()))
    story.restart(run, "Otherwise.")
    story.end(run, "interrupted", attempt=1)
    assert [reason.code for reason in story.provider_thread().stale_reasons] == ["delivery_uncertain"]


def test_words_of_a_restart_that_no_provider_took_are_missing_once_the_next_run_begins(story: Story) -> None:
    run = story.go(story.start("This."))
    story.restart(run, "Otherwise.")
    story.end(run, "interrupted", attempt=1)
    story.close(run, "failed")
    assert story.provider_thread().missing_item_ids == ()
    story.start("Next.")
    assert story.provider_thread().missing_item_ids == (story.said("Otherwise.").id,)


def test_words_of_a_restart_that_no_provider_took_are_sent_by_a_retry(story: Story) -> None:
    run = story.go(story.start("This."))
    story.restart(run, "Otherwise.")
    story.end(run, "interrupted", attempt=1)
    story.retry(story.close(run, "failed"))
    assert story.asked(ExecuteAttempt)[-1].message_item_ids == (story.said("Otherwise.").id,)
    story.close(story.go(run))
    story.start("Next.")
    assert story.provider_thread().missing_item_ids == ()


# Interrupting


def test_a_run_is_not_interrupted_because_it_was_asked_for(story: Story) -> None:
    run = story.go(story.start())
    decision = story.do(interrupting(run.id))
    assert story.run(run.id).status == "running"
    assert story.run(run.id).interrupt_requested_at is not None
    assert decision.effects == (InterruptTurn(run_id=run.id, attempt=1),)
    assert story.close(run, "completed").status == "completed"


def test_a_run_that_is_interrupted_again_is_told_again_and_changes_no_more(story: Story) -> None:
    run = story.go(story.start())
    story.do(interrupting(run.id))
    again = story.do(interrupting(run.id))
    assert again.events == ()
    assert again.effects == (InterruptTurn(run_id=run.id, attempt=1),)


def test_a_run_can_be_interrupted_before_it_was_sent(story: Story) -> None:
    run = story.start()
    story.do(interrupting(run.id))
    assert story.close(run, "interrupted").status == "interrupted"
    assert len(story.state.provider_threads) == 0


def test_a_restart_takes_an_interrupt_back(story: Story) -> None:
    run = story.go(story.start())
    story.do(interrupting(run.id))
    assert story.restart(run, "Otherwise.").interrupt_requested_at is None


# Trying again


@pytest.mark.parametrize("status", ["failed", "interrupted"])
def test_a_retry_is_a_new_attempt_of_the_same_run(story: Story, status) -> None:  # type: ignore[no-untyped-def]
    run = story.close(story.go(story.start()), status)
    run = story.retry(run)
    assert (run.status, run.ordinal, run.failure, run.completed_at) == ("starting", 1, None, None)
    assert [(attempt.status, attempt.reason) for attempt in run.attempts] == [(status, "initial"), ("pending", "retry")]
    assert story.asked(ExecuteAttempt)[-1] == ExecuteAttempt(run_id=run.id, attempt=2, message_item_ids=())
    assert story.close(story.go(run)).status == "completed"


def test_a_retry_before_acceptance_sends_the_same_message_item(story: Story) -> None:
    run = story.close(story.prepare(story.start("This.")), "failed")
    story.retry(run)
    assert story.asked(ExecuteAttempt)[-1].message_item_ids == (story.said("This.").id,)


def test_a_retry_may_go_to_another_provider(story: Story) -> None:
    run = story.close(story.go(story.start(provider="claude")), "failed")
    run = story.retry(run, "codex")
    assert (run.provider, run.selection.provider, story.thread.selection.provider) == ("codex", "codex", "codex")


@pytest.mark.parametrize("status", ["starting", "running", "completed"])
def test_only_a_failed_or_interrupted_run_can_be_retried(story: Story, status: str) -> None:
    run = story.start()
    if status != "starting":
        story.go(run)
    if status == "completed":
        story.close(run)
    error = refusal(story, retrying(run.id))
    assert (error.code, error.data) == (4004, {"runId": run.id, "status": status})


def test_only_the_last_started_run_can_be_retried(story: Story) -> None:
    failed = story.whole(status="failed")
    story.whole()
    assert "not the thread's last" in refusal(story, retrying(failed.id)).message


def test_a_run_is_not_retried_while_another_is_active(story: Story) -> None:
    failed = story.whole(status="failed")
    story.start()
    assert refusal(story, retrying(failed.id)).kind == "invalidState"


def test_a_run_that_held_the_queue_is_retried_ahead_of_it(story: Story) -> None:
    run = story.go(story.start())
    waiting = story.start()
    run = story.retry(story.close(run, "failed"))
    story.close(story.go(run))
    assert story.thread.queue_held
    assert story.run(waiting.id).status == "queued"


def test_a_request_of_the_old_attempt_is_closed_with_it(story: Story) -> None:
    run = story.go(story.start())
    asked = permission(story, run)
    story.hear(run, asked)
    story.restart(run, "Otherwise.")
    story.end(run, "interrupted", attempt=1)
    assert story.request(asked.request).status == "cancelled"
    assert story.run(run.id).status == "running"


def test_refused_words_are_missing_at_once_and_never_taken_for_those_that_were(story: Story) -> None:
    run = story.go(story.start())
    refused, taken = story.steer(run, "refused"), story.steer(run, "taken")
    story.do(c.SettleSteer(run_id=run.id, item_id=refused.id, taken=False))
    assert story.item(refused).status == "cancelled"
    assert story.provider_thread().missing_item_ids == (refused.id,)
    story.hear(run, c.ObservedSteer())
    assert story.item(taken).status == "completed"
    story.close(run)
    assert story.provider_thread().missing_item_ids == (refused.id,)
