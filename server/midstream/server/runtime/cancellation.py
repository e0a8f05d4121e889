"""Work that must be finished once it has begun, whoever stops waiting for it."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def finish(work: Coroutine[Any, Any, T]) -> T:
    """Wait until the work is done; a cancellation meanwhile came too late and is dropped."""
    task = asyncio.ensure_future(work)
    while True:
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise


async def finish_first(work: Coroutine[Any, Any, T]) -> T:
    """Wait until the work is done; a cancellation meanwhile is raised after it."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
