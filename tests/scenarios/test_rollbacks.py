"""Rolling back, over the wire: the thread, what providers know, and the files."""

import sys
from pathlib import Path

import pytest

from midstream.protocol.notifications import ThreadEvent
from midstream.protocol.records.provider import ProviderThread
from scenarios.steps import codes, received
from scenarios.test_deletion import until_tidy
from support.editor import Editor, Refused, editor_on, providers

LIAR = """
import sys
from midstream.server.rehearsal.agent import Agent
Agent._rewind = Agent._turns
from midstream.server.rehearsal.main import main
sys.exit(main(sys.argv[1:]))
"""
"""An agent that answers a rewind as if it had done it."""


async def settled(editor: Editor, known: ProviderThread) -> None:
    """Wait until a conversation is trusted again."""
    start = len(editor.told)
    read = await editor.call("thread/read", thread_id=known.thread_id)
    if any(one.id == known.id and one.status != "divergent" for one in read.provider_threads):
        return
    await editor.until(
        lambda n: isinstance(n, ThreadEvent) and n.record.id == known.id and n.record.status != "divergent",  # type: ignore[union-attr]
        after=start,
    )


async def test_a_rollback_across_a_switch_leaves_no_provider_with_what_was_taken_back(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace, "stubborn")
    await editor.say(thread, "say: one")
    await editor.say(thread, "say: two", "plain")
    await editor.say(thread, "say: three", "stubborn")
    back = await editor.call("thread/rollback", thread_id=thread.id, to_run_ordinal=1)
    assert [run.ordinal for run in (await editor.read(thread)).runs if run.status == "rolled_back"] == [2, 3]
    assert len(back.rolled_back_run_ids) == 2
    assert {one.status for one in back.provider_threads} == {"divergent"}
    assert len(back.superseded_handoff_ids) == 1
    run = await editor.say(thread, "say: instead", "plain")
    assert run.ordinal == 4
    texts = "".join(received(await editor.recall(thread, "plain")))
    assert ("one" in texts, "two" in texts, "three" in texts) == (True, False, False)


async def test_a_provider_that_can_drops_the_runs_itself_and_is_gone_on_with(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    for word in ("one", "two", "three"):
        await editor.say(thread, f"say: {word}")
    back = await editor.call("thread/rollback", thread_id=thread.id, to_run_ordinal=1)
    (known,) = back.provider_threads
    await settled(editor, known)
    (known,) = (await editor.read(thread)).provider_threads
    assert (known.status, known.native_run_ordinals) == ("idle", (1,))
    run = await editor.say(thread, "say: instead")
    assert (run.provider_thread_id, codes(run.plan)) == (known.id, ["already_covered"])
    assert received(await editor.recall(thread, "rehearsal"))[:2] == ["say: one", "say: instead"]


async def test_an_agent_that_cannot_rewind_goes_on_afresh(tmp_path: Path, workspace: Path) -> None:
    config = {"providers": providers("plodding", flags=["--no-rewind"], state=tmp_path / "agents")}
    async with editor_on(tmp_path / "data", config=config) as editor:
        thread = await editor.new_thread(workspace, "plodding")
        await editor.say(thread, "say: one")
        await editor.say(thread, "say: two")
        await editor.call("thread/rollback", thread_id=thread.id, to_run_ordinal=1)
        run = await editor.say(thread, "say: instead")
        assert "divergent" in codes(run.plan)
        texts = "".join(received(await editor.recall(thread, "plodding")))
        assert ("one" in texts, "two" in texts) == (True, False)


async def test_an_agent_that_says_it_dropped_runs_and_still_has_them_goes_on_afresh(
    tmp_path: Path, workspace: Path
) -> None:
    config = {"providers": {"liar": {"driver": "acp", "command": [sys.executable, "-c", LIAR, "--name", "liar"]}}}
    async with editor_on(tmp_path / "data", config=config, env={"MIDSTREAM_REHEARSAL_DIR": str(tmp_path)}) as editor:
        thread = await editor.new_thread(workspace, "liar")
        await editor.say(thread, "say: one")
        await editor.say(thread, "say: two")
        await editor.call("thread/rollback", thread_id=thread.id, to_run_ordinal=1)
        await until_tidy(editor, tmp_path / "data")
        run = await editor.say(thread, "say: instead")
        assert "divergent" in codes(run.plan)
        texts = "".join(received(await editor.recall(thread, "liar")))
        assert ("one" in texts, "two" in texts) == (True, False)


async def test_what_the_user_laid_down_in_a_run_that_was_taken_back_holds_no_more(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "Never touch kept.txt.")
    await editor.say(thread, "Never touch dropped.txt.")
    await editor.call("thread/rollback", thread_id=thread.id, to_run_ordinal=1)
    await editor.say(thread, "say: instead", "understudy")
    told = received(await editor.recall(thread, "understudy"))[0]
    assert ("kept.txt" in told, "dropped.txt" in told) == (True, False)


async def test_files_come_back_too_where_that_is_asked_for_and_a_dry_run_tells_it_first(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "write a.txt: one")
    await editor.say(thread, "write a.txt: two")
    params = {"thread_id": thread.id, "to_run_ordinal": 1, "restore_files": True}
    told = await editor.call("thread/rollback", dry_run=True, **params)
    assert (told.restore.written, len(told.rolled_back_run_ids)) == (("a.txt",), 1)
    assert (workspace / "a.txt").read_text() == "two\n"
    assert [run.status for run in (await editor.read(thread)).runs] == ["completed"] * 2
    await editor.call("thread/rollback", **params)
    assert (workspace / "a.txt").read_text() == "one\n"


async def test_what_the_user_did_between_two_runs_is_not_rolled_back(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "write a.txt: one")
    (workspace / "mine.txt").write_text("mine\n")
    await editor.say(thread, "append mine.txt: theirs")
    await editor.call("thread/rollback", thread_id=thread.id, to_run_ordinal=1, restore_files=True)
    assert (workspace / "mine.txt").read_text() == "mine\n"


async def test_a_conflict_changes_neither_thread_nor_files_unless_forced(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "write a.txt: one")
    await editor.say(thread, "write a.txt: two")
    (workspace / "a.txt").write_text("the user's own\n")
    before = await editor.read(thread)
    params = {"thread_id": thread.id, "to_run_ordinal": 0, "restore_files": True}
    assert [c.path for c in (await editor.call("thread/rollback", dry_run=True, **params)).restore.conflicts] == [
        "a.txt"
    ]
    with pytest.raises(Refused) as refused:
        await editor.call("thread/rollback", **params)
    assert refused.value.kind == "restoreConflict"
    assert await editor.read(thread) == before
    assert (workspace / "a.txt").read_text() == "the user's own\n"
    await editor.call("thread/rollback", force=True, **params)
    assert not (workspace / "a.txt").exists()


async def test_a_rollback_refuses_an_active_run_and_cancels_and_lists_those_of_a_held_queue(
    editor: Editor, workspace: Path, tmp_path: Path
) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "say: one")
    run = await editor.begin(thread, f"run until [ -e {tmp_path}/gate ]; do sleep 0.02; done\nfail: no more")
    queued = [(await editor.begin(thread, f"say: later {n}")).id for n in (1, 2)]
    params = {"thread_id": thread.id, "to_run_ordinal": 1}
    with pytest.raises(Refused) as refused:
        await editor.call("thread/rollback", **params)
    assert (refused.value.kind, refused.value.data["runId"]) == ("invalidState", run.id)
    (tmp_path / "gate").touch()
    assert (await editor.ended(run)).status == "failed"
    before = await editor.read(thread)
    assert before.thread.queue_held
    told = await editor.call("thread/rollback", dry_run=True, **params)
    assert (list(told.cancelled_run_ids), told.rolled_back_run_ids) == (queued, (run.id,))
    assert await editor.read(thread) == before
    back = await editor.call("thread/rollback", **params)
    assert (list(back.cancelled_run_ids), back.rolled_back_run_ids) == (queued, (run.id,))
    read = await editor.read(thread)
    assert [one.status for one in read.runs] == ["completed", "rolled_back", "cancelled", "cancelled"]
    assert (read.thread.queue_held, read.thread.status, back.thread.status) == (False, "idle", "idle")
    assert (await editor.say(thread, "say: instead")).ordinal == 3


async def test_a_thread_is_not_rolled_back_to_a_run_that_it_never_had(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "say: one")
    with pytest.raises(Refused) as refused:
        await editor.call("thread/rollback", thread_id=thread.id, to_run_ordinal=9)
    assert (refused.value.kind, refused.value.data["last"]) == ("invalidState", 1)
