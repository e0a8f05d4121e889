"""Checkpoints: the workspace's files at a point."""

from typing import Literal, TypeAlias

from attrs import frozen

from midstream.protocol.base import CheckpointId, RunId, ThreadId, Time, optional

CheckpointKind: TypeAlias = Literal["baseline", "run", "manual", "safety", "subagent"]


@frozen(kw_only=True)
class FileSummary:
    """One changed file. `path_base64` holds its name's bytes where they are not UTF-8; `path` is then for display."""

    path: str
    path_base64: str | None = optional()
    old_path: str | None = optional()
    status: Literal["added", "modified", "deleted", "renamed", "typeChanged"]
    additions: int | None
    deletions: int | None
    binary: bool


@frozen(kw_only=True)
class SkippedFile:
    """A file that the checkpoint does not hold, and why."""

    path: str
    reason: str


@frozen(kw_only=True)
class Checkpoint:
    """The workspace's files at a point; `files` are the changes since the parent checkpoint."""

    id: CheckpointId
    thread_id: ThreadId
    scope_id: str
    run_id: RunId | None
    run_ordinal: int | None
    parent_checkpoint_id: CheckpointId | None
    label: str | None
    kind: CheckpointKind
    ref: str
    status: Literal["ready", "missing", "error"]
    mixed: bool
    files: tuple[FileSummary, ...]
    skipped: tuple[SkippedFile, ...]
    problem: str | None
    captured_at: Time


@frozen(kw_only=True)
class Conflict:
    """A path that a restore would have overwritten."""

    path: str
    reason: str


@frozen(kw_only=True)
class RestoreResult:
    """What a restore did, or would do."""

    written: tuple[str, ...]
    deleted: tuple[str, ...]
    conflicts: tuple[Conflict, ...]
    safety_checkpoint_id: CheckpointId | None
