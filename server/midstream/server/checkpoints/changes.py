"""What differs between the work tree and a private index."""

import asyncio
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypeAlias

from attrs import frozen

from midstream.server.checkpoints.errors import GitFailed
from midstream.server.checkpoints.git import split_z, together
from midstream.server.checkpoints.model import Skipped
from midstream.server.checkpoints.nested import Nested
from midstream.server.checkpoints.policy import CheckpointPolicy
from midstream.server.checkpoints.shadow import Shadow

Kind: TypeAlias = Literal["file", "absent", "unreadable", "special"]


@frozen
class Found:
    """What lies at a path; a folder in place of a file counts as absent."""

    kind: Kind
    size: int = 0


@frozen
class Changes:
    """Paths whose content the index has to take, paths it has to lose, and files that are left out."""

    stage: list[bytes]
    forget: list[bytes]
    skipped: list[Skipped]

    def __bool__(self) -> bool:
        """Tell whether the index has to change."""
        return bool(self.stage or self.forget)


async def find_changes(
    shadow: Shadow, index: Path, policy: CheckpointPolicy, *, look_for_tracked_ignored: bool
) -> Changes:
    """Compare the workspace with `index`. Raises GitFailed.

    `look_for_tracked_ignored` costs a walk of the user's index, and is needed whenever that has changed.
    """
    git, spec = shadow.scanning(index), shadow.place.pathspec
    edited, untracked, tracked_ignored = await together(
        git.run("diff-files", "-z", "--name-status", "--no-renames", "--ignore-submodules=all", *spec),
        git.run("ls-files", "-o", "-z", "--exclude-standard", *spec),
        _user_lists(shadow, "-c", "-i", "--exclude-standard") if look_for_tracked_ignored else _nothing(),
    )
    changed, gone = parse_name_status(edited)
    new = {*split_z(untracked), *split_z(tracked_ignored)}
    root = bytes(shadow.place.root)
    found = await asyncio.to_thread(_look_all, root, changed)
    # Where a file was there may be a repository now, which git does not show while the file is in the index.
    swapped = {path for path, it in found.items() if it.kind == "absent"}
    nested = await Nested(shadow.place.root, shadow.lock).resolve(new | swapped)
    found |= await asyncio.to_thread(_look_all, root, nested.files)
    large = {path for path, it in found.items() if policy.too_large(it.size, tracked=False)}
    tracked = large & set(split_z(await _user_lists(shadow, "-c"))) if large else set()
    decided = decide(found, tracked, policy)
    return Changes(
        stage=decided.stage,
        forget=[*gone, *decided.forget],
        skipped=[*nested.unreadable, *decided.skipped],
    )


def decide(found: dict[bytes, Found], tracked: set[bytes], policy: CheckpointPolicy) -> Changes:
    """Say what becomes of each path that was `found`."""
    changes = Changes([], [], [])
    for path, it in found.items():
        if it.kind == "absent":
            changes.forget.append(path)
        elif it.kind != "file":
            changes.skipped.append(Skipped(path, "unreadable" if it.kind == "unreadable" else "not a regular file"))
        elif policy.too_large(it.size, tracked=path in tracked):
            changes.skipped.append(Skipped(path, f"too large: {it.size} bytes"))
        else:
            changes.stage.append(path)
    return changes


def parse_name_status(out: bytes) -> tuple[list[bytes], list[bytes]]:
    """Parse ``diff-files -z --name-status --no-renames`` into changed and deleted paths."""
    fields = split_z(out)
    pairs = list(zip(fields[::2], fields[1::2], strict=True))
    changed = [path for status, path in pairs if status != b"D"]
    return changed, [path for status, path in pairs if status == b"D"]


def look(root: bytes, path: bytes) -> Found:
    """Say what lies at `path` below `root`, without following a symlink at its end."""
    file = root + b"/" + path
    try:
        mode = os.lstat(file)
    except (FileNotFoundError, NotADirectoryError):
        return Found("absent")
    except OSError:
        return Found("unreadable")
    if stat.S_ISDIR(mode.st_mode):
        return Found("absent")
    if stat.S_ISLNK(mode.st_mode):
        return Found("file", mode.st_size)
    if not stat.S_ISREG(mode.st_mode):
        return Found("special")
    return Found("file" if os.access(file, os.R_OK) else "unreadable", mode.st_size)


def _look_all(root: bytes, paths: Iterable[bytes]) -> dict[bytes, Found]:
    return {path: look(root, path) for path in paths}


async def _user_lists(shadow: Shadow, *options: str) -> bytes:
    """List files by the user's index; nothing where they have none that git can read."""
    index = shadow.git_dir / "index.user"
    try:
        if not shadow.copy_user_index(index):
            return b""
        return await shadow.scanning(index).run("ls-files", "-z", *options, *shadow.place.pathspec)
    except (GitFailed, OSError):
        return b""
    finally:
        index.unlink(missing_ok=True)


async def _nothing() -> bytes:
    return b""
