"""Forking, over the wire: lineage at once, context at the first run."""

from pathlib import Path
from typing import Any

import pytest

from midstream.protocol.records.thread import Thread
from scenarios.steps import codes, mood, of_type, received, strategy
from support.editor import Editor, Refused


async def forked(editor: Editor, thread: Thread, **params: Any) -> Thread:
    """Fork a thread and follow the fork."""
    made = await editor.call("thread/fork", thread_id=thread.id, **params)
    await editor.call("thread/subscribe", thread_id=made.thread.id)
    fork: Thread = made.thread
    return fork


async def test_a_fork_is_lineage_and_a_pending_transfer_and_shows_what_it_inherits(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace)
    runs = [await editor.say(thread, f"say: word {n}") for n in (1, 2, 3)]
    made = await editor.call("thread/fork", thread_id=thread.id, from_={"type": "run", "runId": runs[1].id})
    assert made.thread.lineage.parent_thread_id == made.thread.lineage.root_thread_id == thread.id
    assert made.thread.lineage.relationship_to_parent == "fork"
    assert made.thread.pending_transfer_ids == (made.transfer.id,)
    assert (made.transfer.status, made.transfer.source_point.run_id) == ("pending", runs[1].id)
    read = await editor.read(made.thread)
    assert [run.id for run in read.runs] == [run.id for run in runs[:2]]
    assert read.provider_threads == ()
    assert await editor.items(made.thread) == [i for i in await editor.items(thread) if i.run_id != runs[2].id]


async def test_the_same_provider_forks_its_own_conversation_at_that_run(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    runs = [await editor.say(thread, f"say: word {n}") for n in (1, 2, 3)]
    fork = await forked(editor, thread, from_={"type": "run", "runId": runs[1].id})
    first = await editor.say(fork, "say: mine")
    assert (first.ordinal, strategy(first), first.handoff_ids) == (3, "native_fork", ())
    read = await editor.read(fork)
    assert [(one.type, one.status, one.resolution.strategy) for one in read.transfers] == [
        ("fork", "consumed", "native_fork")
    ]
    (known,) = read.provider_threads
    assert known.native_run_ordinals == (1, 2, 3)
    texts = received(await editor.recall(fork, "rehearsal"))
    assert texts[:3] == ["say: word 1", "say: word 2", "say: mine"]
    assert "say: word 3" in received(await editor.recall(thread, "rehearsal"))


async def test_another_provider_is_told_what_the_fork_inherits(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    runs = [await editor.say(thread, f"say: word {n}") for n in (1, 2, 3)]
    fork = await forked(editor, thread, from_={"type": "run", "runId": runs[1].id})
    first = await editor.say(fork, "say: mine", "understudy")
    assert (strategy(first), "portable_fork" in codes(first.plan)) == ("full_thread_summary", True)
    (transfer,) = (await editor.read(fork)).transfers
    assert (transfer.type, transfer.status, transfer.resolution.strategy) == ("fork", "consumed", "portable_context")
    told = received(await editor.recall(fork, "understudy"))[0]
    assert "word 2" in told
    assert "word 3" not in told


async def test_a_fork_from_a_checkpoint_is_told_what_stood_behind_it(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "write a.txt: one")
    kept = (await editor.call("checkpoint/create", thread_id=thread.id)).checkpoint
    await editor.say(thread, "write b.txt: two")
    fork = await forked(editor, thread, from_={"type": "checkpoint", "checkpointId": kept.id})
    first = await editor.say(fork, "say: mine", "understudy")
    assert first.plan is not None
    assert first.plan.run_ordinals == (1,)
    (transfer,) = (await editor.read(fork)).transfers
    assert transfer.resolution.strategy == "checkpoint_context"


async def test_a_fork_from_a_subagent_is_told_its_work_and_has_its_name(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    run = await editor.say(thread, "subagent Helper: write helped.txt: yes")
    await editor.say(thread, "say: later")
    (helper, *_) = of_type(await editor.items(thread, run), "subagent")
    fork = await forked(editor, thread, from_={"type": "subagent", "itemId": helper.id})
    assert (fork.title, fork.forked_from and fork.forked_from.run_id) == ("Helper", run.id)
    first = await editor.say(fork, "say: mine")
    assert strategy(first) == "full_thread_summary"
    told = received(await editor.recall(fork, "rehearsal"))[0]
    assert "helped.txt" in told
    assert "say: later" not in told


async def test_a_subagent_of_another_thread_and_one_at_work_cannot_be_forked_from(
    editor: Editor, workspace: Path
) -> None:
    thread, other = await editor.new_thread(workspace), await editor.new_thread(workspace)
    run = await editor.begin(thread, "subagent Helper: say: done\nsay: at work\nsleep 60000")
    await editor.until_output(run, "at work")
    (helper, *_) = of_type(await editor.items(thread, run), "subagent")
    for at, kind in ((other, "itemNotFound"), (thread, "invalidState")):
        with pytest.raises(Refused) as refused:
            await editor.call("thread/fork", thread_id=at.id, from_={"type": "subagent", "itemId": helper.id})
        assert refused.value.kind == kind
    await editor.call("run/interrupt", run_id=run.id)
    await editor.ended(run)


async def test_a_fork_of_a_fork_of_a_fork_reads_and_tells_the_whole_way(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    at = thread
    for n in (1, 2, 3):
        await editor.say(at, f"say: word {n}")
        at = await forked(editor, at)
    said = [item.text for item in await editor.items(at) if item.type == "userMessage"]
    assert said == ["say: word 1", "say: word 2", "say: word 3"]
    run = await editor.say(at, "say: last", "understudy")
    assert run.ordinal == 4
    told = received(await editor.recall(at, "understudy"))[0]
    assert [f"word {n}" in told for n in (1, 2, 3)] == [True] * 3


async def test_a_fork_keeps_what_it_inherited_where_its_source_is_rolled_back(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    runs = [await editor.say(thread, f"say: word {n}") for n in (1, 2)]
    fork = await forked(editor, thread)
    await editor.call("thread/rollback", thread_id=thread.id, to_run_ordinal=0)
    later = await forked(editor, thread)
    assert [run.status for run in (await editor.read(fork)).runs] == ["completed", "completed"]
    assert (await editor.read(later)).runs == ()
    assert await editor.items(later) == []
    first = await editor.say(fork, "say: mine", "understudy")
    assert first.plan is not None
    assert first.plan.run_ordinals == (1, 2)
    assert [run.id for run in (await editor.read(fork)).runs][:2] == [run.id for run in runs]


async def test_neither_an_active_nor_a_rolled_back_run_can_be_forked(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    first = await editor.say(thread, "say: one")
    run = await editor.begin(thread, "sleep 60000")
    with pytest.raises(Refused) as refused:
        await editor.call("thread/fork", thread_id=thread.id, from_={"type": "run", "runId": run.id})
    assert refused.value.kind == "invalidState"
    await editor.call("run/interrupt", run_id=run.id)
    await editor.ended(run)
    await editor.call("thread/rollback", thread_id=thread.id, to_run_ordinal=0)
    with pytest.raises(Refused) as refused:
        await editor.call("thread/fork", thread_id=thread.id, from_={"type": "run", "runId": first.id})
    assert (refused.value.kind, refused.value.data["status"]) == ("invalidState", "rolled_back")


async def test_a_native_fork_that_fails_becomes_portable_in_the_same_run(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace, "moody")
    kept = await editor.say(thread, "say: one")
    assert (await editor.say(thread, "crash")).status == "failed"
    fork = await forked(editor, thread, from_={"type": "run", "runId": kept.id})
    mood(workspace, "--no-fork", "--no-fork-at-turn")
    first = await editor.say(fork, "say: mine")
    assert (first.status, strategy(first)) == ("completed", "full_thread_summary")
    assert "portable_fork" in codes(first.plan)
    (transfer,) = (await editor.read(fork)).transfers
    assert (transfer.status, transfer.resolution.strategy) == ("consumed", "portable_context")
    assert transfer.error


async def test_a_fork_is_not_told_what_its_last_run_did_when_it_was_tried_again_later(
    editor: Editor, workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "state").write_text("as it was before")
    thread = await editor.new_thread(workspace)
    run = await editor.say(thread, f"run cat {tmp_path}/state\nfail: no more")
    fork = await forked(editor, thread)
    (tmp_path / "state").write_text("as it is since")
    await editor.call("run/retry", run_id=run.id)
    await editor.ended(run)
    await editor.say(fork, "say: mine", "understudy")
    told = received(await editor.recall(fork, "understudy"))[0]
    assert ("as it was before" in told, "as it is since" in told) == (True, False)
    assert not any("as it is since" in str(item) for item in await editor.items(fork) if item.thread_id == thread.id)
