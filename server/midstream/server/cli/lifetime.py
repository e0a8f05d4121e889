"""How long a daemon is needed."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

FIRST_SECONDS: Final = 10.0
"""How long a daemon waits for the client that started it, which may have been killed meanwhile."""


class Lifetime:
    """A daemon is needed while a client is attached or a run is carried out, and for an idle time (seconds) after."""

    def __init__(
        self, busy: Callable[[], bool], drain: Callable[[], Coroutine[Any, Any, None]], idle: Callable[[], float]
    ) -> None:
        self._busy = busy
        self._drain = drain
        self._idle = idle
        self._attached = 0
        self._occupied = asyncio.Event()
        self._vacant = asyncio.Event()
        self._stopped = asyncio.Event()

    @property
    def over(self) -> bool:
        """Whether nothing needs the daemon now."""
        return self._stopped.is_set() or (self._unneeded() and not self._idle())

    def arrive(self) -> bool:
        """Note that a client is attached; False where it is too late, and nothing was noted."""
        if self._stopped.is_set():
            return False
        self._attached += 1
        self._occupied.set()
        self._vacant.clear()
        return True

    def depart(self) -> None:
        """Note that a client is gone."""
        self._attached -= 1
        if not self._attached:
            self._occupied.clear()
            self._vacant.set()

    def stop(self) -> None:
        """End it, whatever needs it."""
        self._stopped.set()

    def give_way(self) -> bool:
        """End it if only its idle time is left; return whether it ends."""
        if self._unneeded():
            self.stop()
        return self._stopped.is_set()

    async def wait(self) -> None:
        """Wait until it ends."""
        await self._first(self._occupied.wait(), asyncio.sleep(FIRST_SECONDS))
        while not self._stopped.is_set():
            if self._attached:
                await self._first(self._vacant.wait())
            elif self._busy():
                await self._first(self._occupied.wait(), self._drain())
            else:
                await self._first(self._occupied.wait(), asyncio.sleep(self._idle()))
                self.give_way()

    def _unneeded(self) -> bool:
        return not self._attached and not self._busy()

    async def _first(self, *waits: Coroutine[Any, Any, object]) -> None:
        tasks = [asyncio.ensure_future(wait) for wait in (self._stopped.wait(), *waits)]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
