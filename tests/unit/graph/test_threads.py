"""The thread itself: its making, its title, who answers next."""

import pytest

from midstream.server.graph import commands as c
from midstream.server.graph.events import HandoffContent, HandoffPut, ThreadPut
from midstream.server.graph.state import evolve
from support.graph import THREAD, Story, checkpoint, handoff, refusal, selecting


def test_a_new_thread_is_idle_and_the_root_of_its_own_lineage(story: Story) -> None:
    assert story.thread.status == "idle"
    assert story.thread.lineage.root_thread_id == THREAD
    assert story.thread.lineage.parent_thread_id is None
    assert story.state.sequence == 1


def test_a_thread_is_made_once(story: Story) -> None:
    again = c.CreateThread(
        thread_id=THREAD, workspace="", title="", selection=selecting("claude"), runtime_mode="readOnly"
    )
    error = refusal(story, again)
    assert (error.kind, error.code, error.data) == ("invalidState", 4004, {"threadId": THREAD})


def test_a_log_begins_with_its_thread(story: Story) -> None:
    with pytest.raises(ValueError, match="first event"):
        evolve(None, HandoffPut(handoff("hof_1")))


def test_title_and_runtime_mode_are_set_each_alone(story: Story) -> None:
    story.do(c.UpdateThread(title="Parser"))
    assert (story.thread.title, story.thread.runtime_mode) == ("Parser", "approvalRequired")
    story.do(c.UpdateThread(runtime_mode="readOnly"))
    assert (story.thread.title, story.thread.runtime_mode) == ("Parser", "readOnly")


def test_an_update_that_changes_nothing_is_no_event(story: Story) -> None:
    story.do(c.UpdateThread(title="Parser"))
    assert story.ignores(c.UpdateThread(title="Parser", runtime_mode="approvalRequired"))


def test_a_change_moves_the_time_of_the_last_update(story: Story) -> None:
    made = story.thread.updated_at
    story.do(c.UpdateThread(title="Parser"))
    assert story.thread.created_at == made < story.thread.updated_at


def test_an_archived_thread_stays_archived_since_the_first_time_until_it_is_taken_out(story: Story) -> None:
    story.do(c.ArchiveThread(archived=True))
    since = story.thread.archived_at
    assert since is not None
    assert story.ignores(c.ArchiveThread(archived=True))
    assert story.thread.archived_at == since
    story.do(c.ArchiveThread(archived=False))
    assert story.thread.archived_at is None


def test_a_switch_decides_about_the_next_run_only(story: Story) -> None:
    run = story.start(provider="claude")
    story.do(c.SwitchProvider(selection=selecting("codex"), context="clean"))
    assert (story.thread.selection.provider, story.thread.next_context) == ("codex", "clean")
    assert story.run(run.id).provider == "claude"


def test_a_run_uses_up_the_wish_for_a_clean_context(story: Story) -> None:
    story.do(c.SwitchProvider(selection=selecting("codex"), context="clean"))
    story.start(provider="codex")
    assert story.thread.next_context == "auto"


def test_a_run_with_another_provider_makes_it_the_thread_s_choice(story: Story) -> None:
    story.start(provider="codex")
    assert story.thread.selection == selecting("codex")


def test_the_first_message_names_a_thread_without_a_title(story: Story) -> None:
    story.start("\n  Fix the parser.  \nIt is broken.")
    assert story.thread.title == "Fix the parser."


def test_a_long_first_line_is_cut_for_the_title(story: Story) -> None:
    story.start("x" * 200)
    assert story.thread.title == "x" * 79 + "…"


def test_a_title_that_the_user_set_stays(story: Story) -> None:
    story.do(c.UpdateThread(title="Parser"))
    story.start("Fix it.")
    assert story.thread.title == "Parser"


def test_a_previewed_handoff_is_kept_with_its_text_once(story: Story) -> None:
    decision = story.do(c.StoreHandoffs(handoffs=(handoff("hof_1", 1),)))
    assert decision.answer == (story.state.handoffs["hof_1"],)
    story.whole()
    story.go(story.start(handoff_ids=("hof_1",)), keep=("hof_1",))
    contents = [event.content for event in story.events if isinstance(event, HandoffPut) and event.content]
    assert contents == [HandoffContent("What happened in (1,).", "<(1,)>", ())]


def test_the_thread_s_record_follows_its_runs(story: Story) -> None:
    run = story.go(story.start())
    story.start()
    story.close(run)
    statuses = [event.record.status for event in story.events if isinstance(event, ThreadPut)]
    assert list(dict.fromkeys(statuses)) == ["idle", "starting", "running"]
    assert story.thread.status == "starting"


def test_a_checkpoint_that_no_run_took_is_kept_and_is_the_latest_where_it_is_the_users(story: Story) -> None:
    run = story.start()
    manual = checkpoint("ckp_000002", run, "manual")
    story.do(c.KeepCheckpoint(checkpoint=manual))
    assert story.state.checkpoints[manual.id] == manual
    story.do(c.KeepCheckpoint(checkpoint=checkpoint("ckp_000003", run, "safety")))
    assert story.state.latest_checkpoint_id == manual.id
    assert story.ignores(c.KeepCheckpoint(checkpoint=manual))
    assert story.ignores(c.KeepCheckpoint(checkpoint=None))


def test_a_checkpoint_that_is_kept_no_longer_is_missing(story: Story) -> None:
    run = story.start()
    story.do(c.KeepCheckpoint(checkpoint=checkpoint("ckp_000002", run, "manual")))
    story.do(c.LoseCheckpoints(checkpoint_ids=("ckp_000002", "ckp_none")))
    assert story.state.checkpoints["ckp_000002"].status == "missing"
    assert story.ignores(c.LoseCheckpoints(checkpoint_ids=("ckp_000002",)))
