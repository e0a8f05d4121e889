"""`checkpoint/*`: params and results."""

from typing import Literal

from attrs import frozen

from midstream.protocol.base import CheckpointId, ThreadId, optional
from midstream.protocol.checked import RelativePath
from midstream.protocol.methods.params import ChangeParams, Params
from midstream.protocol.records.checkpoint import Checkpoint, FileSummary


@frozen(kw_only=True)
class CheckpointListParams(Params):
    """A thread whose checkpoints to list."""

    thread_id: ThreadId


@frozen(kw_only=True)
class CheckpointListResult:
    """A thread's checkpoints, oldest first."""

    checkpoints: tuple[Checkpoint, ...]


@frozen(kw_only=True)
class CheckpointCreateParams(ChangeParams):
    """Capture the workspace now."""

    thread_id: ThreadId
    label: str | None = optional()


@frozen(kw_only=True)
class CheckpointResult:
    """The checkpoint."""

    checkpoint: Checkpoint


@frozen(kw_only=True)
class CheckpointDiffParams(Params):
    """Compare two checkpoints, or one with the workspace as it is (`to`: "workspace"); `context` in lines."""

    thread_id: ThreadId
    from_: CheckpointId
    to: str
    path: RelativePath | None = optional()
    context: int | None = optional()
    patch: bool | None = optional()


@frozen(kw_only=True)
class CheckpointDiffResult:
    """What differs; `patch` null unless asked for; `truncated` where more differs than is shown."""

    files: tuple[FileSummary, ...]
    patch: str | None
    truncated: bool


@frozen(kw_only=True)
class CheckpointFileParams(Params):
    """A file as a checkpoint holds it."""

    checkpoint_id: CheckpointId
    path: RelativePath


@frozen(kw_only=True)
class CheckpointFileResult:
    """The file's content; `mode` is git's, `bytes` its size."""

    encoding: Literal["utf-8", "base64"]
    content: str
    mode: str
    bytes: int


@frozen(kw_only=True)
class Hunk:
    """A hunk of a diff with no context, as git counts its lines."""

    path: RelativePath
    old_start: int
    old_lines: int
    new_start: int
    new_lines: int


@frozen(kw_only=True)
class CheckpointRestoreParams(ChangeParams):
    """Bring files, or single hunks, back to a checkpoint; `dirty_paths` have unsaved edits in the editor."""

    checkpoint_id: CheckpointId
    paths: tuple[RelativePath, ...] | None = optional()
    hunks: tuple[Hunk, ...] | None = optional()
    dry_run: bool | None = optional()
    force: bool | None = optional()
    dirty_paths: tuple[RelativePath, ...] | None = optional()
