"""What the checkpoint store answers. Paths are bytes, relative to the workspace, parted by ``/``."""

from collections.abc import Mapping
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


@frozen
class Version:
    """A file as a tree holds it: git's mode, such as ``100644``, and the name of its blob."""

    mode: str
    blob: str


@frozen
class Step:
    """What becomes of one path; None where there is no file."""

    path: bytes
    before: Version | None
    after: Version | None

    @property
    def reversed(self) -> "Step":
        return Step(self.path, self.after, self.before)


@frozen
class Conflict:
    """A path at which a restore would take away more than what it is asked to, and how."""

    path: bytes
    reason: str


@frozen
class Hunk:
    """The lines of a hunk without context, as its ``@@`` line counts them."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int


@frozen
class Selection:
    """What a restore brings back: everything, or the files at or below `paths`, or single `hunks` of files.

    `dirty` are files with unsaved edits in an editor.
    """

    paths: tuple[bytes, ...] | None = None
    hunks: Mapping[bytes, tuple[Hunk, ...]] | None = None
    dirty: frozenset[bytes] = frozenset()
