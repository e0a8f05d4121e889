"""`midstream doctor`: what it finds, and the rebuild of the tables."""

import json
import os
import subprocess
import sys
from pathlib import Path

from support.editor import Editor, editor_on

DOCTOR = [sys.executable, "-c", "import sys; from midstream.server.cli.main import main; sys.exit(main())", "doctor"]


def doctor(data: Path, *flags: str) -> tuple[int, list[dict[str, str]]]:
    command = [*DOCTOR, "--data-dir", str(data), "--config", os.devnull, "--json", *flags]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    return done.returncode, json.loads(done.stdout)


def about(findings: list[dict[str, str]], subject: str) -> dict[str, str]:
    return next(finding for finding in findings if finding["subject"].startswith(subject))


async def test_a_rebuild_gives_the_same_threads_runs_and_items(tmp_path: Path, workspace: Path) -> None:
    async def everything(editor: Editor) -> tuple[object, ...]:
        page = await editor.call("thread/list")
        read = await editor.call("thread/read", thread_id=page.threads[0].id)
        return page, read, await editor.items(page.threads[0])

    async with editor_on(tmp_path / "data", "--rehearsal") as editor:
        thread = await editor.new_thread(workspace)
        await editor.say(thread, "write a.txt: one\nstream 100 300")
        await editor.say(thread, "say: two", "understudy")
    async with editor_on(tmp_path / "data", "--rehearsal") as editor:
        before = await everything(editor)
    status, findings = doctor(tmp_path / "data", "--rebuild")
    assert (status, about(findings, "store")["state"]) == (0, "tables made anew from the log")
    async with editor_on(tmp_path / "data", "--rehearsal") as editor:
        assert await everything(editor) == before


def test_a_data_folder_without_a_store_is_no_fault(tmp_path: Path) -> None:
    status, findings = doctor(tmp_path)
    assert (status, about(findings, "store")["state"]) == (0, "not there yet")
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_store_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    store = tmp_path / "midstream.db"
    store.write_bytes(b"this is no database, whatever its name says" * 100)
    before = store.read_bytes()
    status, findings = doctor(tmp_path)
    assert (status, about(findings, "store")["state"]) == (1, "storeCorrupt")
    assert str(store) in about(findings, "store")["problem"]
    assert store.read_bytes() == before


def test_an_agent_that_cannot_be_driven_yet_is_named_with_why(tmp_path: Path) -> None:
    _, findings = doctor(tmp_path)
    assert about(findings, "provider codex")["state"] == "cannot be used"
    assert "cannot drive codex" in about(findings, "provider codex")["problem"]
