"""What lies in the workspace where a restore wants to write, and no tree holds. Only looks."""

import os
import stat
from collections.abc import Iterator, Mapping

from midstream.server.checkpoints.changes import look
from midstream.server.checkpoints.plan import Aim, Obstacle
from midstream.server.checkpoints.policy import CheckpointPolicy


def find_obstacles(root: bytes, wanted: Mapping[bytes, Aim], policy: CheckpointPolicy) -> list[Obstacle]:
    """Return what is in the way of the files to be created below `root`."""
    going = {path for path, aim in wanted.items() if aim.now is not None and aim.goal is None}
    return [
        Obstacle(found, path, lasting=not _can_be_kept(root, found, policy))
        for path, aim in wanted.items()
        if aim.now is None and aim.goal is not None
        for found in _in_the_way(root, path)
        if found not in going
    ]


def _in_the_way(root: bytes, path: bytes) -> Iterator[bytes]:
    parts = path.split(b"/")
    for length in range(1, len(parts) + 1):
        place = b"/".join(parts[:length])
        try:
            mode = os.lstat(root + b"/" + place).st_mode
        except FileNotFoundError:
            return
        if not stat.S_ISDIR(mode):
            yield place
            return
    yield from _files_in(root, path)


def _files_in(root: bytes, folder: bytes) -> Iterator[bytes]:
    """Return the files in a folder; a git directory counts as one, for no checkpoint holds what is in it."""
    with os.scandir(root + b"/" + folder) as entries:
        for entry in entries:
            path = folder + b"/" + entry.name
            if entry.is_dir(follow_symlinks=False) and entry.name != b".git":
                yield from _files_in(root, path)
            else:
                yield path


def _can_be_kept(root: bytes, path: bytes, policy: CheckpointPolicy) -> bool:
    found = look(root, path)
    return found.kind == "file" and b".git" not in path.split(b"/") and not policy.too_large(found.size, tracked=False)
