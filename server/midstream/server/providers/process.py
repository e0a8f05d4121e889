"""Agent processes: each leads a process group of its own and is ended for certain, with all that it started.

A child that left the group is still known by a mark in its environment. A guard, a shell that waits on a
pipe of ours, kills the group and the marked when this process dies without a word.
"""

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process, SubprocessStreamProtocol
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import psutil

MARK = "MIDSTREAM_PROCESS_MARK"
GUARD = "midstream-guard"
"""The name of a guard's process; its last argument is the mark that it looks after, as in the environment."""
STDERR_KEPT = 65_536
READ_SIZE = 65_536

# Set by an editor or an agent that started the daemon for its own use, and taken by an agent as meant for it.
_FOREIGN = frozenset({"ELECTRON_RUN_AS_NODE", "NODE_OPTIONS", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", MARK})

_GUARD = """
read -r group
read -r _ && exit
[ -n "$group" ] && kill -KILL -- "-$group"
for file in $(grep -lsF "$1" /proc/[0-9]*/environ); do
    pid=${file#/proc/}
    kill -KILL "${pid%/environ}"
done
"""
_SWEEPS = 10


def child_environment(configured: Mapping[str, str]) -> dict[str, str]:
    """Return the inherited environment without what is not meant for an agent, with `configured` over it."""
    inherited = {
        name: value for name, value in os.environ.items() if name not in _FOREIGN and not name.startswith("VSCODE_")
    }
    return {**inherited, **configured}


class _Streams(SubprocessStreamProtocol):
    """The streams of a child, and its exit, told also while a grandchild holds a pipe open."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(limit=READ_SIZE, loop=loop)
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set()


class ChildProcess:
    """A running child: its pipes, the end of its stderr, and its certain end. Made by `start`."""

    def __init__(self, transport: asyncio.SubprocessTransport, streams: _Streams, mark: str, guard: Process) -> None:
        assert streams.stdin is not None
        assert streams.stdout is not None
        assert streams.stderr is not None
        assert guard.stdin is not None
        self.stdin = streams.stdin
        self.stdout = streams.stdout
        self.pid = transport.get_pid()
        self._transport = transport
        self._exited = streams.exited
        self._mark = mark
        self._guard = guard
        guard.stdin.write(f"{self.pid}\n".encode())
        self._stderr = bytearray()
        self._draining = asyncio.create_task(self._drain(streams.stderr))
        self._reaping = asyncio.create_task(self._reap())
        self._ending: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, command: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> "ChildProcess":
        """Start `command` in `cwd` with exactly `environment` and our mark. A cancelled start leaves no process.

        Raises:
            OSError: it cannot be started.
        """
        loop = asyncio.get_running_loop()
        mark = uuid4().hex
        guard = await _start_guard(mark)
        starting = asyncio.ensure_future(
            loop.subprocess_exec(
                lambda: _Streams(loop),
                *command,
                cwd=cwd,
                env={**environment, MARK: mark},
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                start_new_session=True,
            )
        )
        try:
            return cls(*await asyncio.shield(starting), mark, guard)
        except asyncio.CancelledError:  # the loop would kill the child alone, and could lose its exit
            with suppress(OSError):
                await cls(*await starting, mark, guard).end(eof_grace=0, term_grace=0)
            raise
        except OSError:
            await guard.communicate(b"\n\n")
            raise

    @property
    def returncode(self) -> int | None:
        """The exit status, the negative of a signal's number, or None while it runs."""
        return self._transport.get_returncode()

    def last_words(self, lines: int = 5, characters: int = 500) -> str:
        """Return the end of what it wrote to stderr."""
        said = self._stderr.decode(errors="replace").strip().splitlines()[-lines:]
        return "\n".join(said)[-characters:]

    async def wait(self) -> None:
        """Wait until it has ended, and what it left behind was killed."""
        await asyncio.shield(self._reaping)

    async def end(self, eof_grace: float = 2.0, term_grace: float = 3.0) -> None:
        """Close its stdin, send TERM after `eof_grace` seconds and KILL after `term_grace` more; wait for its end."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end(eof_grace, term_grace))
        await asyncio.shield(self._ending)

    async def _end(self, eof_grace: float, term_grace: float) -> None:
        self.stdin.close()
        if not await _within(eof_grace, self._exited.wait):
            _signal_group(self.pid, signal.SIGTERM)
            if not await _within(term_grace, self._exited.wait):
                _signal_group(self.pid, signal.SIGKILL)
        await self._reaping
        self._transport.close()
        await self._draining
        with suppress(ConnectionError):
            await self.stdin.wait_closed()

    async def _reap(self) -> None:
        await self._exited.wait()
        _signal_group(self.pid, signal.SIGKILL)
        await asyncio.to_thread(_kill_marked, self._mark)
        await self._guard.communicate(b"\n")

    async def _drain(self, stderr: asyncio.StreamReader) -> None:
        while data := await stderr.read(READ_SIZE):
            self._stderr = (self._stderr + data)[-STDERR_KEPT:]


async def _start_guard(mark: str) -> Process:
    """Start a guard: it is told the group's id in a line, and by another one to go."""
    return await asyncio.create_subprocess_exec(
        "/bin/sh", "-c", _GUARD, GUARD, f"{MARK}={mark}",
        stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True,
    )  # fmt: skip


async def _within(seconds: float, event: Callable[[], Awaitable[object]]) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event()
    except TimeoutError:
        return False
    return True


def _signal_group(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # macOS denies a group of which only zombies are left
        os.killpg(pid, number)


def _kill_marked(mark: str) -> None:
    """Kill every process with the mark, again until none is found: one may fork while we look."""
    for _ in range(_SWEEPS):
        marked = [process for process in psutil.process_iter() if _has_mark(process, mark)]
        if not marked:
            return
        for process in marked:
            with suppress(psutil.Error):
                process.kill()


def _has_mark(process: psutil.Process, mark: str) -> bool:
    try:
        return process.environ().get(MARK) == mark
    except (psutil.Error, OSError):
        return False
