"""What a crash leaves is put right, and nothing goes on by itself."""

import pytest

from midstream.protocol.records.run import Run
from midstream.server.graph import commands as c
from midstream.server.graph.effects import ExecuteAttempt
from support.graph import YES, Story, command, handoff, permission, session, words


def stale(story: Story) -> list[str]:
    return [reason.code for reason in story.provider_thread().stale_reasons]


def delivery(story: Story, handoff_id: str) -> str | None:
    delivery = story.state.handoffs[handoff_id].delivery
    return delivery.status if delivery else None


def recovered(story: Story, run: Run) -> Run:
    story.do(c.RecoverThread())
    return story.run(run.id)


def test_a_thread_at_rest_has_nothing_to_put_right(story: Story) -> None:
    story.whole()
    story.do(c.UpdateSession(session=session("claude", "stopped")))
    assert story.ignores(c.RecoverThread())


def test_recovering_twice_changes_nothing_more(story: Story) -> None:
    story.start()
    story.start()
    story.do(c.RecoverThread())
    assert story.ignores(c.RecoverThread())


def test_an_active_run_is_interrupted_with_the_text_so_far(story: Story) -> None:
    run = story.go(story.start())
    said, done = words("itm_000900", run, status="running"), command("itm_000901", run)
    story.hear(run, c.ObservedItem(item=said), c.ObservedItem(item=done))
    story.hear(run, c.ObservedText(item_id=said.id, field="text", text="I wi"))
    run = recovered(story, run)
    assert (run.status, run.attempts[-1].status, story.thread.status) == ("interrupted", "interrupted", "idle")
    assert (story.item(said).status, story.item(said).text) == ("interrupted", "I wi")
    assert story.provider_thread().missing_item_ids == (said.id, done.id)


def test_requests_expire_with_their_items(story: Story) -> None:
    run = story.go(story.start())
    asked = permission(story, run, YES)
    story.hear(run, asked)
    assert recovered(story, run).status == "interrupted"
    assert (story.request(asked.request).status, story.item(asked.item).status) == ("expired", "cancelled")


def test_the_queue_is_held_until_the_user_resumes_it(story: Story) -> None:
    run = story.go(story.start())
    waiting = story.start()
    asked = len(story.asked(ExecuteAttempt))
    recovered(story, run)
    assert story.thread.queue_held
    assert story.run(waiting.id).status == "queued"
    assert len(story.asked(ExecuteAttempt)) == asked
    story.do(c.ResumeQueue())
    assert story.run(waiting.id).status == "starting"


@pytest.mark.parametrize("status", ["completed", "failed", "interrupted"])
def test_an_attempt_that_had_ended_keeps_its_end(story: Story, status) -> None:  # type: ignore[no-untyped-def]
    run = story.end(story.go(story.start()), status)
    failure = run.failure
    run = recovered(story, run)
    assert (run.status, run.attempts[-1].status, run.failure) == (status, status, failure)
    assert story.provider_thread().missing_item_ids == ()


def test_a_message_that_was_on_its_way_is_doubted(story: Story) -> None:
    recovered(story, story.send(story.prepare(story.start(), handoff("hof_1", 1))))
    assert (delivery(story, "hof_1"), stale(story)) == ("uncertain", ["delivery_uncertain"])
    assert story.provider_thread().native_run_ordinals == ()


def test_a_message_alone_is_doubted_too(story: Story) -> None:
    recovered(story, story.send(story.prepare(story.start())))
    assert stale(story) == ["delivery_uncertain"]


def test_a_message_that_was_not_on_its_way_is_not_doubted(story: Story) -> None:
    recovered(story, story.prepare(story.start(), handoff("hof_1", 1)))
    assert (delivery(story, "hof_1"), stale(story)) == (None, [])


def test_a_message_that_was_accepted_is_not_doubted(story: Story) -> None:
    recovered(story, story.go(story.start(), handoff("hof_1", 1)))
    assert (delivery(story, "hof_1"), stale(story)) == ("delivered", [])


def test_a_retry_that_was_on_its_way_is_doubted_although_the_first_attempt_was_accepted(story: Story) -> None:
    run = story.close(story.go(story.start()), "failed")
    recovered(story, story.send(story.prepare(story.retry(run))))
    assert stale(story) == ["delivery_uncertain"]


def test_a_restart_that_was_on_its_way_is_doubted_although_the_first_attempt_was_accepted(story: Story) -> None:
    run = story.go(story.start())
    story.restart(run, "Otherwise.")
    story.end(run, "interrupted", attempt=1)
    recovered(story, story.send(story.prepare(run)))
    assert stale(story) == ["delivery_uncertain"]


def test_a_restart_before_the_old_attempt_ended_loses_nothing_of_it(story: Story) -> None:
    run = story.go(story.start())
    live = command("itm_000900", run)
    story.hear(run, c.ObservedItem(item=live))
    story.restart(run, "Otherwise.")
    run = recovered(story, run)
    assert [attempt.status for attempt in run.attempts] == ["superseded", "interrupted"]
    assert (run.status, story.item(live).status) == ("interrupted", "interrupted")
    assert story.provider_thread().missing_item_ids == (live.id,)
    assert stale(story) == []


def test_a_restart_of_a_message_that_was_on_its_way_doubts_it_after_a_crash(story: Story) -> None:
    run = story.send(story.prepare(story.start(), handoff("hof_1", 1)))
    story.restart(run, "Otherwise.")
    recovered(story, run)
    assert (delivery(story, "hof_1"), stale(story)) == ("uncertain", ["delivery_uncertain"])


def test_a_recovered_run_can_be_retried_with_the_words_that_were_not_taken(story: Story) -> None:
    run = recovered(story, story.start("This."))
    story.retry(run)
    assert story.asked(ExecuteAttempt)[-1].message_item_ids == (story.said("This.").id,)


def test_steered_words_that_a_crash_cut_off_are_cancelled_and_missing(story: Story) -> None:
    run = story.go(story.start())
    said = story.steer(run, "Also this.")
    recovered(story, run)
    assert story.item(said).status == "cancelled"
    assert story.provider_thread().missing_item_ids == (said.id,)


def test_no_session_outlives_a_crash(story: Story) -> None:
    story.whole()
    story.do(c.RecoverThread())
    known = story.state.sessions["pss_claude"]
    assert (known.status, known.pid) == ("stopped", None)
    assert story.provider_thread().status == "not_loaded"


def test_a_session_that_stops_leaves_its_conversations_not_loaded(story: Story) -> None:
    story.whole(provider="claude")
    story.whole(provider="codex")
    story.do(c.UpdateSession(session=session("codex", "stopped")))
    assert (story.provider_thread("claude").status, story.provider_thread("codex").status) == ("idle", "not_loaded")


def test_a_session_that_works_on_changes_no_conversation(story: Story) -> None:
    story.whole()
    story.do(c.UpdateSession(session=session("claude", "running")))
    assert story.state.sessions["pss_claude"].status == "running"
    assert story.provider_thread().status == "idle"
