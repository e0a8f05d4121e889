"""Where a workspace lies: its work tree, and the user's repository there, found without running git.

Reading the files ourselves trusts nothing that the repository configures (``core.worktree``) and works
in one that belongs to someone else.
"""

from collections.abc import Container
from pathlib import Path

from attrs import frozen


@frozen
class Repository:
    """The user's repository. `git_dir` is this work tree's own, `common_dir` what its worktrees share."""

    git_dir: Path
    common_dir: Path

    @property
    def index(self) -> Path:
        return self.git_dir / "index"


@frozen
class Place:
    """A workspace: the folder `prefix` (empty, or ending in ``/``) of the work tree `root`."""

    root: Path
    prefix: bytes
    repository: Repository | None

    @property
    def pathspec(self) -> tuple[bytes, ...]:
        """The arguments that limit a git command to the workspace."""
        return (b"--", self.prefix) if self.prefix else ()


def locate(workspace: Path, *, never_roots: Container[Path]) -> Place:
    """Find the innermost work tree around the canonical `workspace`.

    A work tree in `never_roots` (a home folder kept in git) does not count: its rules were not made for
    what lies below it. Without a work tree the workspace is its own root.
    """
    for folder in (workspace, *workspace.parents):
        repository = None if folder in never_roots else repository_at(folder)
        if repository is not None:
            below = bytes(workspace.relative_to(folder)) + b"/"
            return Place(folder, b"" if folder == workspace else below, repository)
    return Place(workspace, b"", None)


def repository_at(folder: Path) -> Repository | None:
    """Return the repository whose work tree is `folder`, or None."""
    git_dir = folder / ".git"
    try:
        if git_dir.is_file():
            git_dir = folder / _pointer(git_dir, "gitdir: ")
        common = git_dir / "commondir"
        common_dir = git_dir / _pointer(common, "") if common.is_file() else git_dir
    except (OSError, ValueError):
        return None
    whole = (git_dir / "HEAD").exists() or (git_dir / "HEAD").is_symlink()
    if not (whole and (common_dir / "objects").is_dir() and (common_dir / "refs").is_dir()):
        return None
    return Repository(git_dir.resolve(), common_dir.resolve())


def _pointer(file: Path, mark: str) -> str:
    text = file.read_bytes().decode(errors="surrogateescape")
    if not text.startswith(mark):
        raise ValueError(f"{file} does not point to a git directory")
    return text.removeprefix(mark).rstrip("\r\n")
