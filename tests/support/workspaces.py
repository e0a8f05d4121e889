"""Workspaces with real git repositories in them, and views of what a checkpoint may not touch."""

import os
import subprocess
from pathlib import Path

from attrs import frozen

OLD = 1_700_000_000
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "user",
    "GIT_AUTHOR_EMAIL": "user@localhost",
    "GIT_COMMITTER_NAME": "user",
    "GIT_COMMITTER_EMAIL": "user@localhost",
}


def git(folder: Path, *args: str | bytes, stdin: bytes = b"") -> bytes:
    """Run git as the user would, with no inherited ``GIT_*``, and return what it printed."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main", *args]
    return subprocess.run(
        command, cwd=folder, env={**inherited, **_ENVIRONMENT}, input=stdin, check=True, capture_output=True
    ).stdout


@frozen
class Workspace:
    """A folder of files, and the user's git repository in it once `commit` was called."""

    path: Path

    def file(self, name: str | bytes) -> Path:
        return self.path / os.fsdecode(name)

    def write(self, name: str | bytes, content: str | bytes = b"") -> Path:
        """Write a file, with the folders above it."""
        file = self.file(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def age(self, file: Path) -> None:
        """Make `file` old enough for git to trust what its index says of it."""
        os.utime(file, (OLD, OLD))

    def git(self, *args: str | bytes, stdin: bytes = b"") -> bytes:
        return git(self.path, *args, stdin=stdin)

    def files(self) -> dict[str, bytes]:
        """Return the content of every file, those in git directories aside; of a symlink its target."""
        return {
            os.fsdecode(bytes(path.relative_to(self.path))): os.fsencode(path.readlink())
            if path.is_symlink()
            else path.read_bytes()
            for path in sorted(self.path.rglob("*"))
            if (path.is_symlink() or path.is_file()) and ".git" not in path.relative_to(self.path).parts
        }

    def commit(self, **files: str | bytes) -> None:
        """Write `files`, and commit everything, in a repository that is made if need be."""
        for name, content in files.items():
            self.age(self.write(name, content))
        if not self.file(".git").exists():
            self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "commit")


def state(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return mode, modification time and content of everything in `folder`; any write there changes it.

    A lock file that came and went shows in the time of its folder. The times of object files are left
    out: git renews that of an object which it would have written, and shared ones are hard-linked.
    """
    found = {}
    for path in (folder, *folder.rglob("*")):
        at = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        shared = path.is_file() and "objects" in path.parts
        found[str(path)] = (at.st_mode, 0 if shared else at.st_mtime_ns, content)
    return found


def git_state(workspace: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return the `state` of every git directory of `workspace`, nested and pointed-to ones included."""
    found = {}
    for pointer in workspace.rglob(".git"):
        git_dir = pointer
        if pointer.is_file():
            git_dir = pointer.parent / pointer.read_text().removeprefix("gitdir: ").strip()
        found.update(state(git_dir))
        common = git_dir / "commondir"
        if common.is_file():
            found.update(state(git_dir / common.read_text().strip()))
    return found


def shadow_of(data: Path) -> Path:
    """Return the only shadow repository below `data`."""
    (shadow,) = data.glob("*/shadow.git")
    return shadow


def files_of(data: Path, ref: str) -> dict[bytes, tuple[str, bytes]]:
    """Return mode and content of every file of the checkpoint `ref`, by path."""
    shadow = shadow_of(data)
    files = {}
    for line in git(shadow, "ls-tree", "-r", "-z", ref).split(b"\0")[:-1]:
        facts, path = line.split(b"\t", 1)
        mode, _, blob = facts.split(b" ")
        files[path] = (mode.decode(), git(shadow, "cat-file", "blob", blob))
    return files
