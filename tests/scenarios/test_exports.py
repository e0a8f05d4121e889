"""Exporting threads, over the wire and from the command line."""

import json
from pathlib import Path

from scenarios.test_forks import forked
from support.editor import Editor

SECRET = "password = hunter2hunter2"


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
