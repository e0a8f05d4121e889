"""What request handlers work on, and what they all need."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from midstream.protocol.base import RunId, ThreadId
from midstream.protocol.errors import MidstreamError
from midstream.protocol.methods.params import ChangeParams
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import ModelSelection
from midstream.server.graph.commands import Command
from midstream.server.graph.decide import Answer
from midstream.server.runtime.daemon import Daemon
from midstream.server.runtime.engine import Prepared, Turn, nothing

R = TypeVar("R")


class Host:
    """The daemon, once the first client opened it."""

    def __init__(self) -> None:
        self._daemon: Daemon | None = None

    @property
    def daemon(self) -> Daemon:
        """The open daemon; no request but `initialize` comes before it is."""
        assert self._daemon is not None
        return self._daemon

    @property
    def opened(self) -> bool:
        """Whether the daemon is open."""
        return self._daemon is not None

    def open(self, daemon: Daemon) -> None:
        """Serve this daemon from now on."""
        self._daemon = daemon

    async def run(self, run_id: RunId) -> Run:
        """Return a run of any thread.

        Raises:
            MidstreamError: runNotFound.
        """
        run = await self.daemon.store.run(run_id)
        if run is None:
            raise MidstreamError("runNotFound", f"There is no run {run_id}.", runId=run_id)
        return run

    async def change(
        self,
        method: str,
        params: ChangeParams,
        thread_id: ThreadId,
        prepare: Callable[[Turn], Awaitable[Prepared]],
        before: Callable[[], Awaitable[object]] = nothing,
    ) -> object:
        """Carry out a change of a thread, once for each `commandId`; `before` is done before the thread is taken."""
        return await self.daemon.engine.change(method, params, thread_id, prepare, before)

    async def probe(self, thread_id: ThreadId, selection: ModelSelection | None) -> None:
        """Ask the selected provider, or the thread's own, what it can do: the agent may be slow to start.

        Raises:
            MidstreamError: providerUnknown, providerUnavailable, providerUnauthenticated.
        """
        thread = await self.daemon.store.thread(thread_id)
        if thread is not None:
            await self.daemon.registry.usable((selection or thread.selection).provider)

    async def change_simply(
        self,
        method: str,
        params: ChangeParams,
        thread_id: ThreadId,
        command: Command,
        compose: Callable[[Answer], object],
    ) -> object:
        """Carry out a change that needs no look at the thread first."""

        async def prepare(_: Turn) -> Prepared:
            return Prepared(command, compose)

        return await self.daemon.engine.change(method, params, thread_id, prepare)


def answered(answer: Answer, cls: type[R]) -> R:
    """Return the record that a command answered with."""
    assert isinstance(answer, cls)
    return answer
