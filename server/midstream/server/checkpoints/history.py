"""The refs of a store: checkpoints, restores, and what each thread last knew of the files.

``refs/ck/<thread>/<name>`` is a checkpoint, ``refs/after/<thread>/<name>`` the files as the restore with that
safety checkpoint left them, ``refs/base/<thread>/<folder>`` the files as the thread last knew them.
"""

import hashlib
import os
import re

from attrs import frozen

from midstream.server.checkpoints.git import Git
from midstream.server.checkpoints.notes import Note, load

_REF_PART = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]*")
_FORMAT = "--format=%(refname)%00%(objectname)%00%(tree)%00%(committerdate:unix)%00%(contents:subject)"


@frozen
class Held:
    """A checkpoint, or what a restore left, as its ref keeps it; names sort by time, `taken_at` is in Unix seconds."""

    ref: str
    commit: str
    tree: str
    taken_at: int
    note: Note

    @property
    def thread_id(self) -> str:
        return self.ref.split("/")[2]

    @property
    def name(self) -> str:
        return self.ref.split("/")[3]

    @property
    def is_checkpoint(self) -> bool:
        return self.ref.startswith("refs/ck/")


@frozen
class History:
    """What a store keeps: checkpoints and what restores left, sorted by name, and the threads' bases by their refs."""

    kept: list[Held]
    bases: dict[str, Held]


async def history(git: Git) -> History:
    """Return what a store keeps of all threads. Raises GitFailed."""
    everything = []
    for line in (await git.run("for-each-ref", _FORMAT)).splitlines():
        ref, commit, tree, taken_at, message = line.split(b"\0")
        everything.append(Held(ref.decode(), commit.decode(), tree.decode(), int(taken_at), load(message)))
    bases = {one.ref: one for one in everything if one.ref.startswith("refs/base/")}
    return History(sorted((one for one in everything if one.ref not in bases), key=lambda one: one.name), bases)


def checkpoint_ref(thread_id: str, name: str) -> str:
    """Return the ref of a checkpoint. Raises ValueError for a part that is none of a ref."""
    return f"refs/ck/{_part(thread_id)}/{_part(name)}"


def after_ref(thread_id: str, name: str) -> str:
    """Return the ref of what the restore with the safety checkpoint `name` left."""
    return f"refs/after/{_part(thread_id)}/{_part(name)}"


def base_ref(thread_id: str, prefix: bytes) -> str:
    """Return the ref of the files of a folder as a thread last knew them."""
    return f"refs/base/{_part(thread_id)}/{hashlib.sha256(prefix).hexdigest()[:16]}"


def thread_of(ref: str) -> str:
    """Return the thread that a ref of any of these kinds belongs to."""
    return ref.split("/")[2]


async def point(git: Git, commit: str, *refs: str) -> None:
    """Point refs to a commit, all or none. Raises GitFailed."""
    await git.run("update-ref", "--stdin", stdin="".join(f"update {ref} {commit}\n" for ref in refs).encode())


async def drop(git: Git, *refs: str) -> None:
    """Delete refs that are there or not. Raises GitFailed."""
    if refs:
        await git.run("update-ref", "--stdin", stdin="".join(f"delete {ref}\n" for ref in refs).encode())


def _part(part: str) -> str:
    if not _REF_PART.fullmatch(part):
        raise ValueError(f"not usable in the name of a checkpoint: {part!r}")
    return part


def overlap(one: bytes, other: bytes) -> bool:
    """Tell whether one of two folders of a work tree holds the other."""
    return one.startswith(other) or other.startswith(one)


def relative(path: bytes, prefix: bytes, to: bytes) -> bytes | None:
    """Return a path of the folder `prefix` as one of the folder `to`, or None where it lies outside of that."""
    whole = prefix + path
    return whole[len(to) :] if whole.startswith(to) else None


def shown(path: bytes) -> str:
    """Return a path for a message."""
    return os.fsdecode(path).encode(errors="replace").decode()
