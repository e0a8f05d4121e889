"""Daemons that are forked from a process that has imported them: a start costs a fiftieth of a Python's."""

import asyncio
import os
import warnings
from collections.abc import Mapping
from multiprocessing import forkserver, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final
from unittest.mock import patch

from support import faulty_daemon

TESTS: Final = Path(__file__).parents[1]
FORKS: Final = get_context("forkserver")
FORKS.set_forkserver_preload([__name__])


def _live(stdin: Connection, stdout: Connection, stderr: Path, environment: Mapping[str, str], data: Path) -> None:
    os.environ.update(environment)
    for end, number in ((stdin.fileno(), 0), (stdout.fileno(), 1), (_appended(stderr), 2)):
        os.dup2(end, number)
    warnings.simplefilter("error")
    faulty_daemon.main(data)


def _appended(file: Path) -> int:
    return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)


class ForkedDaemon:
    """A daemon with pipes to it, of the shape of `asyncio.subprocess.Process`; its stderr goes to a file."""

    def __init__(self, stderr: Path, environment: Mapping[str, str], data: Path) -> None:
        with patch.dict(os.environ, PYTHONPATH=str(TESTS)):  # where the process to fork from finds this module
            forkserver.ensure_running()
        taken, self._given = FORKS.Pipe(duplex=False)
        self._heard, said = FORKS.Pipe(duplex=False)
        self._process = FORKS.Process(target=_live, args=(taken, said, stderr, environment, data))
        self._process.start()
        for end in (taken, said):
            end.close()
        self.stdin: asyncio.StreamWriter | None = None
        self._ended = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._process.sentinel, self._note_end)

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Return its stdout and its stdin."""
        reader = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(reader)
        await self._loop.connect_read_pipe(lambda: protocol, os.fdopen(os.dup(self._heard.fileno()), "rb", 0))
        self._heard.close()
        given = os.fdopen(os.dup(self._given.fileno()), "wb", 0)
        self._given.close()
        transport, drained = await self._loop.connect_write_pipe(asyncio.streams.FlowControlMixin, given)
        self.stdin = asyncio.StreamWriter(transport, drained, None, self._loop)
        return reader, self.stdin

    @property
    def pid(self) -> int:
        """Its number."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """Its exit status, or the negative number of the signal that ended it."""
        return self._process.exitcode if self._ended.is_set() else None

    async def wait(self) -> int:
        """Wait until it has ended."""
        await self._ended.wait()
        assert self._process.exitcode is not None
        return self._process.exitcode

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def terminate(self) -> None:
        """Ask it to end."""
        self._process.terminate()

    def _note_end(self) -> None:
        self._loop.remove_reader(self._process.sentinel)
        self._process.join()
        self._ended.set()
