"""Seeding a private index from the user's, so that a first capture hashes only what git has not hashed.

The user's objects are hard-linked, never borrowed: their ``gc --prune=now`` would empty an alternate.
"""

import asyncio
import os
import shutil
from pathlib import Path

from attrs import frozen

from midstream.server.checkpoints.errors import GitFailed
from midstream.server.checkpoints.git import join_z, split_z, together
from midstream.server.checkpoints.shadow import Shadow

_MAX_COPIED_BYTES = 512 << 20
"""Where objects cannot be linked (another file system), more than this is not worth its copy."""


async def seed(shadow: Shadow, index: Path) -> None:
    """Make `index` from the user's index. Where that is impossible there is none: git then starts cold."""
    try:
        if await asyncio.to_thread(_take_over, shadow, index):
            await _clean(shadow, index)
    except (GitFailed, OSError):
        _discard(index)


def _take_over(shadow: Shadow, index: Path) -> bool:
    """Copy the user's index and link its objects; False where there is none."""
    repository = shadow.place.repository
    if not shadow.copy_user_index(index) or repository is None:
        return False
    _take_over_objects(repository.common_dir / "objects", shadow.git_dir / "objects")
    return True


def _discard(index: Path) -> None:
    index.unlink(missing_ok=True)


@frozen
class Entry:
    """An index entry. `hidden`: its flags (assume-unchanged, skip-worktree) keep edits from git's eyes."""

    path: bytes
    mode: bytes
    blob: bytes
    stage: bytes
    hidden: bool


def parse_entries(out: bytes) -> list[Entry]:
    """Parse ``ls-files -s -v -z``."""
    entries = []
    for line in split_z(out):
        facts, path = line.split(b"\t", 1)
        tag, mode, blob, stage = facts.split(b" ")
        entries.append(Entry(path, mode, blob, stage, hidden=tag.islower() or tag == b"S"))
    return entries


async def _clean(shadow: Shadow, index: Path) -> None:
    """Drop the entries that do not stand for the raw bytes of a file, and show the hidden ones."""
    git = shadow.scanning(index)
    entries = parse_entries(await git.run("ls-files", "-s", "-v", "-z"))
    plain = [entry for entry in entries if entry.mode != b"160000" and entry.stage == b"0"]
    blobs = b"".join(entry.blob + b"\n" for entry in plain)
    sizes, attributes = await together(
        git.run("cat-file", "--buffer", "--batch-check=%(objectsize)", stdin=blobs),
        shadow.as_user.run(
            "check-attr", "-z", "--stdin", "filter", "working-tree-encoding",
            stdin=join_z([entry.path for entry in plain]),
        ),
    )  # fmt: skip
    converted = parse_converted(attributes)
    on_disk = await asyncio.to_thread(_sizes, shadow.place.root, [entry.path for entry in plain])
    kept = [
        entry
        for entry, blob_size, file_size in zip(plain, sizes.splitlines(), on_disk, strict=True)
        if blob_size == file_size and entry.path not in converted
    ]
    dropped = {entry.path for entry in entries} - {entry.path for entry in kept}
    hidden = join_z([entry.path for entry in kept if entry.hidden])
    if dropped:
        await git.run("update-index", "-z", "--force-remove", "--stdin", stdin=join_z(sorted(dropped)))
    if hidden:
        await git.run("update-index", "-z", "--no-assume-unchanged", "--stdin", stdin=hidden)
        await git.run("update-index", "-z", "--no-skip-worktree", "--stdin", stdin=hidden)


def parse_converted(out: bytes) -> set[bytes]:
    """Return the paths that ``check-attr -z`` gives an attribute under which files and blobs differ."""
    fields = split_z(out)
    return {
        path for path, value in zip(fields[::3], fields[2::3], strict=True) if value not in (b"unspecified", b"unset")
    }


def _sizes(root: Path, paths: list[bytes]) -> list[bytes]:
    """Return the size of each file in decimal, as git prints it; empty where there is none."""
    base = bytes(root) + b"/"
    sizes = []
    for path in paths:
        try:
            sizes.append(b"%d" % os.lstat(base + path).st_size)
        except OSError:
            sizes.append(b"")
    return sizes


def _take_over_objects(theirs: Path, ours: Path) -> None:
    """Link every pack and loose object of `theirs` into `ours`; what is left out is only hashed anew."""
    budget = _MAX_COPIED_BYTES
    packs = [pack.with_suffix(suffix) for pack in theirs.glob("pack/*.pack") for suffix in (".pack", ".idx")]
    for source in (*packs, *theirs.glob("[0-9a-f][0-9a-f]/[0-9a-f]*")):
        target = ours / source.relative_to(theirs)
        if target.exists():
            continue
        target.parent.mkdir(mode=0o700, exist_ok=True)
        try:
            os.link(source, target)
        except FileNotFoundError:
            continue  # the user's git has just repacked
        except OSError:
            budget -= source.stat().st_size
            if budget < 0:
                return
            _copy(source, target)
        if target.suffix == ".pack":
            target.with_suffix(".keep").touch()  # a repack of ours leaves linked packs alone


def _copy(source: Path, target: Path) -> None:
    part = target.with_name(f"tmp_{target.name}")
    shutil.copy2(source, part)
    part.replace(target)
