"""Running git: a hermetic environment, bytes in and out, and no child that outlives its caller."""

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TypeVar

from attrs import frozen

from midstream.server.checkpoints.errors import GitFailed

A = TypeVar("A")
B = TypeVar("B")
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    # Unlike protocol.allow, no repository can overrule this: one could have what it lacks fetched by a command.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_AUTHOR_NAME": "midstream",
    "GIT_AUTHOR_EMAIL": "midstream@localhost",
    "GIT_COMMITTER_NAME": "midstream",
    "GIT_COMMITTER_EMAIL": "midstream@localhost",
    "LC_ALL": "C",
}
_NO_USER_CONFIG = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ATTR_NOSYSTEM": "1"}
_CONFIG = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.autocrlf=false",
    "core.quotePath=false",
    "core.splitIndex=false",
    "core.sharedRepository=0600",
    "core.untrackedCache=false",
    "commit.gpgsign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "safe.directory=*",
)


@frozen
class Git:
    """How git is called for one repository.

    `user_config` lets the user's global configuration and attributes in. `lock` is a file descriptor
    that every child inherits, so that a lock held on it lasts as long as the last child.
    """

    git_dir: Path
    work_tree: Path | None = None
    index: Path | None = None
    user_config: bool = False
    config: tuple[str, ...] = ()
    lock: int | None = None

    async def run(self, *args: str | bytes, stdin: bytes = b"", ok: tuple[int, ...] = (0,), date: int = 0) -> bytes:
        """Return what git printed; `date` stamps a commit, in Unix seconds.

        Raises GitFailed when git cannot be started or its exit code is not in `ok`.
        """
        async with self._child(args, PIPE, date) as child:
            out, err = await child.communicate(stdin)
        if child.returncode not in ok:
            said = err.decode(errors="replace").strip() or f"exit code {child.returncode}"
            raise GitFailed(f"git {os.fsdecode(args[0])} failed: {said[:400]}")
        return out

    async def head(self, *args: str | bytes, limit: int) -> bytes:
        """Return the first `limit` bytes that git prints, and end it there. Raises GitFailed."""
        out = bytearray()
        async with self._child(args, DEVNULL, 0) as child:
            assert child.stdout is not None
            while len(out) < limit and (chunk := await child.stdout.read(limit - len(out))):
                out += chunk
            if len(out) < limit and await child.wait() != 0:
                raise GitFailed(f"git {os.fsdecode(args[0])} failed: exit code {child.returncode}")
        return bytes(out)

    async def verdict(self, *args: str | bytes) -> tuple[int, bytes]:
        """Return git's exit code, and all that it said. Raises GitFailed when git cannot be started."""
        async with self._child(args, STDOUT, 0) as child:
            said, _ = await child.communicate()
            assert child.returncode is not None
        return child.returncode, said

    @asynccontextmanager
    async def _child(self, args: tuple[str | bytes, ...], stderr: int, date: int) -> AsyncIterator[Process]:
        starting = asyncio.ensure_future(self._start(args, stderr, date))
        try:
            yield await asyncio.shield(starting)  # the loop would kill a child whose start is cancelled
        finally:
            await _end(await starting)

    async def _start(self, args: tuple[str | bytes, ...], stderr: int, date: int) -> Process:
        options = [part for setting in (*_CONFIG, *self.config) for part in ("-c", setting)]
        try:
            return await asyncio.create_subprocess_exec(
                "git",
                *options,
                *args,
                cwd=self.work_tree or self.git_dir,
                env={
                    **self._environment(),
                    "GIT_AUTHOR_DATE": f"@{date} +0000",
                    "GIT_COMMITTER_DATE": f"@{date} +0000",
                },
                stdin=PIPE,
                stdout=PIPE,
                stderr=stderr,
                pass_fds=() if self.lock is None else (self.lock,),
            )
        except OSError as error:
            raise GitFailed(f"git could not be started: {error}") from error

    def _environment(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        places = {"GIT_DIR": self.git_dir, "GIT_WORK_TREE": self.work_tree, "GIT_INDEX_FILE": self.index}
        return {
            **inherited,
            **_ENVIRONMENT,
            **({} if self.user_config else _NO_USER_CONFIG),
            **{name: str(place) for name, place in places.items() if place is not None},
        }


async def _end(child: Process) -> None:
    """End a child that still runs, by a signal of our own: its `terminate` can take its exit from the waiting loop."""
    if child.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGTERM)  # not KILL: on TERM git removes its lock files
        await child.communicate()


async def together(*runs: Coroutine[None, None, bytes]) -> list[bytes]:
    """Run them beside each other; when one fails the others are ended before the error is raised."""
    tasks = [asyncio.ensure_future(run) for run in runs]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def both(one: Coroutine[None, None, A], other: Coroutine[None, None, B]) -> tuple[A, B]:
    """Do two things beside each other; when one fails the other is ended before the error is raised."""
    tasks = asyncio.ensure_future(one), asyncio.ensure_future(other)
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def split_z(out: bytes) -> list[bytes]:
    """Return the fields of an output in which each one ends with NUL."""
    return out.split(b"\0")[:-1]


def join_z(paths: list[bytes]) -> bytes:
    """Return `paths` as the input of a command that takes ``-z``."""
    return b"".join(path + b"\0" for path in paths)
