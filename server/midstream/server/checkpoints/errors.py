"""What can go wrong with a checkpoint; every message is fit to be shown to the user."""


class CheckpointError(Exception):
    """A checkpoint could not be taken or read."""


class WorkspaceRefused(CheckpointError):
    """The policy takes no checkpoint of this folder."""


class CheckpointMissing(CheckpointError):
    """The store holds no checkpoint under this ref."""


class PathNotInCheckpoint(CheckpointError):
    """The checkpoint holds no file at this path."""


class CaptureTimedOut(CheckpointError):
    """Looking at the workspace took longer than the policy allows."""


class GitFailed(CheckpointError):
    """git could not be started, or ended with an error."""


class RestoreStopped(CheckpointError):
    """A file changed while it was restored; what had been written was taken back. `path` names it."""

    def __init__(self, path: bytes, message: str) -> None:
        super().__init__(message)
        self.path = path


class BadPath(ValueError):
    """A path that does not name a file below the workspace."""
