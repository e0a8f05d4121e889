"""What the checkpoint store answers. Paths are bytes, relative to the workspace, parted by ``/``."""

from typing import Literal, TypeAlias

from attrs import frozen

ChangeStatus: TypeAlias = Literal["added", "modified", "deleted", "renamed", "typeChanged"]


@frozen
class Skipped:
    """A file that the checkpoint does not hold as it is now, and why."""

    path: bytes
    reason: str


@frozen
class Captured:
    """A checkpoint that was taken: `ref` names it in later calls, equal `tree`s mean equal files."""

    ref: str
    tree: str
    skipped: tuple[Skipped, ...]


@frozen
class FileChange:
    """One changed file; `additions` and `deletions` count lines, and are None where it is binary."""

    path: bytes
    old_path: bytes | None
    status: ChangeStatus
    additions: int | None
    deletions: int | None
    binary: bool


@frozen
class Diff:
    """The changed files, and their unified patch if asked for; `truncated` when either was cut short."""

    files: tuple[FileChange, ...]
    patch: str | None
    truncated: bool


@frozen
class FileContent:
    """A file's raw bytes (a symlink's are its target) and its git mode, such as ``100644``."""

    content: bytes
    mode: str
