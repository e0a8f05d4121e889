"""Looking at shadow repositories from outside: what they keep, whether it is whole, and the room it takes.

Nothing is locked and nothing is changed, so that a daemon goes on capturing beside it.
"""

import asyncio
import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from attrs import field, frozen

from midstream.server.checkpoints.git import Git

REFS: Final = "refs/ck/"
FAULTS_SHOWN: Final = 5
_QUIET: Final = (b"notice:", b"Checking", b"dangling")


@frozen
class Kept:
    """A checkpoint that a shadow repository keeps: the commit `ref`, under `name` of a thread."""

    thread_id: str
    name: str
    ref: str


@frozen
class ShadowRepository:
    """One shadow repository. `workspace` is the work tree that it is for, None where that was never recorded."""

    git_dir: Path
    workspace: str | None
    _git: Git = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        # No index: what is wrong with it, the next capture mends by itself.
        object.__setattr__(self, "_git", Git(self.git_dir, index=self.git_dir / "no-index"))

    async def kept(self) -> tuple[Kept, ...]:
        """Return the checkpoints that it keeps. Raises GitFailed."""
        lines = (await self._git.run("for-each-ref", "--format=%(refname) %(objectname)", REFS)).decode().splitlines()
        found = []
        for line in lines:
            name, ref = line.split(" ")
            thread_id, _, checkpoint = name.removeprefix(REFS).partition("/")
            found.append(Kept(thread_id, checkpoint, ref))
        return tuple(found)

    async def faults(self) -> tuple[str, ...]:
        """Return what git finds missing or broken, in its words; empty where all is whole. Raises GitFailed."""
        code, said = await self._git.verdict("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
        if code == 0:
            return ()
        lines = [line.decode(errors="replace") for line in said.splitlines() if not line.startswith(_QUIET)]
        return tuple(lines[:FAULTS_SHOWN]) or (f"git fsck ended with exit code {code}",)

    async def sizes(self) -> Mapping[str, int]:
        """Return the bytes on disk of each thread's checkpoints; what threads share counts for each. Raises GitFailed.

        What is hard-linked from the user's repository takes no room of its own, and counts for none.
        """
        own = await self._own_objects()
        refs: defaultdict[str, list[str]] = defaultdict(list)
        for kept in await self.kept():
            refs[kept.thread_id].append(kept.ref)
        sizes = {}
        for thread_id, commits in refs.items():
            listed = "".join(f"{commit}\n" for commit in commits).encode()
            reached = await self._git.run("rev-list", "--objects", "--no-object-names", "--stdin", stdin=listed)
            sizes[thread_id] = sum(own.get(name, 0) for name in reached.splitlines())
        return sizes

    async def _own_objects(self) -> dict[bytes, int]:
        """Return the bytes on disk of each object that is in no file shared with the user's repository."""
        loose, packs = await asyncio.to_thread(_own_files, self.git_dir / "objects")
        indexes = [await asyncio.to_thread(pack.with_suffix(".idx").read_bytes) for pack in packs]
        packed = [await self._git.run("show-index", stdin=index) for index in indexes]
        names = b"".join(line.split(b" ")[1] + b"\n" for listing in packed for line in listing.splitlines())
        asked = ("cat-file", "--buffer", "--batch-check=%(objectname) %(objectsize:disk)")
        sizes = (line.split(b" ") for line in (await self._git.run(*asked, stdin=names)).splitlines())
        return {**{name: int(size) for name, size in sizes}, **loose}


def repositories(folder: Path) -> tuple[ShadowRepository, ...]:
    """Return the shadow repositories below the folder of a checkpoint store. Raises OSError."""
    found = sorted(folder.glob("*/shadow.git"))
    return tuple(ShadowRepository(git_dir, _workspace(git_dir.with_name("workspace.json"))) for git_dir in found)


async def git_version() -> str:
    """Return the version of the git that is used. Raises GitFailed."""
    said = await Git(Path(os.sep)).run("--version")
    return said.decode(errors="replace").removeprefix("git version ").strip()


def _workspace(record: Path) -> str | None:
    try:
        return str(json.loads(record.read_bytes())["root"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _own_files(objects: Path) -> tuple[dict[bytes, int], list[Path]]:
    loose = {file.parent.name + file.name: size for file, size in _unshared(objects, "[0-9a-f][0-9a-f]/[0-9a-f]*")}
    packs = [file for file, _ in _unshared(objects, "pack/*.pack")]
    return {name.encode(): size for name, size in loose.items()}, packs


def _unshared(folder: Path, pattern: str) -> Iterator[tuple[Path, int]]:
    for file in folder.glob(pattern):
        try:
            found = file.stat()
        except FileNotFoundError:
            continue  # git has just repacked
        if found.st_nlink == 1:
            yield file, found.st_size
