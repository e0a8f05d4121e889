"""Single hunks of a diff from a checkpoint to the workspace, as a restore that undoes them."""

from collections.abc import Mapping

from midstream.server.checkpoints.content import read_blobs
from midstream.server.checkpoints.diff import parse_changes
from midstream.server.checkpoints.git import Git
from midstream.server.checkpoints.hunks import parse_hunks, undo
from midstream.server.checkpoints.model import Conflict, Hunk, Version
from midstream.server.checkpoints.plan import Aim
from midstream.server.checkpoints.trees import versions

NO_SUCH_HUNK = "has no such hunk any more"
_DIFF_TREE = ("diff-tree", "-r", "-M", "--no-ext-diff", "--no-textconv")


async def reject(
    git: Git, target: str, now: str, hunks: Mapping[bytes, tuple[Hunk, ...]]
) -> tuple[dict[bytes, Aim], tuple[Conflict, ...]]:
    """Return what the files become without these hunks, and those whose hunks are not there.

    `target` and `now` are trees; a renamed file is known by its new name, as in the diff. Raises GitFailed.
    """
    changes = parse_changes(await git.run(*_DIFF_TREE, "-z", "--raw", "--numstat", target, now))
    old_names = {change.path: change.old_path or change.path for change in changes}
    wanted: dict[bytes, Aim] = {}
    conflicts: list[Conflict] = []
    for path, asked in hunks.items():
        aim = await _without(git, target, now, path, old_names.get(path), asked)
        if aim is None:
            conflicts.append(Conflict(path, NO_SUCH_HUNK))
        else:
            wanted[path] = aim
    return wanted, tuple(conflicts)


async def _without(
    git: Git, target: str, now: str, path: bytes, old_name: bytes | None, asked: tuple[Hunk, ...]
) -> Aim | None:
    if old_name is None:
        return None
    patch = await git.run(*_DIFF_TREE, "-p", "-U0", target, now, "--", *{path, old_name})
    if not parse_hunks(patch).issuperset(asked):
        return None
    old = (await versions(git, target, [old_name])).get(old_name)
    new = (await versions(git, now, [path])).get(path)
    contents = await read_blobs(git, [version.blob for version in (old, new) if version is not None])
    content = undo(contents[old.blob] if old else b"", contents[new.blob] if new else b"", asked)
    if not content and old is None:
        return Aim(new, None)
    blob = (await git.run("hash-object", "-w", "--stdin", stdin=content)).decode().strip()
    kept = new or old
    assert kept is not None
    return Aim(new, Version(kept.mode, blob))
