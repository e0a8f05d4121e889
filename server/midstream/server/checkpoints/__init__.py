"""Checkpoints: the files of a workspace at a point, in a git store of our own; only this package runs git."""

from midstream.server.checkpoints.errors import (
    BadPath,
    CaptureTimedOut,
    CheckpointError,
    CheckpointMissing,
    GitFailed,
    PathNotInCheckpoint,
    RestoreStopped,
    WorkspaceRefused,
)
from midstream.server.checkpoints.health import Kept, ShadowRepository, git_version, repositories
from midstream.server.checkpoints.model import (
    Captured,
    ChangeStatus,
    Conflict,
    Diff,
    FileChange,
    FileContent,
    Hunk,
    Selection,
    Skipped,
)
from midstream.server.checkpoints.plan import Plan
from midstream.server.checkpoints.policy import CheckpointPolicy
from midstream.server.checkpoints.restore import Restore
from midstream.server.checkpoints.store import CheckpointStore

__all__ = [
    "BadPath",
    "CaptureTimedOut",
    "Captured",
    "ChangeStatus",
    "CheckpointError",
    "CheckpointMissing",
    "CheckpointPolicy",
    "CheckpointStore",
    "Conflict",
    "Diff",
    "FileChange",
    "FileContent",
    "GitFailed",
    "Hunk",
    "Kept",
    "PathNotInCheckpoint",
    "Plan",
    "Restore",
    "RestoreStopped",
    "Selection",
    "ShadowRepository",
    "Skipped",
    "WorkspaceRefused",
    "git_version",
    "repositories",
]
