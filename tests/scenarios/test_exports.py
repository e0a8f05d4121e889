"""Exporting threads, over the wire and from the command line."""

import json
from pathlib import Path
from typing import Any

from midstream.protocol.records.thread import Thread
from scenarios.steps import strategy
from scenarios.test_forks import forked
from support.cli import midstream
from support.editor import Editor, editor_on

SECRET = "password = hunter2hunter2"


def whole(thread: Thread) -> dict[str, Any]:
    """Return what to ask for to have all of a thread."""
    return {"thread_id": thread.id, "format": "jsonl", "secrets": True}


async def test_markdown_tells_a_fork_from_its_beginning_and_names_what_was_taken_back(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "write a.txt: one")
    fork = await forked(editor, thread, title="Another way")
    await editor.say(fork, "run echo ```", "understudy")
    await editor.call("thread/rollback", thread_id=fork.id, to_run_ordinal=1)
    content = (await editor.call("thread/export", thread_id=fork.id, format="markdown")).content
    assert content.startswith("# Another way\n\n## Run 1 · rehearsal\n\n**You:**\n\n> write a.txt: one\n")
    assert "## Run 2 · understudy (rolled back)" in content
    assert "- add `a.txt`" in content
    assert "````\n$ echo ```\n" in content


async def test_jsonl_holds_every_record_whole_and_secrets_only_where_they_are_asked_for(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace)
    long = "say: " + "word " * 40_000 + SECRET
    run = await editor.say(thread, long)
    given = (await editor.call("thread/export", thread_id=thread.id, format="jsonl", secrets=True)).content
    lines = [json.loads(line) for line in given.splitlines()]
    assert lines[0] == {"type": "midstream", "version": 1}
    assert [line["record"]["id"] for line in lines[1:3]] == [thread.id, run.id]
    assert [line["record"]["id"] for line in lines[3:]] == [item.id for item in await editor.items(thread)]
    assert lines[3]["record"]["text"] == long
    assert not any("shortened" in line["record"] for line in lines[1:])
    washed = (await editor.call("thread/export", thread_id=thread.id, format="jsonl")).content
    assert "hunter2" not in washed


async def test_a_thread_goes_to_another_data_folder_without_a_loss_and_goes_on_there(
    tmp_path: Path, workspace: Path
) -> None:
    file, there = tmp_path / "moved.jsonl", tmp_path / "there"
    async with editor_on(tmp_path / "here", "--rehearsal") as editor:
        thread = await editor.new_thread(workspace, title="Moves")
        await editor.say(thread, f"write a.txt: one\nrun seq 1 9000\ntodo: a | b\nsay: {SECRET}")
        await editor.say(thread, "subagent Look: say: seen", "understudy")
        await editor.say(thread, "say: too much")
        await editor.call("thread/rollback", thread_id=thread.id, to_run_ordinal=2)
        shown = await editor.items(thread)
        file.write_text((await editor.call("thread/export", **whole(thread))).content)
    taken = midstream("import", file, "--data-dir", there)
    assert (taken.status, taken.out) == (0, f"{thread.id}\n")
    async with editor_on(there, "--rehearsal") as editor:
        (thread,) = (await editor.call("thread/list")).threads
        assert await editor.items(thread) == shown
        assert (await editor.call("thread/export", **whole(thread))).content == file.read_text()
        run = await editor.say(thread, "say: on", "rehearsal")
        assert run.plan is not None
        assert (strategy(run), run.plan.run_ordinals, run.ordinal) == ("full_thread_summary", (1, 2), 4)
        busy = midstream("import", file, "--data-dir", there)
        assert (busy.status, busy.out) == (1, "")


async def test_a_thread_that_is_here_already_is_not_taken_in_again(tmp_path: Path, workspace: Path) -> None:
    async with editor_on(tmp_path / "data", "--rehearsal") as editor:
        thread = await editor.new_thread(workspace)
        await editor.say(thread, "say: here")
        (tmp_path / "file").write_text((await editor.call("thread/export", **whole(thread))).content)
    again = midstream("import", tmp_path / "file", "--data-dir", tmp_path / "data")
    assert (again.status, "is here already" in again.err) == (1, True)


async def test_the_command_line_exports_a_thread_and_leaves_secrets_in_only_where_it_is_told_to(
    tmp_path: Path, workspace: Path
) -> None:
    async with editor_on(tmp_path / "data", "--rehearsal") as editor:
        thread = await editor.new_thread(workspace, title="Told")
        await editor.say(thread, f"say: {SECRET}")
        told = midstream("export", thread.id, "--data-dir", tmp_path / "data")
        assert (told.status, told.out.startswith("# Told\n"), "hunter2" in told.out) == (0, True, False)
        lines = midstream("export", thread.id, "--jsonl", "--secrets", "--data-dir", tmp_path / "data").out
        assert lines == (await editor.call("thread/export", **whole(thread))).content
        assert "hunter2" in lines
        missing = midstream("export", "thr_none", "--data-dir", tmp_path / "data")
        assert (missing.status, missing.out, "thr_none" in missing.err) == (1, "", True)


async def test_a_fork_that_is_taken_in_elsewhere_has_what_it_inherited_as_its_own(
    tmp_path: Path, workspace: Path
) -> None:
    async with editor_on(tmp_path / "here", "--rehearsal") as editor:
        thread = await editor.new_thread(workspace)
        await editor.say(thread, "say: inherited")
        fork = await forked(editor, thread)
        await editor.say(fork, "say: own")
        shown = [item.id for item in await editor.items(fork)]
        exported = (await editor.call("thread/export", **whole(fork))).content
    (tmp_path / "fork.jsonl").write_text(exported)
    assert midstream("import", tmp_path / "fork.jsonl", "--data-dir", tmp_path / "there").status == 0
    async with editor_on(tmp_path / "there", "--rehearsal") as editor:
        read = await editor.read(fork)
        assert (read.thread.forked_from, [run.ordinal for run in read.runs]) == (None, [1, 2])
        assert {run.thread_id for run in read.runs} == {fork.id}
        assert [item.id for item in await editor.items(fork)] == shown
