"""How long checkpoints are kept, and what their going frees."""

import os
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from attrs import evolve

from midstream.server.checkpoints.git import Git
from midstream.server.checkpoints.history import Held, drop, history
from midstream.server.checkpoints.policy import CheckpointPolicy
from midstream.server.checkpoints.shadow import Shadow

_DAY = 86400
_LOOSE_FILES = 1000
"""So many loose objects are worth a repack."""
_NO_DELTAS = ("pack.window=0",)
"""Has a repack copy what it keeps as it is, since looking for better deltas takes minutes."""
_OF_THE_WORKSPACE = {"baseline", "run", "manual"}


def pinned(kept: Iterable[Held]) -> set[str]:
    """Return the refs that stay: a thread's first checkpoint, its latest, and what was taken for safety."""
    first: dict[str, Held] = {}
    latest: dict[str, Held] = {}
    stay: set[str] = set()
    for one in sorted((one for one in kept if one.is_checkpoint), key=lambda one: one.name):
        first.setdefault(one.thread_id, one)
        if one.note.kind in _OF_THE_WORKSPACE:
            latest[one.thread_id] = one
        if one.note.kind == "safety":
            stay.add(one.ref)
    return stay | {one.ref for one in (*first.values(), *latest.values())}


def expired(kept: list[Held], policy: CheckpointPolicy, now: float) -> list[Held]:
    """Return what is older than the policy keeps, or more than it keeps of a thread. `now` is in Unix seconds."""
    stay = pinned(kept)
    newer: defaultdict[tuple[str, bool], int] = defaultdict(int)
    gone = []
    for one in sorted(kept, key=lambda one: one.name, reverse=True):
        newer[one.thread_id, one.is_checkpoint] += 1
        old = now - one.taken_at > policy.keep_days * _DAY
        if one.ref not in stay and (old or newer[one.thread_id, one.is_checkpoint] > policy.keep):
            gone.append(one)
    return gone


async def retain(shadow: Shadow, policy: CheckpointPolicy, now: float) -> list[Held]:
    """Let go of what has expired and, above the cap of the store, of the oldest; return those. Raises GitFailed."""
    git = shadow.objects
    gone = expired((await history(git)).kept, policy, now)
    await drop(git, *(one.ref for one in gone))
    if _loose(shadow.git_dir) > _LOOSE_FILES:
        await collect(shadow)
    while own_bytes(shadow.git_dir) > policy.max_store_bytes:
        kept = (await history(git)).kept
        stay = pinned(kept)
        oldest = [one for one in kept if one.ref not in stay]
        some = oldest[: len(oldest) // 4 + 1]
        await drop(git, *(one.ref for one in some))
        await collect(shadow)
        gone += some
        if not some:
            break
    return [one for one in gone if one.is_checkpoint]


async def collect(shadow: Shadow) -> None:
    """Free what no ref and no index needs, and pack the rest. Raises GitFailed."""
    for keep in shadow.git_dir.glob("objects/pack/*.keep"):
        pack = keep.with_suffix(".pack")
        if not pack.exists() or pack.stat().st_nlink == 1:
            keep.unlink()  # the user has repacked: what is left of this pack is ours alone
    git: Git = evolve(shadow.objects, config=_NO_DELTAS)
    await git.run("repack", "-q", "-A", "-d", "-l", "--unpack-unreachable=now")
    await git.run("prune", "--expire=now")


def own_bytes(git_dir: Path) -> int:
    """Return the room that a store takes on the disk, without what it shares with the user's repository."""
    total = 0
    for folder, _, files in os.walk(git_dir):
        for name in files:
            found = (Path(folder) / name).lstat()
            total += found.st_blocks * 512 if found.st_nlink == 1 else 0
    return total


def _loose(git_dir: Path) -> int:
    return sum(1 for _ in git_dir.glob("objects/[0-9a-f][0-9a-f]/*"))
