"""Whether the process that a client named still lives."""

import asyncio
import os
import sys
from typing import Final

import psutil

POLL_SECONDS: Final = 5.0
LARGEST_PID: Final = 2**31 - 1


async def process_ended(pid: int) -> None:
    """Return once a process has ended, at once where there is none; its parent need not have noticed."""
    if not 0 < pid <= LARGEST_PID:
        return
    if sys.platform == "linux":
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        except OSError:  # a kernel or a sandbox without pidfds
            await _poll(pid)
        else:
            await _readable(descriptor)
    else:
        await _poll(pid)


async def _readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(descriptor, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


async def _poll(pid: int) -> None:
    try:
        process = psutil.Process(pid)
    except psutil.NoSuchProcess:
        return
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:  # noqa: ASYNC110 - nobody sets an event
        await asyncio.sleep(POLL_SECONDS)
