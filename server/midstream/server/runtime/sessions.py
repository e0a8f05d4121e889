"""Live agent processes: one for each provider and workspace, ended when nobody used it for a while."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final, TypeAlias

import attrs

from midstream.protocol.base import ProviderKind, ProviderSessionId, ThreadId
from midstream.protocol.records.provider import ProviderSession
from midstream.server.graph.changes import IdPrefix
from midstream.server.providers.adapter import Driver, ProviderError, Session
from midstream.server.runtime.background import Background
from midstream.server.runtime.readers import Readers

Key: TypeAlias = tuple[ProviderKind, Path]
Told: TypeAlias = Callable[[ThreadId, ProviderSession], Awaitable[object]]


@attrs.define(eq=False)
class LiveSession:
    """A live agent process, its record, and who uses it."""

    session: Final[Session]
    record: ProviderSession
    loaded: set[str] = attrs.Factory(set)
    threads: set[ThreadId] = attrs.Factory(set)
    users: int = 0
    reaper: asyncio.TimerHandle | None = None


class SessionManager:
    """Starts, shares and ends agent processes."""

    def __init__(
        self,
        driver_of: Callable[[ProviderKind], Driver],
        new_id: Callable[[IdPrefix], str],
        idle_seconds: Callable[[], float],
        tell: Told,
        readers: Readers,
    ) -> None:
        self._driver_of = driver_of
        self._new_id = new_id
        self._idle_seconds = idle_seconds
        self._tell = tell
        self._readers = readers
        self._sessions: dict[Key, LiveSession] = {}
        self._opening: defaultdict[Key, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._ending = Background()

    def lives(self, session_id: ProviderSessionId) -> bool:
        """Return whether a session is one of this daemon's live ones."""
        return any(live.record.id == session_id for live in self._sessions.values())

    @asynccontextmanager
    async def use(
        self, provider: ProviderKind, workspace: Path, workspace_uri: str, thread_id: ThreadId
    ) -> AsyncIterator[LiveSession]:
        """Have a live session for as long as the context lasts; it outlives it for a while.

        Raises:
            ProviderError: the process cannot be started.
        """
        key = (provider, workspace)
        async with self._opening[key]:
            live = self._sessions.get(key)
            if live is None or not live.session.live:
                if live is not None:
                    await self._end(key, live)
                live = await self._open(key, workspace_uri)
            live.users += 1
            live.threads.add(thread_id)
            if live.reaper is not None:
                live.reaper.cancel()
                live.reaper = None
        try:
            yield live
        finally:
            live.users -= 1
            if live.users == 0:
                self._reap_later(key, live)

    async def _open(self, key: Key, workspace_uri: str) -> LiveSession:
        provider, workspace = key
        session = await self._driver_of(provider).open(workspace)
        record = ProviderSession(
            id=self._new_id("pss"),
            provider=provider,
            status="ready",
            workspace=workspace_uri,
            pid=session.pid,
            capabilities=session.capabilities,
            last_error=None,
        )
        live = LiveSession(session, record)
        self._sessions[key] = live
        return live

    def _reap_later(self, key: Key, live: LiveSession) -> None:
        delay = self._idle_seconds() if live.session.live else 0.0
        live.reaper = asyncio.get_running_loop().call_later(delay, self._reap, key, live)

    def _reap(self, key: Key, live: LiveSession) -> None:
        if live.users == 0 and self._sessions.get(key) is live:
            self._ending.spawn(self._end(key, live))

    async def _end(self, key: Key, live: LiveSession) -> None:
        if self._sessions.get(key) is live:
            del self._sessions[key]
        if live.reaper is not None:
            live.reaper.cancel()
        self._readers.expire(live.record.id)
        await live.session.aclose()
        live.record = attrs.evolve(live.record, status="stopped", pid=None)
        for thread_id in tuple(live.threads):
            await self._tell(thread_id, live.record)

    async def leave(self, thread_id: ThreadId, native_refs: Collection[str]) -> None:
        """End the processes that a deleted thread alone used; the others close its native conversations."""
        for key, live in tuple(self._sessions.items()):
            if thread_id not in live.threads:
                continue
            async with self._opening[key]:
                live.threads.discard(thread_id)
                self._readers.expire(live.record.id, thread_id)
                if not live.threads:
                    await self._end(key, live)
                for ref in live.loaded.intersection(native_refs) if live.session.live else ():
                    live.loaded.discard(ref)
                    with suppress(ProviderError):  # it ends with its process at the latest
                        await live.session.close_thread(ref)

    async def aclose(self) -> None:
        """End all processes."""
        for key, live in tuple(self._sessions.items()):
            self._ending.spawn(self._end(key, live))
        await self._ending.join()
