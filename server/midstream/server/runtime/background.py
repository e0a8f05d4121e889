"""Tasks that nobody waits for at once, kept until they are done."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, Final

LOG: Final = logging.getLogger(__name__)


class Background:
    """A set of running tasks; one that fails is logged."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Start a task and keep it until it is done."""
        task = asyncio.ensure_future(self._logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _logged(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception:
            LOG.exception("a background task failed")

    async def cancel(self) -> None:
        """Cancel all tasks and wait until they are done."""
        for task in tuple(self._tasks):
            task.cancel()
        await self.join()

    async def join(self) -> None:
        """Wait until all tasks are done."""
        while self._tasks:
            await asyncio.wait(tuple(self._tasks))
