"""Workspaces in which an agent lays traps for git: nothing in them is run, and names stay names."""

import subprocess
from pathlib import Path

import pytest

from support.workspaces import Workspace, files_of, git

ODD_NAMES = [
    *(b"--upload-pack=touch pwned", b"-rf", b"--", b":(exclude)*", b"a\nb", b"\ttab", b'"quoted"', b"*", b"\xff\xfe"),
    *(b"refs/heads/x", b"@{-1}", b"a b", b"$(touch pwned)", b"`touch pwned`", b"; touch pwned", b"....", b"~"),
]


@pytest.fixture
def trapped(workspace: Workspace, tmp_path: Path) -> Path:
    """A nested repository whose missing objects git would fetch with a command of the repository's own.

    Returned is the file that the command makes.
    """
    made = tmp_path / "made-by-the-trap"
    nested = Workspace(workspace.path / "nested")
    nested.path.mkdir(parents=True)
    nested.commit(**{"missing/file": "1", "kept/file": "2"})
    nested.git("sparse-checkout", "init", "--cone", "--sparse-index")
    nested.git("sparse-checkout", "set", "kept")
    tree = nested.git("rev-parse", "HEAD:missing").decode().strip()
    (nested.path / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    for key, value in (
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", f"ext::touch {made}"),
        ("protocol.ext.allow", "always"),
    ):
        nested.git("config", key, value)
    return made


async def test_a_nested_repository_fetches_nothing_with_a_command_of_its_own(store, workspace, trapped) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        git(workspace.path / "nested", "-c", "protocol.allow=never", "cat-file", "-t", "HEAD:missing")
    assert trapped.exists()
    trapped.unlink()

    await store.capture(workspace.path, "thread", "1")
    assert not trapped.exists()


async def test_a_file_may_have_any_name_and_is_captured_and_read_by_it(store, workspace, data) -> None:
    for name in ODD_NAMES:
        workspace.write(name, name)
    captured = await store.capture(workspace.path, "thread", "1")

    assert {name: content for name, (_, content) in files_of(data, captured.ref).items()} == {
        name: name for name in ODD_NAMES
    }
    for name in ODD_NAMES:
        assert (await store.file(workspace.path, captured.ref, name)).content == name
        changed = workspace.write(name, b"changed")
        diff = await store.diff(workspace.path, captured.ref, None, path=name, patch=True)
        assert [change.path for change in diff.files] == [name]
        changed.write_bytes(name)
    assert not list(workspace.path.rglob("pwned"))
