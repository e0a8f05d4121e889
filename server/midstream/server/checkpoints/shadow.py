"""The shadow repository of one work tree: where it lies, how it is made, and who may use it when."""

import asyncio
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias

from attrs import Factory, define, frozen

from midstream.server.checkpoints.errors import CheckpointMissing
from midstream.server.checkpoints.forgetting import forget
from midstream.server.checkpoints.git import Git
from midstream.server.checkpoints.places import Place

Signature: TypeAlias = tuple[int, int, int]
"""Inode, size and modification time of a file: another one means that it was written since."""

_RAW_BYTES = "* -text -filter -ident -working-tree-encoding\n"
_SETTINGS = {
    "core.bare": "false",
    "core.compression": "1",
    "core.looseCompression": "1",
    "core.logAllRefUpdates": "false",
    "core.symlinks": "true",
    "core.fileMode": "true",
    "index.version": "4",
}
_LOCK_POLL_SECONDS = 0.02


@define
class Memory:
    """What this process remembers of a store; a cache, never the truth."""

    lock: asyncio.Lock = Factory(asyncio.Lock)
    excludes: tuple[str, ...] | None = None
    user_index: Signature | None = None
    tree: tuple[Signature, str] | None = None


@frozen
class Shadow:
    """The shadow repository of `place`, held alone. `index` is the private index that captures share."""

    place: Place
    git_dir: Path
    lock: int
    memory: Memory

    @property
    def index(self) -> Path:
        return self.git_dir / "index"

    @property
    def workspace(self) -> Path:
        """The folder that checkpoints are taken of."""
        return self.place.root / os.fsdecode(self.place.prefix)

    @property
    def journal(self) -> Path:
        """Where a restore writes down what it is about to do."""
        return self.git_dir.parent / "restore.json"

    @property
    def objects(self) -> Git:
        """git for what needs no work tree."""
        return Git(self.git_dir, lock=self.lock)

    def scanning(self, index: Path) -> Git:
        """git for the work tree as `index` knows it, under the user's ignore rules."""
        return Git(self.git_dir, self.place.root, index, config=self.memory.excludes or (), lock=self.lock)

    @property
    def as_user(self) -> Git:
        """git as the user configured it, in their repository if they have one, but without its index."""
        repository = self.place.repository
        git_dir = self.git_dir if repository is None else repository.git_dir
        return Git(git_dir, self.place.root, self.git_dir / "no-index", user_config=True, lock=self.lock)

    def copy_user_index(self, to: Path) -> bool:
        """Copy the user's index; False where there is none. Only ever a copy is read.

        Reading a split index in its place would renew the time of a file in the user's repository.
        """
        to.unlink(missing_ok=True)
        repository = self.place.repository
        if repository is None or not repository.index.exists():
            return False
        for shared in repository.git_dir.glob("sharedindex.*"):
            shutil.copy2(shared, self.git_dir)
        shutil.copy2(repository.index, to)  # with its time, which tells git which files to read again
        return True


@define
class Shadows:
    """All shadow repositories below `folder`, one for each work tree."""

    folder: Path
    _memories: dict[Path, Memory] = Factory(dict)

    def reader(self, place: Place) -> Git:
        """Return git for reading captures of a place that need not exist. Raises CheckpointMissing."""
        git_dir = self._store(place) / "shadow.git"
        if not git_dir.is_dir():
            raise CheckpointMissing(f"no checkpoint was taken of {place.root}")
        return Git(git_dir)

    @asynccontextmanager
    async def hold(self, place: Place) -> AsyncIterator[Shadow]:
        """Hold the store of `place` alone, among the tasks of this process and among processes."""
        memory = self._memories.setdefault(place.root, Memory())
        store = self._store(place)
        async with memory.lock:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            store.mkdir(mode=0o700, exist_ok=True)
            with (store / "lock").open("ab") as file:
                await _flock(file.fileno())
                shadow = Shadow(place, store / "shadow.git", file.fileno(), memory)
                await _prepare(shadow, store / "workspace.json")
                yield shadow

    async def forget(self, thread_id: str) -> None:
        """Remove a thread from every store, also of work trees that are gone. Raises GitFailed, OSError."""
        for store in sorted(self.folder.glob("*/")):
            with (store / "lock").open("ab") as file:
                await _flock(file.fileno())
                await forget(store, file.fileno(), thread_id)

    async def aclose(self) -> None:
        """Wait until nothing of this process holds a store."""
        for memory in tuple(self._memories.values()):
            async with memory.lock:
                pass

    def _store(self, place: Place) -> Path:
        return self.folder / hashlib.sha256(bytes(place.root)).hexdigest()[:32]


def signature(file: Path) -> Signature | None:
    """Return the signature of `file`, or None where there is none."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


async def _flock(lock: int) -> None:
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # Polled: a thread blocked in flock cannot be cancelled, and two daemons on one store are rare.
            await asyncio.sleep(_LOCK_POLL_SECONDS)


async def _prepare(shadow: Shadow, record: Path) -> None:
    """Bring the store into a usable state, whatever an earlier process left; the caller holds it alone."""
    if not record.exists():  # noqa: ASYNC240 (one stat)
        await _create(shadow)
    _check_root(shadow, record)
    if shadow.memory.excludes is None:
        await asyncio.to_thread(_sweep, shadow.git_dir)
        named = await shadow.as_user.run("config", "--type=path", "--get", "core.excludesFile", ok=(0, 1))
        excludes = os.fsdecode(named.rstrip(b"\n"))
        shadow.memory.excludes = (f"core.excludesFile={excludes}",) if excludes else ()
    _take_over_excludes(shadow)


def _check_root(shadow: Shadow, record: Path) -> None:
    """Record which folder the store is for; the index of another one that had its name is of no use."""
    root = shadow.place.root.stat()
    described = json.dumps({"root": str(shadow.place.root), "device": root.st_dev, "inode": root.st_ino})
    if not record.exists() or record.read_text() != described:
        shadow.index.unlink(missing_ok=True)
        record.write_text(described)
    for lock in shadow.git_dir.glob("index*.lock"):
        lock.unlink()  # of a git that was killed


async def _create(shadow: Shadow) -> None:
    shutil.rmtree(shadow.git_dir, ignore_errors=True)
    shadow.git_dir.mkdir(mode=0o700)
    object_format = await _object_format(shadow)
    await shadow.objects.run("init", "-q", "--bare", "--template=", f"--object-format={object_format}")
    lines = [f"[{key.split('.')[0]}]\n\t{key.split('.')[1]} = {value}\n" for key, value in _SETTINGS.items()]
    with (shadow.git_dir / "config").open("a") as config:
        config.writelines(lines)
    (shadow.git_dir / "info").mkdir(mode=0o700, exist_ok=True)
    (shadow.git_dir / "info" / "attributes").write_text(_RAW_BYTES)


async def _object_format(shadow: Shadow) -> str:
    """Return the user's object format, without which their objects are of no use to us."""
    if shadow.place.repository is None:
        return "sha1"
    config = shadow.place.repository.common_dir / "config"
    found = await shadow.objects.run("config", "-f", bytes(config), "--get", "extensions.objectFormat", ok=(0, 1))
    return found.decode().strip() or "sha1"


def _take_over_excludes(shadow: Shadow) -> None:
    repository = shadow.place.repository
    theirs = None if repository is None else repository.common_dir / "info" / "exclude"
    rules = theirs.read_bytes() if theirs is not None and theirs.is_file() else b""
    (shadow.git_dir / "info" / "exclude").write_bytes(rules)


def _sweep(git_dir: Path) -> None:
    """Remove what a killed git left behind."""
    for left in (*git_dir.glob("objects/*/tmp_*"), *git_dir.glob("refs/**/*.lock")):
        left.unlink(missing_ok=True)
