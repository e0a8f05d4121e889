"""The daemon: all parts of the runtime over one data folder."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, Self

from midstream.protocol.base import ThreadId
from midstream.protocol.notifications import ProviderChanged
from midstream.protocol.records.config import Config, DriverName
from midstream.protocol.records.provider import ProviderSession
from midstream.server.checkpoints import CheckpointPolicy, CheckpointStore
from midstream.server.graph.commands import RecoverThread, UpdateSession
from midstream.server.graph.effects import EraseTraces, RecallMergeBacks
from midstream.server.handoff.tokens import count
from midstream.server.providers.registry import DriverMaker, Registry
from midstream.server.runtime.attachments import AttachmentStore
from midstream.server.runtime.attendance import Attendance
from midstream.server.runtime.audience import Audience
from midstream.server.runtime.branching import Reverter
from midstream.server.runtime.checkpointing import Checkpointer
from midstream.server.runtime.clock import Clock, never_back, system_clock
from midstream.server.runtime.delegations import Delegations
from midstream.server.runtime.engine import Engine
from midstream.server.runtime.erasing import Eraser, unless_deleted
from midstream.server.runtime.handoffs import Handoffs
from midstream.server.runtime.ids import id_maker, milliseconds_of
from midstream.server.runtime.ingest import Ingest
from midstream.server.runtime.lanes import EffectWorker
from midstream.server.runtime.leases import WorkspaceLeases
from midstream.server.runtime.planning import Planner
from midstream.server.runtime.publishing import Publisher
from midstream.server.runtime.readers import Readers
from midstream.server.runtime.restoring import Restorer
from midstream.server.runtime.retention import Retention
from midstream.server.runtime.secret_values import environment_secrets
from midstream.server.runtime.services import Services
from midstream.server.runtime.sessions import SessionManager
from midstream.server.runtime.summarizing import Summarizers
from midstream.server.store import Store

LOG: Final = logging.getLogger(__name__)


class Daemon:
    """What connections speak to. Made by `open`, ended by `aclose`."""

    def __init__(
        self,
        data_dir: Path,
        store: Store,
        config: Config,
        audience: Audience,
        makers: Mapping[DriverName, DriverMaker],
        clock: Clock,
    ) -> None:
        self._resources = AsyncExitStack()
        self.data_dir: Final = data_dir
        self.audience: Final = audience
        self.store: Final = store
        self.config = config
        self.publisher: Final = Publisher(audience)
        store.on_committed = self.publisher.publish
        self._worker: Final = EffectWorker()
        new_id = id_maker(clock)
        self.ingest: Final = Ingest(store, environment_secrets)
        # Read from disk meanwhile, so that the first commit need not wait for it.
        self._counting: Final = asyncio.ensure_future(asyncio.to_thread(count, ""))
        self.engine: Final = Engine(store, self.ingest, clock, new_id, self._worker.submit)
        self.registry: Final = Registry(
            self._config, makers, lambda provider: audience.to_all(ProviderChanged(provider=provider))
        )
        self.checkpoints: Final = CheckpointStore(data_dir / "checkpoints", _policy(config))
        self.checkpointer: Final = Checkpointer(self.checkpoints)
        leases = WorkspaceLeases()
        self.restorer: Final = Restorer(self.checkpoints, self.checkpointer, leases)
        self._retention: Final = Retention(self.checkpoints, self.engine)
        self.attachments: Final = AttachmentStore(data_dir / "attachments")
        self.planner: Final = Planner(store, self.ingest, self.registry, self._config, lambda: self._readers.offered)
        delegations = Delegations(self.engine, store, self.planner, self.publisher, self._config, environment_secrets)
        self._readers: Final = Readers(data_dir, environment_secrets, delegations)
        self.handoffs: Final = Handoffs(store, self.planner, self._config, self.engine.stamp)
        self.summarizers: Final = Summarizers(self.registry, self._config)
        self._sessions: Final = SessionManager(
            self.registry.driver,
            new_id,
            self._minutes(lambda c: c.sessions.idle_minutes),
            self._tell_session,
            self._readers,
        )
        self.engine.session_lives = self._sessions.lives
        self.attendance: Final = Attendance(self.engine, self._minutes(lambda c: c.sessions.unattended_minutes))
        self._worker.start(
            Services(
                engine=self.engine,
                ingest=self.ingest,
                planner=self.planner,
                handoffs=self.handoffs,
                summarizers=self.summarizers,
                sessions=self._sessions,
                checkpointer=self.checkpointer,
                leases=leases,
                readers=self._readers,
                retention=self._retention,
                attachments=self.attachments,
                eraser=Eraser(self.engine, self._sessions, self.attachments, self.checkpoints),
                reverter=Reverter(self.engine, self._sessions),
                audience=audience,
                config=self._config,
            )
        )

    @classmethod
    async def open(
        cls,
        data_dir: Path,
        config: Config,
        audience: Audience,
        makers: Mapping[DriverName, DriverMaker],
        clock: Clock = system_clock,
    ) -> Self:
        """Open a data folder, and put right what an earlier daemon left in it; where that fails, nothing stays open.

        Raises:
            MidstreamError: storeLocked, storeCorrupt, storeNewer.
            StoreFailed: the disk is full or read-only.
        """
        async with AsyncExitStack() as resources:
            store = await Store.open(data_dir / "midstream.db", durable=config.store.durable)
            resources.push_async_callback(store.aclose)
            newest = await store.newest_id()
            since = 0 if newest is None else milliseconds_of(newest) + 1
            daemon = cls(data_dir, store, config, audience, makers, never_back(clock, since))
            for close in (
                daemon._vocabulary_read,
                daemon.checkpoints.aclose,
                daemon._sessions.aclose,
                daemon._retention.aclose,
                daemon._worker.cancel,
                daemon.attendance.aclose,
            ):
                resources.push_async_callback(close)
            resources.push_async_callback((await daemon._readers.open()).aclose)
            await daemon._recover()
            daemon._resources = resources.pop_all()
            return daemon

    def _config(self) -> Config:
        return self.config

    def _minutes(self, read: Callable[[Config], float]) -> Callable[[], float]:
        return lambda: read(self.config) * 60

    async def _recover(self) -> None:
        self.attachments.tidy()
        await self.checkpoints.recover()
        for thread_id in await self.store.live_threads():
            await self.engine.do(thread_id, RecoverThread())
        for stored in await self.store.pending_effects():
            if isinstance(stored.effect, EraseTraces | RecallMergeBacks):
                self._worker.submit(stored)
                continue
            LOG.info("thread %s: not carried out, its run is over: %s", stored.thread_id, stored.effect.type)
            await self.engine.finish_effect(stored.thread_id, stored.id)

    async def _tell_session(self, thread_id: ThreadId, session: ProviderSession) -> None:
        with unless_deleted(thread_id):
            await self.engine.do(thread_id, UpdateSession(session=session))

    @property
    def busy(self) -> bool:
        """Whether any run is being carried out."""
        return self._worker.busy

    async def drain(self) -> None:
        """Wait until no run is being carried out."""
        await self._worker.join()

    async def aclose(self) -> None:
        """Give up what is still carried out, end all agents, and close the store; each, whatever the others raise."""
        await self._resources.aclose()

    async def _vocabulary_read(self) -> None:
        await self._counting


def _policy(config: Config) -> CheckpointPolicy:
    checkpoints = config.checkpoints
    return CheckpointPolicy(
        enabled=checkpoints.enabled,
        max_untracked_bytes=checkpoints.max_untracked_bytes,
        keep=checkpoints.keep,
        keep_days=checkpoints.keep_days,
    )
