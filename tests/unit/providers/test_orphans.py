"""Which marked processes nobody looks after."""

import asyncio
import os
import sys
from pathlib import Path

from midstream.server.providers.orphans import orphans
from midstream.server.providers.process import MARK, ChildProcess, child_environment

WAIT_FOR_EOF = (sys.executable, "-S", "-c", "import sys; print(flush=True); sys.stdin.read()")


def pids() -> set[int]:
    return {orphan.pid for orphan in orphans()}


async def test_an_agent_of_a_daemon_that_lives_is_no_orphan(tmp_path: Path) -> None:
    child = await ChildProcess.start(WAIT_FOR_EOF, tmp_path, child_environment({}))
    await child.stdout.readline()
    assert child.pid not in pids()
    await child.end()


async def test_a_marked_process_without_a_guard_is_an_orphan_until_it_ends() -> None:
    child = await asyncio.create_subprocess_exec(
        *WAIT_FOR_EOF,
        env={**os.environ, MARK: "of-nobody"},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert child.stdout is not None
    await child.stdout.readline()
    assert child.pid in pids()
    await child.communicate(b"")
    assert child.pid not in pids()
