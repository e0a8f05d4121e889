"""Repositories inside the work tree (submodules among them): their files are captured as plain files.

git does not look into them for us, so each is asked for its own files; their ``.git`` is only read.
"""

import os
import stat
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from attrs import Factory, define, field, frozen

from midstream.server.checkpoints.errors import GitFailed
from midstream.server.checkpoints.git import Git, split_z
from midstream.server.checkpoints.model import Skipped


@frozen
class Resolved:
    """The files to look at, and the nested repositories that cannot be read."""

    files: set[bytes] = Factory(set)
    unreadable: list[Skipped] = Factory(list)


@define
class Nested:
    """The nested repositories below `root`, as one capture finds them."""

    root: Path
    lock: int
    _is_repository: dict[bytes, bool] = field(factory=dict, init=False)

    async def resolve(self, paths: Iterable[bytes]) -> Resolved:
        """Ask the repositories that own `paths` which of them are files of theirs.

        A path that is itself a repository stands for every file that it lists.
        """
        resolved = Resolved()
        inside: defaultdict[bytes, set[bytes]] = defaultdict(set)
        whole: list[bytes] = []
        for path in paths:
            folder = path.rstrip(b"/")
            if self._holds_git(folder):
                whole.append(folder)
            elif (owner := self._owner(folder)) is not None:
                inside[owner].add(path)
            else:
                resolved.files.add(path)
        for owner, members in inside.items():
            resolved.files.update(members.intersection(await self._list(owner, resolved)))
        while whole:
            for path in await self._list(whole.pop(), resolved):
                folder = path.rstrip(b"/")
                if self._holds_git(folder):
                    whole.append(folder)
                elif folder == path:
                    resolved.files.add(path)
        return resolved

    async def _list(self, repository: bytes, resolved: Resolved) -> list[bytes]:
        """Return what `repository` lists, relative to `root`."""
        folder = self.root / os.fsdecode(repository)
        try:
            # Named outright: found from its folder, a broken one would fall back to the repository around it.
            git = Git(folder / ".git", folder, lock=self.lock)
            out = await git.run("ls-files", "-c", "-o", "-z", "--exclude-standard")
        except GitFailed:
            resolved.unreadable.append(Skipped(repository, "nested repository cannot be read"))
            return []
        return [repository + b"/" + path for path in split_z(out)]

    def _owner(self, path: bytes) -> bytes | None:
        """Return the innermost nested repository around `path`."""
        folder = path
        while b"/" in folder:
            folder = folder.rpartition(b"/")[0]
            if self._holds_git(folder):
                return folder
        return None

    def _holds_git(self, folder: bytes) -> bool:
        if folder not in self._is_repository:
            at = bytes(self.root) + b"/" + folder
            holds = os.path.lexists(at + b"/.git") and not stat.S_ISLNK(os.lstat(at).st_mode)
            self._is_repository[folder] = holds
        return self._is_repository[folder]
