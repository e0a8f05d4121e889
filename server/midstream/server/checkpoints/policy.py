"""What is captured at all: which folders are refused, and how large a file may be."""

from collections.abc import Iterable
from pathlib import Path

from attrs import frozen


@frozen
class CheckpointPolicy:
    """Limits of the checkpoints: sizes in bytes, `files` and `patch_bytes` for one diff.

    With less than `min_free_bytes` on the disk of the store none is taken. Of a thread `keep` are kept, for
    `keep_days`; above `max_store_bytes` the oldest of all threads go.

    Tracked means tracked by the user's own repository.
    """

    enabled: bool = True
    max_untracked_bytes: int = 10 << 20
    max_tracked_bytes: int = 50 << 20
    min_free_bytes: int = 32 << 20
    max_store_bytes: int = 2 << 30
    keep: int = 100
    keep_days: float = 30
    capture_seconds: float = 60.0
    patch_bytes: int = 256 << 10
    files: int = 2000

    def too_large(self, size: int, *, tracked: bool) -> bool:
        """Tell whether a file of `size` bytes is left out."""
        return size > (self.max_tracked_bytes if tracked else self.max_untracked_bytes)


def refusal(workspace: Path, *, home: Path, data: Path, temporary: Iterable[Path]) -> str | None:
    """Say why no checkpoint of `workspace` is taken, or None. All paths are canonical."""
    if home.is_relative_to(workspace):
        return f"no checkpoints of {workspace}: it holds your home folder"
    if workspace in temporary:
        return f"no checkpoints of {workspace}: it is a folder for temporary files"
    if data.is_relative_to(workspace):
        return f"no checkpoints of {workspace}: it holds Midstream's own data"
    if ".git" in workspace.parts:
        return f"no checkpoints of {workspace}: it lies inside a git directory"
    return None
