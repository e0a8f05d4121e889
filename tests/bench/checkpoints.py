"""`checkpoints.<1k|20k|100k>.<first|unchanged|changed|diff|restore|disk_first>`, and each with `.peer`.

The limit of `diff` is `git diff-tree` of the same trees, that of `disk_first` 15 MiB, that of all others the slower of
a scan of the files in C and `git status --porcelain`. The peer is the capture that others ship: an index of its
own from `read-tree HEAD`, then `add -A`, in the user's repository; it restores with `git restore` and `git clean`.
`checkpoints.growth` is what a capture of ten changed files adds, beside what is left of it after retention.

    python tests/bench/checkpoints.py [1k] [20k] [100k]
"""

import asyncio
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from attrs import define, field
from figures import show

from midstream.server.checkpoints import Captured, CheckpointPolicy, CheckpointStore, Selection, retention
from support.workspaces import OLD, git, shadow_of

SIZES = {"1k": 1_000, "20k": 20_000, "100k": 100_000}
ROUNDS = 5
FIRST_ROUNDS = 3
CHANGED = 10
BARS = {"first": 6.0, "unchanged": 1.5, "changed": 2.5, "diff": 3.0, "restore": 1.5, "disk_first": 1.0}
DISK_FIRST_MIB = 15
SCAN = """
#define _XOPEN_SOURCE 700
#include <ftw.h>
static int seen(const char *path, const struct stat *found, int type, struct FTW *at) { return 0; }
int main(int count, char **words) { return nftw(words[1], seen, 64, FTW_PHYS); }
"""


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that work takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


async def timed_async(work: Awaitable[object]) -> float:
    """Return the seconds that work takes."""
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


def make_repository(folder: Path, files: int) -> None:
    """Make a clean repository of small text files, in one commit and one pack."""
    folder.mkdir()
    git(folder, "init", "-q")
    stream = bytearray(b"commit refs/heads/main\ncommitter user <user@localhost> 0 +0000\ndata 0\n")
    for number in range(files):
        content = b"".join(b"line %d of file %d\n" % (line, number) for line in range(20 + number % 60))
        stream += b"M 644 inline part%d/folder%d/file%d.py\ndata %d\n" % (
            number % 20,
            number // 20 % 50,
            number,
            len(content),
        )
        stream += content + b"\n"
    git(folder, "fast-import", "--quiet", stdin=bytes(stream))
    git(folder, "reset", "-q", "--hard", "main")
    for file in folder.glob("part*/*/*"):
        os.utime(file, (OLD, OLD))
    git(folder, "status")


@define
class Peer:
    """The capture that others ship, in the user's repository."""

    folder: Path
    index: Path
    _captures: Iterator[int] = field(factory=itertools.count)

    def run(self, *args: str) -> str:
        command = ["git", "-c", "user.name=p", "-c", "user.email=p@localhost", *args]
        env = {**os.environ, "GIT_INDEX_FILE": str(self.index)}
        return subprocess.run(command, cwd=self.folder, env=env, check=True, capture_output=True, text=True).stdout

    def capture(self) -> str:
        self.index.unlink(missing_ok=True)
        self.run("read-tree", "HEAD")
        self.run("add", "-A", "--", ".")
        commit = self.run("commit-tree", self.run("write-tree").strip(), "-m", "checkpoint").strip()
        self.run("update-ref", f"refs/peer/{next(self._captures)}", commit)
        return commit

    def restore(self, commit: str) -> None:
        self.run("restore", "--source", commit, "--worktree", "--staged", "--", ".")
        self.run("clean", "-fd", "--", ".")


@define
class Bench:
    """One repository, and what is measured in it."""

    size: str
    folder: Path
    scratch: Path
    _edits: Iterator[int] = field(factory=itertools.count)
    _names: Iterator[int] = field(factory=lambda: itertools.count(1000))

    @property
    def repository(self) -> Path:
        return self.folder / "repository"

    @property
    def edited(self) -> list[Path]:
        return sorted(self.repository.glob("part*/folder0/*"))[:CHANGED]

    def edit(self) -> None:
        """Change ten files."""
        number = next(self._edits)
        for file in self.edited:
            with file.open("a") as text:
                text.write(f"edit {number}\n")

    def limit(self) -> float:
        """Return seconds: the slower of the scan and of `git status`, both once warm."""
        scan = [
            timed(lambda: subprocess.run([self.folder / "scan", self.repository], check=True)) for _ in range(ROUNDS)
        ]
        status = [timed(lambda: git(self.repository, "status", "--porcelain")) for _ in range(ROUNDS)]
        return max(median(scan), median(status))

    async def capture(self, store: CheckpointStore) -> Captured:
        return await store.capture(self.repository, "thread", str(next(self._names)))

    async def restore(self, store: CheckpointStore, ref: str) -> None:
        async with store.restoring(self.repository, "thread", ref, Selection()) as restore:
            assert len(restore.plan.steps) == CHANGED
            await restore.keep(str(next(self._names)))
            await restore.apply()

    async def measure(self) -> None:
        """Measure everything, and print it."""
        first, peer_first, limits = [], [], []
        for number in range(FIRST_ROUNDS):
            limits.append(self.limit())
            store = CheckpointStore(self.scratch / f"data{number}")
            first.append(await timed_async(self.capture(store)))
            peer_first.append(timed(Peer(self.repository, self.scratch / f"first{number}").capture))
        peer = Peer(self.repository, self.scratch / "peer-index")
        self.figure("first", median(first), median(peer_first), median(limits))
        data = self.scratch / f"data{FIRST_ROUNDS - 1}"
        mebibytes = retention.own_bytes(shadow_of(data)) / (1 << 20)
        show(f"checkpoints.{self.size}.disk_first", round(mebibytes, 2), "MiB", DISK_FIRST_MIB, BARS["disk_first"])
        unchanged, peer_unchanged, changed, peer_changed = [], [], [], []
        diffs, bare_diffs, restores, peer_restores = [], [], [], []
        limits = []
        latest = await self.capture(store)
        for _ in range(ROUNDS):
            limits.append(self.limit())
            unchanged.append(await timed_async(self.unless(store, latest)))
            peer_unchanged.append(timed(peer.capture))
            before, peer_before = latest, peer.capture()
            self.edit()
            began = time.perf_counter()
            latest = await self.capture(store)
            changed.append(time.perf_counter() - began)
            peer_changed.append(timed(peer.capture))
            diffs.append(await timed_async(store.diff(self.repository, before.ref, latest.ref)))
            trees = before.tree, latest.tree
            bare_diffs.append(
                timed(
                    lambda trees=trees: git(
                        shadow_of(data), "diff-tree", "-r", "-z", "-M", "--raw", "--numstat", *trees
                    )
                )
            )
            restores.append(await timed_async(self.restore(store, before.ref)))
            self.edit()
            peer.capture()
            peer_restores.append(timed(lambda commit=peer_before: peer.restore(commit)))
            latest = await self.capture(store)
        limit = median(limits)
        self.figure("unchanged", median(unchanged), median(peer_unchanged), limit)
        self.figure("changed", median(changed), median(peer_changed), limit)
        self.figure("diff", median(diffs), None, median(bare_diffs))
        self.figure("restore", median(restores), median(peer_restores), limit)
        await self.growth(store, data)

    async def unless(self, store: CheckpointStore, latest: Captured) -> None:
        """Capture as before a run: nothing changed since the latest."""
        again = await store.capture(self.repository, "thread", str(next(self._names)), unless=latest.ref)
        assert again.ref == latest.ref

    async def growth(self, store: CheckpointStore, data: Path) -> None:
        """Print the bytes of a capture of ten changed files, and what is left of it once packed."""
        rounds = 30
        before = retention.own_bytes(shadow_of(data))
        for _ in range(rounds):
            self.edit()
            await self.capture(store)
        grown = (retention.own_bytes(shadow_of(data)) - before) / rounds / 1024
        retention._LOOSE_FILES = 0
        await CheckpointStore(data, CheckpointPolicy(keep=10)).retain(self.repository)
        left = (retention.own_bytes(shadow_of(data)) - before) / rounds / 1024
        show(f"checkpoints.{self.size}.growth", round(left, 1), "KiB/capture", round(grown, 1), 1.0)

    def figure(self, name: str, ours: float, peers: float | None, limit: float) -> None:
        show(f"checkpoints.{self.size}.{name}", round(ours, 4), "s", round(limit, 4), BARS[name])
        if peers is not None:
            show(f"checkpoints.{self.size}.{name}.peer", round(peers, 4), "s", round(limit, 4), BARS[name])


async def main(sizes: list[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="midstream-bench-") as folder:
        for size in sizes:
            place = Path(folder) / size
            place.mkdir()
            (place / "scan.c").write_text(SCAN)
            subprocess.run(["cc", "-O2", "-o", place / "scan", place / "scan.c"], check=True)
            make_repository(place / "repository", SIZES[size])
            await Bench(size, place, place).measure()
            shutil.rmtree(place)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or list(SIZES)))
