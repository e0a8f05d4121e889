"""Writing to a workspace; nothing else of the daemon does.

The folder may change under our hands, and not by chance. So no name is trusted: each folder on the way is
opened from the one before, never through a symlink; what lies at a path is moved aside, and only then, when
nobody can reach it by its name, compared with what is known to be kept; and nothing is ever put over
something.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from attrs import frozen

from midstream.server.checkpoints.history import shown
from midstream.server.checkpoints.model import Step, Version

_SYMLINK = "120000"
_EXECUTABLE = "100755"
_IN_THE_WAY = {errno.EEXIST, errno.ENOENT, errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENOTEMPTY}
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Unexpected(Exception):
    """At `path` lies something else than what is kept of it."""

    def __init__(self, path: bytes) -> None:
        super().__init__(f"{shown(path)} was changed in this very moment")
        self.path = path


@frozen
class Writer:
    """Writes below the open folder `root`. `mark` begins the names of files that exist for a moment only."""

    root: int
    mark: str
    object_format: str

    @classmethod
    @contextmanager
    def on(cls, folder: Path, mark: str, object_format: str) -> Iterator[Self]:
        """Open a folder to write below it."""
        root = os.open(folder, _FOLDER)
        try:
            yield cls(root, mark, object_format)
        finally:
            os.close(root)

    def do(self, number: int, step: Step, content: bytes) -> None:
        """Do a step, the `number`-th of a restore; `content` is what it writes.

        Raises Unexpected where something else lies there than the step knows of, which is then as it was.
        """
        with self._place(number, step.path, make=step.after is not None) as place:
            try:
                if step.after is not None and step.after.mode != _SYMLINK:
                    place.prepare(step.after, content)
                place.set_aside(step.before)
                if step.after is not None:
                    place.fill(step.after, content)
            except BaseException:
                place.put_back()
                raise
            finally:
                place.forget_prepared()
            place.forget_aside()
        if step.after is None:
            self._remove_empty_folders(step.path)

    def undo(self, number: int, step: Step, content: bytes) -> None:
        """Undo a step that was done, or cut off anywhere; `content` is what was there before.

        What somebody has changed since stays as it is.
        """
        try:
            with self._place(number, step.path, make=step.before is not None) as place:
                place.forget_prepared()
                if place.is_aside():
                    if step.after is not None and place.version() == step.after:
                        place.remove()
                    if place.version() is None:
                        return place.put_back()
                    if place.version_aside() == step.before:
                        place.forget_aside()
                    return None
                done = place.version() == step.after
            if done:
                self.do(number, step.reversed, content)
            elif step.before is None:
                self._remove_empty_folders(step.path)
        except Unexpected:
            return None

    @contextmanager
    def _place(self, number: int, path: bytes, *, make: bool) -> Iterator["_Place"]:
        if any(part.lower() in (b".git", b"..", b".", b"") for part in path.split(b"/")):
            raise Unexpected(path)
        *folders, name = path.split(b"/")
        folder = os.dup(self.root)
        try:
            for inner in folders:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(inner, dir_fd=folder)
                opened = os.open(inner, _FOLDER, dir_fd=folder)
                os.close(folder)
                folder = opened
            yield _Place(folder, name, f"{self.mark}{number}".encode(), self.object_format)
        except OSError as error:
            if error.errno in _IN_THE_WAY:
                raise Unexpected(path) from error
            raise
        finally:
            os.close(folder)

    def _remove_empty_folders(self, path: bytes) -> None:
        """Remove the folders around a deleted file that held nothing else, as git does."""
        while b"/" in path:
            path = path.rpartition(b"/")[0]
            try:
                with self._place(0, path, make=False) as place:
                    place.remove_folder()
            except (OSError, Unexpected):
                return


@frozen
class _Place:
    """One name in an open folder, and the names of its new and its old file there."""

    folder: int
    name: bytes
    fresh: bytes
    object_format: str

    @property
    def aside(self) -> bytes:
        return self.fresh + b".old"

    def prepare(self, version: Version, content: bytes) -> None:
        """Write the new file beside its place, with the permissions that the old one has."""
        executable = version.mode == _EXECUTABLE
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        known = self._permissions()
        mode = (0o777 if executable else 0o666) if known is None else 0o600
        with open(os.open(self.fresh, flags, mode, dir_fd=self.folder), "wb") as file:  # noqa: PTH123
            file.write(content)
            if known is not None:
                os.fchmod(file.fileno(), known | (known & 0o444) >> 2 if executable else known & ~0o111)

    def set_aside(self, expected: Version | None) -> None:
        """Move what is here out of reach; it must be what is `expected`."""
        if expected is None:
            return
        if stat.S_ISDIR(os.lstat(self.name, dir_fd=self.folder).st_mode):
            raise IsADirectoryError(errno.EISDIR, "a folder", self.name)
        os.rename(self.name, self.aside, src_dir_fd=self.folder, dst_dir_fd=self.folder)
        if self.version_aside() != expected:
            raise FileExistsError(errno.EEXIST, "not as expected", self.name)

    def fill(self, version: Version, content: bytes) -> None:
        """Put the new file here, where nothing may be but folders that hold nothing."""
        with suppress(FileNotFoundError, NotADirectoryError):
            _remove_folders(self.name, self.folder)
        if version.mode == _SYMLINK:
            os.symlink(content, self.name, dir_fd=self.folder)
        else:
            here = {"src_dir_fd": self.folder, "dst_dir_fd": self.folder}
            os.link(self.fresh, self.name, follow_symlinks=False, **here)

    def put_back(self) -> None:
        """Move what was set aside back to its name, unless something else has taken it."""
        if self.is_aside() and self.version() is None:
            os.rename(self.aside, self.name, src_dir_fd=self.folder, dst_dir_fd=self.folder)

    def is_aside(self) -> bool:
        return self._version(self.aside) is not None

    def version(self) -> Version | None:
        return self._version(self.name)

    def version_aside(self) -> Version | None:
        return self._version(self.aside)

    def remove(self) -> None:
        os.unlink(self.name, dir_fd=self.folder)

    def remove_folder(self) -> None:
        os.rmdir(self.name, dir_fd=self.folder)

    def forget_prepared(self) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self.fresh, dir_fd=self.folder)

    def forget_aside(self) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self.aside, dir_fd=self.folder)

    def _permissions(self) -> int | None:
        with suppress(FileNotFoundError):
            found = os.lstat(self.name, dir_fd=self.folder).st_mode
            return stat.S_IMODE(found) & 0o777 if stat.S_ISREG(found) else None
        return None

    def _version(self, name: bytes) -> Version | None:
        try:
            found = os.lstat(name, dir_fd=self.folder)
        except FileNotFoundError:
            return None
        if stat.S_ISLNK(found.st_mode):
            target = os.readlink(name, dir_fd=self.folder)
            return Version(_SYMLINK, self._hash(len(target), iter((target,))))
        if not stat.S_ISREG(found.st_mode):
            return Version("0", "")
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with open(os.open(name, flags, dir_fd=self.folder), "rb") as file:  # noqa: PTH123
            found = os.fstat(file.fileno())
            mode = _EXECUTABLE if found.st_mode & stat.S_IXUSR else "100644"
            return Version(mode, self._hash(found.st_size, iter(lambda: file.read(1 << 20), b"")))

    def _hash(self, size: int, content: Iterator[bytes]) -> str:
        """Return the name that git gives a blob."""
        digest = hashlib.new(self.object_format, b"blob %d\0" % size, usedforsecurity=False)
        for part in content:
            digest.update(part)
        return digest.hexdigest()


def _remove_folders(name: bytes, folder: int) -> None:
    """Remove a folder in which there are only folders."""
    opened = os.open(name, _FOLDER, dir_fd=folder)
    try:
        for inner in os.listdir(opened):  # noqa: PTH208
            _remove_folders(os.fsencode(inner), opened)
    finally:
        os.close(opened)
    os.rmdir(name, dir_fd=folder)
