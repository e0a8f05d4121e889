"""What the doctor says of the rest of a data folder, of the configuration, and of what a dead daemon left."""

import base64
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from midstream.server.checkpoints import repositories
from midstream.server.cli.doctor.checkpoints import examine_repository
from midstream.server.cli.doctor.examination import Examination
from midstream.server.providers.process import MARK
from support.doctor import examined, locked
from support.editor import editor_on
from support.workspaces import git, shadow_of


async def test_the_daemon_is_known_by_the_lock_that_it_holds(tmp_path: Path) -> None:
    version = (await examined(tmp_path)).report.versions["midstream"]
    with locked(tmp_path, f'{{"pid": 4711, "version": "{version}"}}'.encode()):
        assert (await examined(tmp_path)).about("daemon") == [("ok", "a daemon runs, pid 4711")]
    assert (await examined(tmp_path)).about("daemon") == [("ok", "none runs")]


async def test_a_daemon_of_another_version_is_named(tmp_path: Path) -> None:
    with locked(tmp_path, b'{"pid": 4711, "version": "0.0.1"}'):
        ((severity, message),) = (await examined(tmp_path)).about("daemon")
    assert severity == "warning"
    assert "pid 4711, of version 0.0.1" in message


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff", b"[]", b'{"pid": "x"}', b"[" * 10_000],
    ids=["empty", "bytes", "list", "text", "deep"],
)
async def test_a_lock_that_says_nothing_is_still_a_daemon_that_runs(tmp_path: Path, content: bytes) -> None:
    with locked(tmp_path, content):
        assert (await examined(tmp_path)).about("daemon") == [("ok", "a daemon runs")]


async def test_a_pipe_in_the_place_of_the_lock_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "daemon.lock")
    assert (await examined(tmp_path)).about("daemon") == [("ok", "none runs")]


async def test_what_a_dead_daemon_left_needs_nobody(tmp_path: Path) -> None:
    (tmp_path / "daemon.lock").write_text('{"pid": 4711, "version": "0.1.0"}')
    (tmp_path / "daemon.sock").touch()
    found = await examined(tmp_path)
    assert found.about("daemon") == [("ok", "none runs; daemon.sock is of one that died, the next one replaces it")]


async def test_a_data_folder_that_is_not_there_is_no_fault_and_is_not_made(tmp_path: Path) -> None:
    found = await examined(tmp_path / "data")
    assert (found.errors, found.report.disk) == ([], None)
    assert not (tmp_path / "data").exists()


async def test_a_file_where_the_data_folder_should_be_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for data in (tmp_path / "file", tmp_path / "file" / "data"):
        assert (await examined(data)).wrong == ["data folder"]


async def test_a_data_folder_that_is_open_to_others_is_told_of(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert (await examined(tmp_path)).about("data folder") == [("warning", f"{tmp_path} is open to other users")]


@pytest.mark.parametrize(
    "content", [b"not toml", b"\xff\xfe", b"[handoff]\nbudget_token = 3\n", b"[providers.x]\ndriver = 3\n"]
)
async def test_a_broken_configuration_is_an_error_and_what_is_right_in_it_is_used(
    tmp_path: Path, content: bytes
) -> None:
    config = tmp_path / "broken.toml"
    config.write_bytes(content)
    found = await examined(tmp_path, config)
    assert [(subject, str(config) in said) for subject, said in found.errors] == [("configuration", True)]
    assert found.about("agent codex")[0][0] == "warning"


async def test_a_folder_where_the_configuration_should_be_is_an_error(tmp_path: Path) -> None:
    assert (await examined(tmp_path, tmp_path)).wrong == ["configuration"]


async def test_that_git_is_missing_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = await examined(tmp_path)
    assert (found.wrong, found.report.versions["git"]) == (["git"], "missing")


def test_what_nobody_thought_of_is_a_finding_and_ends_nothing(tmp_path: Path) -> None:
    examination = Examination(tmp_path)
    with examination.guarded("something"):
        raise RuntimeError("odd")
    (finding,) = examination.findings
    assert (finding.severity, finding.message) == ("error", "could not be looked at: RuntimeError: odd")


async def test_a_run_that_ended_with_its_daemon_is_told_of(tmp_path: Path, workspace: Path) -> None:
    data = tmp_path / "data"
    async with editor_on(data, "--rehearsal") as editor:
        run = await editor.begin(await editor.new_thread(workspace), "say: begun\nsleep 600000")
        await editor.until_output(run, "begun")
        await editor.kill()
    found = await examined(data)
    assert found.errors == []
    assert found.about("threads") == [("warning", "1 run ended with a daemon that died")]


async def test_checkpoints_that_are_gone_are_an_error_and_their_threads_are_named(data: Path) -> None:
    shutil.rmtree(data / "checkpoints")
    ((subject, message),) = (await examined(data)).errors
    assert (subject, message.split(" of thr_")[0]) == ("checkpoints", "5 checkpoints")


async def test_a_checkpoint_that_lost_a_file_is_an_error(data: Path) -> None:
    shadow = shadow_of(data / "checkpoints")
    blob = git(shadow, "hash-object", "--stdin", stdin=b"two\n").decode().strip()
    (shadow / "objects" / blob[:2] / blob[2:]).unlink()
    ((subject, message),) = (await examined(data)).errors
    assert (subject, f"missing blob {blob}" in message) == ("checkpoints", True)


async def test_a_checkpoint_store_that_git_cannot_read_is_an_error(data: Path) -> None:
    (shadow_of(data / "checkpoints") / "config").write_text("[")
    assert set((await examined(data)).wrong) == {"checkpoints"}


async def test_a_checkpoint_that_no_thread_names_is_told_of_and_is_no_fault(data: Path) -> None:
    shadow = shadow_of(data / "checkpoints")
    before = (await examined(data)).about("checkpoints")
    tree = git(shadow, "hash-object", "-t", "tree", "-w", "--stdin").decode().strip()
    commit = git(shadow, "commit-tree", tree, "-m", "of nobody").decode().strip()
    git(shadow, "update-ref", "refs/ck/thr_gone/ckp_gone", commit)
    after = await examined(data)
    assert (after.errors, after.about("checkpoints") == before) == ([], False)
    assert after.about("checkpoints")[-1][1].endswith("kept that no thread names")


async def test_a_checkpoint_store_that_takes_too_long_to_look_at_is_given_up(data: Path) -> None:
    (repository,) = repositories(data / "checkpoints")
    given_up = await examine_repository(repository, seconds=0)
    assert given_up.finding.severity == "warning"
    assert "could not be looked at within 0 s" in given_up.finding.message


async def test_attachments_that_nobody_uses_or_that_are_gone_are_found(tmp_path: Path, workspace: Path) -> None:
    data = tmp_path / "data"
    async with editor_on(data, "--rehearsal") as editor:
        thread = await editor.new_thread(workspace)
        image = {"type": "image", "mimeType": "image/png", "base64": base64.b64encode(b"pixels").decode()}
        message = {"text": "say: seen", "attachments": [image]}
        started = await editor.call("run/start", thread_id=thread.id, message=message)
        await editor.ended(started.run)
    found = await examined(data)
    assert found.about("attachments") == [("ok", "1 image, each used by a thread")]
    assert found.report.disk is not None
    assert [used.attachments for used in found.report.disk.threads] == [len(b"pixels")]
    (used,) = (data / "attachments").glob("*/*")
    (data / "attachments" / "of-nobody").write_bytes(b"x" * 1500)
    assert (await examined(data)).about("attachments") == [("warning", "1 file that no thread uses, 1.5 KB")]
    used.unlink()
    assert (await examined(data)).errors == [("attachments", "1 image of messages gone")]


async def test_an_agent_whose_daemon_is_dead_is_named_with_how_to_end_it(tmp_path: Path) -> None:
    left = subprocess.Popen(
        [sys.executable, "-S", "-c", "import sys; sys.stdin.read()"],
        env={**os.environ, MARK: "of-a-dead-daemon"},
        stdin=subprocess.PIPE,
    )
    with left:
        (finding,) = [found for found in (await examined(tmp_path)).report.findings if found.subject == "processes"]
        left.kill()
    assert finding.severity == "warning"
    assert f" {left.pid} (" in finding.message
    assert str(left.pid) in (finding.action or "").split()
