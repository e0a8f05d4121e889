"""What takes how much room: by thread, the largest first, and by part of the data folder."""

import os
from collections.abc import Mapping
from pathlib import Path

from attrs import asdict, frozen

from midstream.protocol.base import JsonObject, ThreadId
from midstream.protocol.names import camel
from midstream.server.cli.doctor.database import Contents
from midstream.server.cli.printing import columns, human, plain, shortened

SHOWN = 10
TITLE = 40


@frozen(kw_only=True)
class ThreadUse:
    """Bytes that one thread takes; a checkpoint's objects that threads share count for each."""

    thread_id: ThreadId
    title: str
    rows: int
    texts: int
    checkpoints: int
    attachments: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.rows + self.texts + self.checkpoints + self.attachments

    def json(self) -> JsonObject:
        """Return it as JSON values."""
        return {**{camel(name): value for name, value in asdict(self).items()}, "total": self.total}


@frozen(kw_only=True)
class DiskUse:
    """Bytes on disk of each part of the data folder, and of each thread, the largest first."""

    parts: Mapping[str, int]
    threads: tuple[ThreadUse, ...]

    def json(self) -> JsonObject:
        """Return it as JSON values."""
        return {"parts": dict(self.parts), "threads": [one.json() for one in self.threads]}

    def lines(self) -> list[str]:
        """Return it for a person."""
        parts = ", ".join(f"{name} {human(size)}" for name, size in self.parts.items())
        if not self.threads:
            return [f"Disk use: {parts}"]
        rows = [("thread", "records", "texts", "checkpoints", "attachments", "total", "title")]
        rows += [
            (
                one.thread_id, human(one.rows), human(one.texts), human(one.checkpoints), human(one.attachments),
                human(one.total), shortened(plain(one.title), TITLE),
            )
            for one in self.threads[:SHOWN]
        ]  # fmt: skip
        more = len(self.threads) - SHOWN
        rest = [f"and {more} smaller ones, which --json names"] if more > 0 else []
        return [f"Disk use: {parts}", "", *columns(rows), *rest]


def disk_use(folder: Path, contents: Contents, checkpoints: Mapping[ThreadId, int]) -> DiskUse:
    """Return what takes how much room; `checkpoints` are the bytes of each thread's. Raises OSError."""
    stored = {size.thread_id: size for size in contents.sizes}
    images = _images(folder / "attachments", contents.images)
    threads = [
        ThreadUse(
            thread_id=thread_id,
            title=contents.titles.get(thread_id, ""),
            rows=stored[thread_id].rows if thread_id in stored else 0,
            texts=stored[thread_id].texts if thread_id in stored else 0,
            checkpoints=checkpoints.get(thread_id, 0),
            attachments=images.get(thread_id, 0),
        )
        for thread_id in {*stored, *checkpoints, *images}
    ]
    parts = {"database": sum(_size(file) for file in folder.glob("midstream.db*"))}
    parts |= {part.name: _tree(part) for part in sorted(folder.iterdir()) if part.is_dir()}
    return DiskUse(parts=parts, threads=tuple(sorted(threads, key=lambda one: (-one.total, one.thread_id))))


def _images(folder: Path, users: Mapping[str, frozenset[ThreadId]]) -> dict[ThreadId, int]:
    sizes: dict[ThreadId, int] = {}
    for name, threads in users.items():
        for thread_id in threads:
            sizes[thread_id] = sizes.get(thread_id, 0) + _size(folder / thread_id / name)
    return sizes


def _tree(folder: Path) -> int:
    return sum(_size(Path(where) / name) for where, _, names in os.walk(folder) for name in names)


def _size(file: Path) -> int:
    """Return the bytes of a file; none where it is gone, or shared with a user's repository."""
    try:
        found = file.lstat()
    except FileNotFoundError:
        return 0
    return found.st_size if found.st_nlink == 1 else 0
