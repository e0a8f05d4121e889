"""Taking a checkpoint: bring the private index up to date with the workspace, write its tree, name it."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from attrs import evolve, frozen

from midstream.server.checkpoints.changes import Changes, find_changes
from midstream.server.checkpoints.errors import GitFailed
from midstream.server.checkpoints.git import join_z
from midstream.server.checkpoints.model import Captured, Skipped
from midstream.server.checkpoints.notes import Note
from midstream.server.checkpoints.policy import CheckpointPolicy
from midstream.server.checkpoints.seed import seed
from midstream.server.checkpoints.shadow import Shadow, signature

_MANY_FILES = 500
_ONE_PACK = ("core.bigFileThreshold=1",)
"""Has git write new files into one pack: a third of the time and a quarter of the room of loose ones."""


@frozen
class Staged:
    """The workspace as a tree in the store, and what that leaves out."""

    tree: str
    skipped: tuple[Skipped, ...]


async def record(shadow: Shadow, staged: Staged, note: Note, date: int) -> Captured:
    """Make a checkpoint of what was staged, which no ref keeps yet. `date` is in Unix seconds. Raises GitFailed."""
    message = evolve(note, skipped=staged.skipped).dump()
    commit = (await shadow.objects.run("commit-tree", staged.tree, stdin=message, date=date)).decode().strip()
    return Captured(commit, staged.tree, staged.skipped)


async def workspace_tree(shadow: Shadow, policy: CheckpointPolicy) -> str:
    """Write the workspace as it is now as a tree, and leave the private index as it is. Raises GitFailed."""
    scratch = shadow.git_dir / "index.scratch"
    try:
        if shadow.index.exists():
            shutil.copy2(shadow.index, scratch)  # with its time, which tells git which files to read again
        else:
            await seed(shadow, scratch)
        await _stage(shadow, policy, scratch, look_for_tracked_ignored=True)
        return await _covered(shadow, await _write_tree(shadow, scratch))
    finally:
        scratch.unlink(missing_ok=True)


async def stage(shadow: Shadow, policy: CheckpointPolicy) -> Staged:
    """Bring the private index up to date with the workspace, and write its tree. Raises GitFailed."""
    try:
        return await _update(shadow, policy)
    except GitFailed:
        # The index may be broken, or a file may have moved under git's hands: once more, from the beginning.
        shadow.index.unlink(missing_ok=True)
        return await _update(shadow, policy)


async def stage_ignored(shadow: Shadow, staged: Staged, paths: Iterable[bytes]) -> Staged:
    """Add files to what was staged although the user's rules ignore them. Raises GitFailed."""
    inside = join_z([shadow.place.prefix + path for path in paths])
    await shadow.scanning(shadow.index).run("update-index", "-z", "--add", "--replace", "--stdin", stdin=inside)
    return evolve(staged, tree=await _covered(shadow, await _write_tree(shadow, shadow.index)))


async def _update(shadow: Shadow, policy: CheckpointPolicy) -> Staged:
    """Stage into the private index, which comes to be only once its first staging is whole."""
    memory, repository = shadow.memory, shadow.place.repository
    user_index = None if repository is None else signature(repository.index)
    if shadow.index.exists():
        look = user_index != memory.user_index
        changes = await _stage(shadow, policy, shadow.index, look_for_tracked_ignored=look)
        if changes or memory.tree is None or memory.tree[0] != signature(shadow.index):
            tree = await _write_tree(shadow, shadow.index)
        else:
            tree = memory.tree[1]
    else:
        fresh = shadow.git_dir / "index.new"
        await seed(shadow, fresh)
        changes = await _stage(shadow, policy, fresh, look_for_tracked_ignored=True)
        tree = await _write_tree(shadow, fresh)
        fresh.replace(shadow.index)
    written = signature(shadow.index)
    memory.tree = None if written is None else (written, tree)
    memory.user_index = user_index
    return Staged(await _covered(shadow, tree), tuple(changes.skipped))


async def _stage(shadow: Shadow, policy: CheckpointPolicy, index: Path, *, look_for_tracked_ignored: bool) -> Changes:
    changes = await find_changes(shadow, index, policy, look_for_tracked_ignored=look_for_tracked_ignored)
    git = shadow.scanning(index)
    if changes.forget:
        await git.run("update-index", "-z", "--force-remove", "--stdin", stdin=join_z(changes.forget))
    if changes.stage:
        git = evolve(git, config=git.config + _ONE_PACK) if len(changes.stage) > _MANY_FILES else git
        # --remove, since a file may have vanished since; sorted, since git then only appends to the index.
        options = ("-z", "--add", "--remove", "--replace", "--stdin")
        await git.run("update-index", *options, stdin=join_z(sorted(changes.stage)))
    return changes


async def _write_tree(shadow: Shadow, index: Path) -> str:
    # --missing-ok: objects were checked when their entries were taken over, and need no second look.
    return (await shadow.scanning(index).run("write-tree", "--missing-ok")).decode().strip()


async def _covered(shadow: Shadow, tree: str) -> str:
    """Return the part of `tree` that is the workspace: another one below the same root is not our affair."""
    if not shadow.place.prefix:
        return tree
    inside = f"{tree}:".encode() + shadow.place.prefix.rstrip(b"/")
    found = await shadow.objects.run("rev-parse", "--quiet", "--verify", inside, ok=(0, 1, 128))
    return (found or await shadow.objects.run("mktree")).decode().strip()
