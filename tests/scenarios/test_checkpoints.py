"""Checkpoints over the wire: what the files were before and after each run, and what lies between."""

import base64
import subprocess
from pathlib import Path
from typing import Any

import pytest

from midstream.protocol.notifications import CheckpointCaptured
from midstream.protocol.records.checkpoint import Checkpoint
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Thread
from scenarios.steps import of_type
from support.editor import Editor, Refused, editor_on


async def checkpoints(editor: Editor, thread: Thread) -> list[Checkpoint]:
    """Return a thread's checkpoints, oldest first."""
    return list((await editor.call("checkpoint/list", thread_id=thread.id)).checkpoints)


async def captured(editor: Editor, run: Run) -> CheckpointCaptured:
    """Wait until clients were told what a run changed."""
    told = await editor.until(lambda n: isinstance(n, CheckpointCaptured) and n.run_id == run.id)
    assert isinstance(told, CheckpointCaptured)
    return told


def changed(files: Any) -> list[tuple[str, str]]:
    """Return the paths that changed, and how."""
    return sorted((file.path, file.status) for file in files)


async def test_a_run_is_told_with_its_own_patch(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    run = await editor.say(thread, "write new.txt: fresh\nappend kept.txt: more\nwrite deep/er.txt: down")
    told = await captured(editor, run)
    assert changed(told.checkpoint.files) == [("deep/er.txt", "added"), ("kept.txt", "modified"), ("new.txt", "added")]
    assert told.patch is not None
    assert "+fresh" in told.patch
    assert "+more" in told.patch
    assert not told.truncated
    baseline, after = await checkpoints(editor, thread)
    assert (baseline.kind, baseline.run_id, run.baseline_checkpoint_id) == ("baseline", run.id, baseline.id)
    assert (after.kind, after.status, run.checkpoint_id) == ("run", "ready", after.id)
    assert (after.parent_checkpoint_id, after.run_ordinal, after.mixed) == (baseline.id, 1, False)
    assert told.checkpoint == after
    (item,) = of_type(await editor.items(thread, run), "checkpoint")
    assert (item.checkpoint_id, item.files) == (after.id, after.files)


async def test_a_run_that_follows_at_once_begins_where_the_last_one_ended(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    first = await editor.say(thread, "write a.txt: one")
    second = await editor.say(thread, "write b.txt: two", "understudy")
    assert second.baseline_checkpoint_id == first.checkpoint_id
    assert changed((await captured(editor, second)).checkpoint.files) == [("b.txt", "added")]
    assert [known.kind for known in await checkpoints(editor, thread)] == ["baseline", "run", "run"]


async def test_what_the_user_edits_between_runs_is_in_no_runs_diff(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    first = await editor.say(thread, "write a.txt: one")
    (workspace / "mine.txt").write_text("the user's own\n")
    (workspace / "a.txt").write_text("changed by hand\n")
    second = await editor.say(thread, "write b.txt: two")
    assert second.baseline_checkpoint_id not in (None, first.checkpoint_id)
    told = await captured(editor, second)
    assert changed(told.checkpoint.files) == [("b.txt", "added")]
    assert "mine.txt" not in (told.patch or "")
    baseline = next(known for known in await checkpoints(editor, thread) if known.id == second.baseline_checkpoint_id)
    assert (baseline.kind, baseline.parent_checkpoint_id) == ("baseline", first.checkpoint_id)
    assert changed(baseline.files) == [("a.txt", "modified"), ("mine.txt", "added")]


async def test_a_run_that_changes_nothing_says_so(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    run = await editor.say(thread, "say: nothing to do")
    told = await captured(editor, run)
    assert (told.checkpoint.files, told.patch or "") == ((), "")


async def test_failed_and_interrupted_runs_are_captured_too(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    failed = await editor.say(thread, "write failed.txt: half\nfail: no more")
    assert changed((await captured(editor, failed)).checkpoint.files) == [("failed.txt", "added")]
    run = await editor.begin(thread, "write stopped.txt: half\nsay: written\nsleep 600000")
    await editor.until_output(run, "written")
    await editor.call("run/interrupt", run_id=run.id)
    assert (await editor.ended(run)).checkpoint_id is not None
    assert changed((await captured(editor, run)).checkpoint.files) == [("stopped.txt", "added")]


async def test_files_differ_between_checkpoints_and_from_the_workspace(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    first = await editor.say(thread, "write a.txt: one")
    await editor.say(thread, "write b.txt: two\ndelete kept.txt")
    third = await editor.say(thread, "append a.txt: three")
    (workspace / "b.txt").write_text("edited\n")

    async def diff(from_: str | None, to: str | None, **params: Any) -> Any:
        where = {"threadId": thread.id, "from": from_, "to": to, **params}
        return await editor.call_raw("checkpoint/diff", where)

    whole = await diff(first.baseline_checkpoint_id, third.checkpoint_id)
    assert sorted((file["path"], file["status"]) for file in whole["files"]) == [
        ("a.txt", "added"),
        ("b.txt", "added"),
        ("kept.txt", "deleted"),
    ]
    assert whole["patch"] is None
    text = await diff(first.checkpoint_id, third.checkpoint_id, patch=True, path="a.txt", context=0)
    assert [file["path"] for file in text["files"]] == ["a.txt"]
    assert "+three" in text["patch"]
    assert "b.txt" not in text["patch"]
    back = await diff(third.checkpoint_id, first.checkpoint_id)
    assert ("b.txt", "deleted") in [(file["path"], file["status"]) for file in back["files"]]
    now = await diff(third.checkpoint_id, "workspace", patch=True)
    assert [(file["path"], file["status"]) for file in now["files"]] == [("b.txt", "modified")]
    assert "+edited" in now["patch"]
    with pytest.raises(Refused) as refused:
        await diff("ckp_none", "workspace")
    assert (refused.value.code, refused.value.kind) == (4001, "checkpointNotFound")


async def test_a_file_is_read_as_it_was(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    (workspace / "image.bin").write_bytes(b"\x00\xff\xfe")
    first = await editor.say(thread, "write a.txt: one")
    await editor.say(thread, "write a.txt: two")
    old = await editor.call("checkpoint/file", checkpoint_id=first.checkpoint_id, path="a.txt")
    assert (old.encoding, old.content.strip(), old.mode) == ("utf-8", "one", "100644")
    assert old.bytes == len(old.content)
    raw = await editor.call("checkpoint/file", checkpoint_id=first.checkpoint_id, path="image.bin")
    assert (raw.encoding, base64.b64decode(raw.content), raw.bytes) == ("base64", b"\x00\xff\xfe", 3)
    with pytest.raises(Refused) as refused:
        await editor.call("checkpoint/file", checkpoint_id=first.checkpoint_id, path="../a.txt")
    assert (refused.value.code, refused.value.data["path"]) == (-32602, "path")


async def test_checkpoints_leave_the_users_repository_alone(editor: Editor, workspace: Path) -> None:
    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=workspace, check=True, capture_output=True, text=True)
        return done.stdout

    before = (git("rev-parse", "HEAD"), git("for-each-ref"), git("stash", "list"))
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "write a.txt: one")
    assert (git("rev-parse", "HEAD"), git("for-each-ref"), git("stash", "list")) == before
    assert git("status", "--porcelain") == "?? a.txt\n"


async def test_without_checkpoints_a_run_still_does_its_work(tmp_path: Path, workspace: Path) -> None:
    async with editor_on(tmp_path / "data", "--rehearsal", config={"checkpoints": {"enabled": False}}) as editor:
        thread = await editor.new_thread(workspace)
        run = await editor.say(thread, "write a.txt: one")
        assert (run.status, run.checkpoint_id, run.baseline_checkpoint_id) == ("completed", None, None)
        after = await editor.say(thread, "say: two", "understudy")
        assert after.status == "completed"


async def test_a_subagent_in_a_folder_of_its_own_has_a_checkpoint_of_its_own(editor: Editor, workspace: Path) -> None:
    (workspace / "part").mkdir()
    (workspace.parent / "outside").mkdir()
    thread = await editor.new_thread(workspace)
    run = await editor.say(thread, "subagent Helper IN part: write own.txt: own")
    await editor.say(thread, "subagent Here: write here.txt: here\nsubagent Out IN ../outside: write out.txt: out")
    (own,) = [known for known in await checkpoints(editor, thread) if known.kind == "subagent"]
    assert (own.scope_id, own.run_id, own.status) == ((workspace / "part").as_uri(), run.id, "ready")
    assert (await editor.call("checkpoint/file", checkpoint_id=own.id, path="own.txt")).content == "own\n"
    (workspace / "part" / "own.txt").write_text("changed\n")
    await editor.call("checkpoint/restore", checkpoint_id=own.id, force=True)
    assert (workspace / "part" / "own.txt").read_text() == "own\n"
    assert (workspace / "here.txt").exists()


async def test_checkpoints_beyond_those_kept_are_missing_and_say_so(tmp_path: Path, workspace: Path) -> None:
    async with editor_on(tmp_path / "data", "--rehearsal", config={"checkpoints": {"keep": 2}}) as editor:
        thread = await editor.new_thread(workspace)
        runs = [await editor.say(thread, f"write a.txt: {number}") for number in range(5)]

        def is_missing(told: Any) -> bool:
            record = getattr(told, "record", None)
            return isinstance(record, Checkpoint) and record.id == runs[1].checkpoint_id and record.status == "missing"

        await editor.until(is_missing)
        kept = {known.id: known.status for known in await checkpoints(editor, thread)}
        assert kept[runs[0].baseline_checkpoint_id or ""] == "ready"
        assert kept[runs[4].checkpoint_id or ""] == "ready"
        for method, params in (
            ("checkpoint/restore", {"checkpoint_id": runs[1].checkpoint_id}),
            ("checkpoint/file", {"checkpoint_id": runs[1].checkpoint_id, "path": "a.txt"}),
        ):
            with pytest.raises(Refused) as refused:
                await editor.call(method, **params)
            assert refused.value.kind == "checkpointNotFound"
