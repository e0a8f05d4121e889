"""Child processes: started apart, drained, and ended with everything that they started."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from midstream.server.providers.process import MARK, ChildProcess, child_environment

DETACHED = """
import subprocess, sys
subprocess.Popen([sys.executable, "-S", "-c", {child!r}, {fifo!r}], start_new_session={apart})
{then}
"""
CHILD = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
held = open(sys.argv[1], "w")
held.write("up")
held.flush()
time.sleep(600)
"""
WAIT_FOR_EOF = "import sys; sys.stdin.read()"
DEAF = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
time.sleep(600)
"""


def start(code: str, folder: Path, *arguments: str) -> "asyncio.Future[ChildProcess]":
    command = (sys.executable, "-S", "-c", code, *arguments)
    return asyncio.ensure_future(ChildProcess.start(command, folder, child_environment({})))


class Held:
    """A fifo that processes hold open: it ends once every one of them is dead."""

    def __init__(self, path: Path, reader: asyncio.StreamReader) -> None:
        self.path = str(path)
        self._reader = reader
        self._writing = os.open(path, os.O_WRONLY)  # no end before somebody holds it

    async def taken(self) -> None:
        assert await self._reader.readexactly(2) == b"up"
        os.close(self._writing)

    async def released(self) -> None:
        assert await self._reader.read() == b""


@pytest.fixture
async def held(tmp_path: Path) -> AsyncIterator[Held]:
    path = tmp_path / "held"
    os.mkfifo(path)
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, file)
    yield Held(path, reader)
    transport.close()


@pytest.mark.parametrize("apart", [False, True], ids=["in its group", "in a session of its own"])
async def test_a_grandchild_that_ignores_everything_ends_with_its_parent(
    tmp_path: Path, held: Held, apart: bool
) -> None:
    child = await start(DETACHED.format(child=CHILD, fifo=held.path, apart=apart, then=WAIT_FOR_EOF), tmp_path)
    await held.taken()
    await child.end()
    await held.released()
    assert child.returncode == 0


async def test_the_end_of_a_parent_is_seen_though_a_grandchild_holds_its_pipes(tmp_path: Path, held: Held) -> None:
    crash = "import os; sys.stdin.readline(); os._exit(7)"
    child = await start(DETACHED.format(child=CHILD, fifo=held.path, apart=True, then=crash), tmp_path)
    await held.taken()
    child.stdin.write(b"\n")
    await child.wait()
    assert child.returncode == 7
    await held.released()
    assert await child.stdout.read() == b""
    await child.end()


async def test_one_that_ignores_the_end_of_stdin_and_term_is_killed(tmp_path: Path) -> None:
    child = await start(DEAF, tmp_path)
    await child.stdout.readline()
    await child.end(eof_grace=0.05, term_grace=0.05)
    assert child.returncode == -signal.SIGKILL


async def test_one_that_ignores_only_the_end_of_stdin_gets_term(tmp_path: Path) -> None:
    child = await start("import time; time.sleep(600)", tmp_path)
    await child.end(eof_grace=0.05)
    assert child.returncode == -signal.SIGTERM


async def test_megabytes_on_stderr_hold_nobody_up_and_only_their_end_is_kept(tmp_path: Path) -> None:
    child = await start("import sys; sys.stderr.write('x' * 4_000_000 + '\\nthe last words\\n')", tmp_path)
    await child.wait()
    await child.end()
    assert child.returncode == 0
    assert child.last_words(lines=1) == "the last words"
    assert len(child.last_words(characters=10**9, lines=10**9)) <= 65_536


async def test_two_ends_at_once_and_a_cancelled_one_end_it_once(tmp_path: Path) -> None:
    child = await start("import sys; sys.stdin.read()", tmp_path)
    first = asyncio.create_task(child.end())
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    await asyncio.gather(child.end(), child.end())
    assert child.returncode == 0


async def test_a_child_leads_a_group_and_a_session_of_its_own(tmp_path: Path) -> None:
    child = await start(WAIT_FOR_EOF, tmp_path)
    assert (os.getpgid(child.pid), os.getsid(child.pid)) == (child.pid, child.pid)
    await child.end()


async def test_a_command_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await ChildProcess.start(("midstream-no-such-agent",), tmp_path, child_environment({}))


@pytest.mark.parametrize("steps", range(8))
async def test_a_cancelled_start_leaves_no_process(tmp_path: Path, steps: int) -> None:
    starting = start(WAIT_FOR_EOF, tmp_path)
    for _ in range(steps):
        await asyncio.sleep(0)
    starting.cancel()
    await asyncio.gather(starting, return_exceptions=True)
    assert starting.cancelled()
    assert psutil.Process().children() == []


async def test_no_child_outlives_a_killed_daemon(tmp_path: Path, held: Held) -> None:
    daemon_code = """
import asyncio, sys
from pathlib import Path
from midstream.server.providers.process import ChildProcess
async def main():
    code = sys.argv[1]
    await ChildProcess.start((sys.executable, "-S", "-c", code), Path(sys.argv[2]), {})
    await asyncio.sleep(600)
asyncio.run(main())
"""
    code = DETACHED.format(child=CHILD, fifo=held.path, apart=True, then=DEAF)
    daemon = await asyncio.create_subprocess_exec(sys.executable, "-c", daemon_code, code, str(tmp_path), stdin=PIPE)
    await held.taken()
    daemon.kill()
    await daemon.wait()
    await held.released()


def test_an_agent_inherits_no_variable_that_was_meant_for_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ELECTRON_RUN_AS_NODE", "NODE_OPTIONS", "VSCODE_PID", "CLAUDECODE", MARK):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("KEPT", "inherited")
    environment = child_environment({"PATH": "configured"})
    assert environment["KEPT"] == "inherited"
    assert environment["PATH"] == "configured"
    assert not {"ELECTRON_RUN_AS_NODE", "NODE_OPTIONS", "VSCODE_PID", "CLAUDECODE", MARK} & environment.keys()
