"""A restore in a process of its own that is killed in the middle."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from midstream.server.checkpoints import CheckpointStore, Selection, writing


async def killed_restore(data: Path, workspace: Path, thread_id: str, ref: str, point: str, times: int) -> None:
    """Restore a checkpoint in a process that is killed once it came to a step of the writing so many times."""
    arguments = (str(data), str(workspace), thread_id, ref, point, str(times))
    process = await asyncio.create_subprocess_exec(sys.executable, __file__, *arguments)
    assert await process.wait() == -signal.SIGKILL


async def restore(data: str, workspace: str, thread_id: str, ref: str) -> None:
    """Restore a checkpoint."""
    async with CheckpointStore(Path(data)).restoring(Path(workspace), thread_id, ref, Selection()) as restore:
        await restore.keep("zzz")
        await restore.apply()


def kill_after(point: str, times: int) -> None:
    """Kill this process once it came to a point so many times."""
    real = getattr(writing._Place, point)
    calls = 0

    def killed(*args: object) -> None:
        nonlocal calls
        real(*args)
        calls += 1
        if calls == times:
            os.kill(os.getpid(), signal.SIGKILL)

    setattr(writing._Place, point, killed)


if __name__ == "__main__":
    *where, point, times = sys.argv[1:]
    kill_after(point, int(times))
    asyncio.run(restore(*where))
