"""Another user of the machine reads nothing that a daemon keeps, whatever the umask and the folder's earlier mode.

The daemon runs as one unprivileged user, with umask 000, and another one tries.
"""

import base64
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from support.editor import Editor, editor_on
from support.users import BECOME_OWNER, OUTSIDER, OWNER, interpreter, readable_by, search_path


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder of the owner's that everybody may enter and read."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    home = Path(tempfile.mkdtemp(prefix="midstream-owner-"))
    workspace = home / "workspace"
    workspace.mkdir()
    (workspace / "a.txt").write_text("a\n")
    for path in (home, workspace, workspace / "a.txt"):
        os.chown(path, OWNER, OWNER)
        path.chmod(0o755 if path.is_dir() else 0o644)
    yield home
    shutil.rmtree(home)


@asynccontextmanager
async def owners_editor(home: Path, data: Path) -> AsyncIterator[Editor]:
    environment = {"HOME": str(home), "PYTHONPATH": search_path()}
    launcher = [interpreter(), "-c", BECOME_OWNER]
    async with editor_on(data, "--rehearsal", env=environment, launcher=launcher) as editor:
        yield editor


async def use(editor: Editor, home: Path) -> None:
    """Have something of every kind in the data folder."""
    thread = await editor.new_thread(home / "workspace")
    image = {"type": "image", "mimeType": "image/png", "base64": base64.b64encode(b"pixels").decode()}
    message = {"text": "write b.txt: b\nsay: hello", "attachments": [image]}
    await editor.ended((await editor.call("run/start", thread_id=thread.id, message=message)).run)
    await editor.say(thread, "say: hello", "understudy")


def tree(folder: Path) -> list[Path]:
    return [folder, *sorted(folder.rglob("*"))]


def open_to_others(folder: Path) -> list[str]:
    """Return the folders and files that others have any right to, but for git's files, which lie behind a folder."""
    paths = [path for path in tree(folder) if path.is_dir() or "checkpoints" not in path.parts]
    return [f"{path.stat().st_mode & 0o777:o} {path}" for path in paths if path.stat().st_mode & 0o077]


async def test_the_means_of_these_tests_tell_what_is_forbidden_from_what_is_allowed(home: Path) -> None:
    secret = home / "secret"
    secret.write_text("secret")
    os.chown(secret, OWNER, OWNER)
    secret.chmod(0o600)
    assert readable_by(OUTSIDER, [secret, home / "workspace" / "a.txt", home]) == [
        str(home / "workspace" / "a.txt"),
        str(home),
    ]
    assert readable_by(OWNER, [secret]) == [str(secret)]
    assert readable_by(OWNER, [Path("/etc/shadow")]) == []


async def test_no_other_user_reads_anything_of_a_new_data_folder(home: Path) -> None:
    data = home / "deep" / "data"
    async with owners_editor(home, data) as editor:
        await use(editor, home)
        names = {path.relative_to(data).parts[0] for path in tree(data)[1:]}
        assert {"midstream.db", "midstream.db-wal", "midstream.db-shm", "midstream.db.lock"} <= names
        assert {"daemon.lock", "daemon.sock", "log", "checkpoints", "attachments", "rehearsal"} <= names
        assert data.stat().st_uid == OWNER
        assert open_to_others(data.parent) == []
        assert readable_by(OUTSIDER, tree(data.parent)) == []
        for folder in (data.parent, data):  # what is inside does not rely on it
            folder.chmod(0o755)
        assert readable_by(OUTSIDER, tree(data)) == [str(data)]
    assert readable_by(OUTSIDER, tree(data)) == [str(data)]


async def test_a_data_folder_that_was_open_to_all_is_closed_with_all_in_it(home: Path) -> None:
    data = home / "data"
    async with owners_editor(home, data) as editor:
        await use(editor, home)
    for path in tree(data):
        path.chmod(0o777 if path.is_dir() else 0o666)
    assert readable_by(OUTSIDER, tree(data)) == [str(path) for path in tree(data)]
    async with owners_editor(home, data) as editor:
        await use(editor, home)
        assert open_to_others(data) == []
        assert readable_by(OUTSIDER, tree(data)) == []
        data.chmod(0o755)
        assert readable_by(OUTSIDER, tree(data)) == [str(data)]


async def test_what_agents_write_in_the_workspace_has_the_modes_that_the_user_chose(home: Path) -> None:
    async with owners_editor(home, home / "data") as editor:
        await use(editor, home)
        assert (home / "workspace" / "b.txt").stat().st_mode & 0o777 == 0o666
