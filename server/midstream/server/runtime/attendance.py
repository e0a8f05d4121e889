"""Runs that wait for an answer while nobody is connected to give one."""

import asyncio
from collections.abc import Callable
from typing import Final

from midstream.server.graph.commands import ExpireRequests
from midstream.server.runtime.background import Background
from midstream.server.runtime.engine import Engine
from midstream.server.runtime.erasing import unless_deleted

SOONEST: Final = 0.1
"""Seconds below which looking again would keep the daemon busy."""


class Attendance:
    """Interrupts waiting runs once no client was there for the configured time."""

    def __init__(self, engine: Engine, unattended_seconds: Callable[[], float]) -> None:
        self._engine = engine
        self._unattended_seconds = unattended_seconds
        self._background = Background()
        self._timer: asyncio.TimerHandle | None = None
        self._present = 0

    def arrive(self) -> None:
        """Note that a client is there."""
        self._present += 1
        self._disarm()

    def leave(self) -> None:
        """Note that a client is gone."""
        self._present -= 1
        if self._present == 0:
            self._arm()

    def _arm(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(max(SOONEST, self._unattended_seconds()), self._fire)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fire(self) -> None:
        self._background.spawn(self._expire())
        self._arm()

    async def _expire(self) -> None:
        for thread_id in await self._engine.store.live_threads():
            with unless_deleted(thread_id):
                async with self._engine.thread(thread_id) as turn:
                    run = turn.state.active_run
                    if run is not None and self._present == 0:
                        await turn.do(ExpireRequests(run_id=run.id))

    async def aclose(self) -> None:
        """Stop watching."""
        self._disarm()
        await self._background.cancel()
