"""The effect worker: one lane for each thread, attempts one after another, words to the one that runs.

What finds its thread deleted does nothing, and says so in the log.
"""

import logging
from typing import Final

from midstream.protocol.base import ThreadId
from midstream.server.graph.commands import WithdrawMergeBacks
from midstream.server.graph.effects import EraseTraces, ExecuteAttempt, RecallMergeBacks, RevertConversation
from midstream.server.runtime.background import Background
from midstream.server.runtime.erasing import unless_deleted
from midstream.server.runtime.execution import Execution, Word
from midstream.server.runtime.persistence import until_stored
from midstream.server.runtime.services import Services
from midstream.server.store import StoredEffect

LOG: Final = logging.getLogger(__name__)


class Lane:
    """One thread's attempts, in the order of their commits; words reach one that has not begun as well."""

    def __init__(self, services: Services, background: Background, thread_id: ThreadId) -> None:
        self._services = services
        self._background = background
        self._thread_id = thread_id
        self._executions: list[Execution] = []
        self.working = False

    def submit(self, stored: StoredEffect) -> None:
        """Carry an effect out."""
        match stored.effect:
            case ExecuteAttempt() as effect:
                self._executions.append(Execution(self._services, self._thread_id, stored.id, effect))
                if not self.working:
                    self.working = True
                    self._background.spawn(self._work())
            case EraseTraces() as effect:
                self._background.spawn(self._services.eraser.erase(self._thread_id, stored.id, effect))
            case RevertConversation() as effect:
                self._background.spawn(self._services.reverter.revert(self._thread_id, stored.id, effect))
            case RecallMergeBacks() as effect:
                self._background.spawn(self._recall(stored.id, effect))
            case word:
                self._background.spawn(self._pass_on(word, stored.id))

    async def _pass_on(self, word: Word, effect_id: int) -> None:
        try:
            meant = (execution for execution in self._executions if execution.is_meant_by(word))
            if (execution := next(meant, None)) is not None:
                with unless_deleted(self._thread_id):
                    await execution.hear(word)
            else:
                LOG.info("run %s is not running: there is nobody to tell", word.run_id)
        finally:
            await self._services.engine.finish_effect(self._thread_id, effect_id)

    async def _recall(self, effect_id: int, effect: RecallMergeBacks) -> None:
        command = WithdrawMergeBacks(source_thread_id=self._thread_id, after_ordinal=effect.after_ordinal)
        with unless_deleted(effect.parent_thread_id):
            await until_stored(
                lambda: self._services.engine.do(effect.parent_thread_id, command),
                f"What a fork took back of thread {effect.parent_thread_id}",
            )
        await self._services.engine.finish_effect(self._thread_id, effect_id)

    async def _work(self) -> None:
        while self._executions:
            execution = self._executions[0]
            try:
                with unless_deleted(self._thread_id):
                    await execution.run()
            except Exception:
                LOG.exception("run %s could not be carried out", execution.run_id)
            finally:
                self._executions.remove(execution)
        self.working = False


class EffectWorker:
    """All lanes."""

    def __init__(self) -> None:
        self._lanes: dict[ThreadId, Lane] = {}
        self._background = Background()
        self._services: Services | None = None

    def start(self, services: Services) -> None:
        """Have the services that effects need."""
        self._services = services

    def submit(self, stored: StoredEffect) -> None:
        """Carry an effect out in its thread's lane."""
        assert self._services is not None
        lane = self._lanes.get(stored.thread_id)
        if lane is None:
            lane = self._lanes[stored.thread_id] = Lane(self._services, self._background, stored.thread_id)
        lane.submit(stored)

    @property
    def busy(self) -> bool:
        """Whether any run is being carried out."""
        return any(lane.working for lane in self._lanes.values())

    async def join(self) -> None:
        """Wait until nothing is being carried out."""
        await self._background.join()

    async def cancel(self) -> None:
        """Give up what is being carried out: the runs are recovered at the next start."""
        await self._background.cancel()
