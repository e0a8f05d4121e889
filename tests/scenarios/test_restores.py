"""Restoring files over the wire: what is written, what is refused, and what everybody is told."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from midstream.protocol.methods.checkpoint import Hunk
from midstream.protocol.notifications import CheckpointCaptured, CheckpointRestored
from midstream.protocol.records.checkpoint import Checkpoint
from midstream.protocol.records.thread import Thread
from midstream.server.checkpoints.hunks import parse_hunks
from support.editor import Editor, Refused, command_id, editor_on
from support.killed_restore import killed_restore
from support.workspaces import git, git_state


async def checkpoints(editor: Editor, thread: Thread) -> list[Checkpoint]:
    """Return a thread's checkpoints, oldest first."""
    return list((await editor.call("checkpoint/list", thread_id=thread.id)).checkpoints)


async def restore(editor: Editor, checkpoint_id: str | None, **params: Any) -> Any:
    """Restore a checkpoint."""
    return await editor.call("checkpoint/restore", checkpoint_id=checkpoint_id, **params)


async def refused(editor: Editor, method: str, **params: Any) -> Refused:
    """Return the error that a request ends in."""
    with pytest.raises(Refused) as error:
        await editor.call(method, **params)
    return error.value


def told_of(editor: Editor, thread: Thread) -> list[CheckpointRestored]:
    """Return what clients were told of restores of a thread."""
    return [told for told in editor.all_told(CheckpointRestored) if told.thread_id == thread.id]


async def test_a_restore_is_previewed_done_told_and_undone(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    first = await editor.say(thread, "write a.txt: one")
    await editor.say(thread, "write a.txt: two\nwrite b.txt: two")
    preview = await restore(editor, first.checkpoint_id, dry_run=True)
    assert (preview.written, preview.deleted, preview.conflicts) == (("a.txt",), ("b.txt",), ())
    assert (workspace / "b.txt").exists()
    assert await checkpoints(editor, thread) == list((await editor.read(thread)).checkpoints)
    result = await restore(editor, first.checkpoint_id)
    assert (result.written, result.deleted, result.conflicts) == (preview.written, preview.deleted, preview.conflicts)
    assert (workspace / "a.txt").read_text() == "one\n"
    assert not (workspace / "b.txt").exists()
    told = await editor.until(lambda n: isinstance(n, CheckpointRestored) and n.thread_id == thread.id)
    assert told == CheckpointRestored(
        thread_id=thread.id,
        checkpoint_id=first.checkpoint_id or "",
        safety_checkpoint_id=result.safety_checkpoint_id,
        written=("a.txt",),
        deleted=("b.txt",),
    )
    safety = (await checkpoints(editor, thread))[-1]
    assert (safety.id, safety.kind, safety.status) == (result.safety_checkpoint_id, "safety", "ready")
    await restore(editor, safety.id)
    assert (workspace / "a.txt").read_text() == "two\n"
    assert (workspace / "b.txt").read_text() == "two\n"


async def test_a_conflict_names_each_file_and_force_keeps_what_it_takes(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    first = await editor.say(thread, "write a.txt: one\nwrite b.txt: one")
    await editor.say(thread, "write a.txt: two\nwrite b.txt: two")
    (workspace / "a.txt").write_text("the user's\n")
    error = await refused(
        editor, "checkpoint/restore", checkpoint_id=first.checkpoint_id, dirty_paths=["b.txt", "kept.txt"]
    )
    assert (error.code, error.kind) == (4007, "restoreConflict")
    assert [conflict["path"] for conflict in error.data["conflicts"]] == ["a.txt", "b.txt"]
    assert all(conflict["reason"] for conflict in error.data["conflicts"])
    preview = await restore(editor, first.checkpoint_id, dry_run=True)
    assert [conflict.path for conflict in preview.conflicts] == ["a.txt"]
    assert (workspace / "a.txt").read_text() == "the user's\n"
    assert told_of(editor, thread) == []
    result = await restore(editor, first.checkpoint_id, force=True)
    assert (workspace / "a.txt").read_text() == "one\n"
    kept = await editor.call("checkpoint/file", checkpoint_id=result.safety_checkpoint_id, path="a.txt")
    assert kept.content == "the user's\n"


async def test_a_hunk_of_the_editors_diff_is_rejected(editor: Editor, workspace: Path) -> None:
    lines = [f"line {number}\n" for number in range(1, 9)]
    (workspace / "a.txt").write_text("".join(lines))
    thread = await editor.new_thread(workspace)
    run = await editor.say(thread, "append a.txt: last")
    (workspace / "a.txt").write_text("".join(["first\n", *lines[1:], "last\n"]))
    shown = await editor.call_raw(
        "checkpoint/diff",
        {"threadId": thread.id, "from": run.baseline_checkpoint_id, "to": "workspace", "context": 0, "patch": True},
    )
    hunks = sorted(parse_hunks(shown["patch"].encode()), key=lambda hunk: hunk.old_start)
    assert len(hunks) == 2
    last = hunks[1]
    rejected = Hunk(
        path="a.txt",
        old_start=last.old_start,
        old_lines=last.old_lines,
        new_start=last.new_start,
        new_lines=last.new_lines,
    )
    result = await restore(editor, run.baseline_checkpoint_id, hunks=[rejected])
    assert result.written == ("a.txt",)
    assert (workspace / "a.txt").read_text() == "".join(["first\n", *lines[1:]])
    error = await refused(editor, "checkpoint/restore", checkpoint_id=run.baseline_checkpoint_id, hunks=[rejected])
    assert error.kind == "restoreConflict"


async def test_chosen_files_only_are_restored_and_strange_choices_are_refused(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    first = await editor.say(thread, "write a.txt: one\nwrite deep/b.txt: one")
    await editor.say(thread, "write a.txt: two\nwrite deep/b.txt: two")
    assert (await restore(editor, first.checkpoint_id, paths=["deep"])).written == ("deep/b.txt",)
    assert (workspace / "a.txt").read_text() == "two\n"
    assert (await restore(editor, first.checkpoint_id, paths=[])).safety_checkpoint_id is None
    for wrong, field in (
        ({"paths": ["ok", "../outside"]}, "paths[1]"),
        ({"dirty_paths": ["/etc/passwd"]}, "dirtyPaths[0]"),
        ({"paths": [], "hunks": []}, "hunks"),
    ):
        error = await refused(editor, "checkpoint/restore", checkpoint_id=first.checkpoint_id, **wrong)
        assert (error.code, error.data["path"]) == (-32602, field)
    error = await refused(editor, "checkpoint/restore", checkpoint_id="ckp_none")
    assert (error.code, error.kind) == (4001, "checkpointNotFound")


async def test_a_restore_is_refused_while_a_run_of_any_thread_uses_the_workspace(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace)
    first = await editor.say(thread, "write a.txt: one")
    await editor.say(thread, "write a.txt: two")
    for busy in (thread, await editor.new_thread(workspace)):
        run = await editor.begin(busy, "say: working\nsleep 60000")
        await editor.until_output(run, "working")
        error = await refused(editor, "checkpoint/restore", checkpoint_id=first.checkpoint_id)
        assert (error.code, error.kind) == (4004, "invalidState")
        await editor.call("run/interrupt", run_id=run.id)
        await editor.ended(run)
    assert (workspace / "a.txt").read_text() == "two\n"
    assert (await restore(editor, first.checkpoint_id)).written == ("a.txt",)


async def test_a_restore_is_refused_while_a_run_of_another_daemon_uses_the_workspace(
    editor: Editor, workspace: Path, tmp_path: Path
) -> None:
    thread = await editor.new_thread(workspace)
    run = await editor.say(thread, "write a.txt: one")
    async with editor_on(tmp_path / "other data", "--rehearsal") as other:
        theirs = await other.new_thread(workspace, runtime_mode="approvalRequired")
        working = await other.begin(theirs, "write b.txt: theirs")
        request = await other.asked(working)
        error = await refused(editor, "checkpoint/restore", checkpoint_id=run.checkpoint_id)
        assert (error.code, error.kind) == (4004, "invalidState")
        await other.call("request/respond", request_id=request.id, decision="accept")
        assert (await other.ended(working)).status == "completed"
    await restore(editor, run.checkpoint_id, paths=["a.txt"])


async def test_threads_that_share_a_workspace_leave_each_others_files_alone(editor: Editor, workspace: Path) -> None:
    mine, other = await editor.new_thread(workspace), await editor.new_thread(workspace)
    first = await editor.say(mine, "write mine.txt: one")
    await editor.say(other, "write theirs.txt: one")
    await editor.say(mine, "write mine.txt: two\nwrite new.txt: two")
    result = await restore(editor, first.checkpoint_id)
    assert (result.written, result.deleted) == (("mine.txt",), ("new.txt",))
    assert (workspace / "theirs.txt").read_text() == "one\n"


async def test_runs_that_overlap_in_a_workspace_are_marked_mixed(editor: Editor, workspace: Path) -> None:
    one, other = await editor.new_thread(workspace), await editor.new_thread(workspace)
    alone = await editor.say(one, "write alone.txt: 1")
    long = await editor.begin(one, "say: working\nsleep 60000")
    await editor.until_output(long, "working")
    short = await editor.say(other, "write short.txt: 1")
    await editor.call("run/interrupt", run_id=long.id)
    long = await editor.ended(long)
    kept = {known.id: known.mixed for thread in (one, other) for known in await checkpoints(editor, thread)}
    assert [kept[run.checkpoint_id or ""] for run in (alone, long, short)] == [False, True, True]


async def test_a_run_after_a_restore_begins_with_the_restored_files(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    first = await editor.say(thread, "write a.txt: one")
    await editor.say(thread, "write b.txt: two")
    await restore(editor, first.checkpoint_id)
    third = await editor.say(thread, "append a.txt: three")
    known = {checkpoint.id: checkpoint for checkpoint in await checkpoints(editor, thread)}
    assert [file.path for file in known[third.checkpoint_id or ""].files] == ["a.txt"]


async def test_a_restore_is_done_once_for_each_command(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    first = await editor.say(thread, "write a.txt: one")
    await editor.say(thread, "write a.txt: two")
    once = command_id()
    result = await restore(editor, first.checkpoint_id, command_id=once)
    (workspace / "a.txt").write_text("edited since\n")
    assert await restore(editor, first.checkpoint_id, command_id=once) == result
    assert (workspace / "a.txt").read_text() == "edited since\n"
    await editor.call("thread/read", thread_id=thread.id)
    assert len(told_of(editor, thread)) == 1


async def test_a_restore_into_a_workspace_that_is_gone_says_so(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    run = await editor.say(thread, "write a.txt: one")
    shutil.rmtree(workspace)
    for params in ({}, {"dry_run": True}):
        error = await refused(editor, "checkpoint/restore", checkpoint_id=run.checkpoint_id, **params)
        assert (error.code, error.kind) == (4006, "workspaceInvalid")
    error = await refused(editor, "checkpoint/create", thread_id=thread.id)
    assert (error.code, error.kind) == (4006, "workspaceInvalid")


async def test_the_user_takes_a_checkpoint_with_a_label_and_goes_back_to_it(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "write a.txt: one")
    (workspace / "mine.txt").write_text("mine\n")
    once = command_id()
    made = (
        await editor.call("checkpoint/create", thread_id=thread.id, label="before lunch", command_id=once)
    ).checkpoint
    again = await editor.call("checkpoint/create", thread_id=thread.id, label="before lunch", command_id=once)
    assert again.checkpoint == made
    assert (made.kind, made.label, made.run_id, made.status) == ("manual", "before lunch", None, "ready")
    assert [(file.path, file.status) for file in made.files] == [("mine.txt", "added")]
    told = await editor.until(lambda n: isinstance(n, CheckpointCaptured) and n.checkpoint.id == made.id)
    assert told == CheckpointCaptured(thread_id=thread.id, run_id=None, checkpoint=made, patch=None, truncated=False)
    await editor.say(thread, "delete mine.txt\nwrite a.txt: two")
    await restore(editor, made.id)
    assert (workspace / "mine.txt").read_text() == "mine\n"
    assert (workspace / "a.txt").read_text() == "one\n"


async def test_the_users_repository_is_the_same_after_a_restore(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    first = await editor.say(thread, "write a.txt: one")
    await editor.say(thread, "delete kept.txt\nwrite a.txt: two")
    git(workspace, "add", "a.txt")
    before = git_state(workspace)
    await restore(editor, first.checkpoint_id)
    assert (workspace / "kept.txt").exists()
    assert git_state(workspace) == before


async def test_a_restore_that_was_killed_in_the_middle_is_undone_when_the_daemon_starts(
    tmp_path: Path, workspace: Path
) -> None:
    data = tmp_path / "data"
    async with editor_on(data, "--rehearsal") as editor:
        thread = await editor.new_thread(workspace)
        first = await editor.say(thread, "write a.txt: one\nwrite b.txt: one")
        await editor.say(thread, "write a.txt: two\nwrite b.txt: two\ndelete kept.txt")
        (kept,) = [known for known in await checkpoints(editor, thread) if known.id == first.checkpoint_id]
    await killed_restore(data / "checkpoints", workspace, thread.id, kept.ref, "fill", 2)
    assert (workspace / "a.txt").read_text() == "one\n"
    async with editor_on(data, "--rehearsal") as editor:
        assert {file.name: file.read_text() for file in workspace.glob("*.txt")} == {"a.txt": "two\n", "b.txt": "two\n"}
        assert (await restore(editor, kept.id)).conflicts == ()
        assert (workspace / "kept.txt").exists()
