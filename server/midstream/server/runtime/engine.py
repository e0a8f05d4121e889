"""The one way in which a thread changes: lock, decide, commit, then let effects go."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import attrs
import orjson
from attrs import frozen

from midstream.protocol.base import ProviderSessionId, ThreadId
from midstream.protocol.converter import make_converter
from midstream.protocol.errors import MidstreamError
from midstream.protocol.methods.params import ChangeParams
from midstream.protocol.methods.table import METHODS
from midstream.protocol.records.run import Run
from midstream.server.graph.changes import IdPrefix, Stamp
from midstream.server.graph.commands import Command, CreateThread, ForkThread, SpawnChild, UpdateSession
from midstream.server.graph.decide import Answer, Decision, create, decide, fork, spawn
from midstream.server.graph.state import ThreadState
from midstream.server.handoff.facts import RULES
from midstream.server.runtime.cancellation import finish, finish_first
from midstream.server.runtime.clock import Clock, as_time
from midstream.server.runtime.ingest import Ingest
from midstream.server.runtime.loading import load_state
from midstream.server.store import Receipt, Store, StoredEffect, Write

KEPT_STATES: Final = 256
CONVERTER: Final = make_converter()


@frozen
class Prepared:
    """A command that is ready to be decided, and how its answer looks on the wire."""

    command: Command
    compose: Callable[[Answer], object]


@frozen
class Replayed:
    """The first answer to a command that was given again."""

    answer: object


async def nothing() -> None:
    """Do nothing before a change."""


class Turn:
    """Sole use of one thread, for as long as its lock is held."""

    def __init__(self, engine: "Engine", thread_id: ThreadId, state: ThreadState) -> None:
        self._engine = engine
        self.thread_id: Final = thread_id
        self.state = state

    async def do(self, command: Command, done: tuple[int, ...] = ()) -> Answer:
        """Decide a command and commit what it changes; `done` are the effects that end with it.

        Raises:
            MidstreamError: the command was refused; nothing changed.
        """
        decision = decide(self.state, command, self._engine.stamp())
        await finish_first(self.commit(decision, done=done))
        return decision.answer

    async def commit(
        self,
        decision: Decision,
        *,
        command_id: str | None = None,
        receipt: Receipt | None = None,
        done: tuple[int, ...] = (),
    ) -> None:
        """Commit a decision, and only then let its effects go."""
        if decision.events or decision.effects or receipt or done:
            commit = await self._engine.store.commit(
                Write(
                    thread_id=self.thread_id,
                    command_id=command_id,
                    first_sequence=self.state.sequence + 1,
                    events=decision.events,
                    facts=self._engine.ingest.rows(decision.events),
                    effects=decision.effects,
                    done=done,
                    receipt=receipt,
                    forget=decision.forget,
                )
            )
            self.state = decision.state
            if decision.forget:
                self._engine.forget(self.thread_id)
            else:
                self._engine.remember(decision.state)
            for effect in commit.effects:
                self._engine.on_effect(effect)


class Engine:
    """Owns the states of threads; every change of any of them goes through here."""

    def __init__(
        self,
        store: Store,
        ingest: Ingest,
        clock: Clock,
        new_id: Callable[[IdPrefix], str],
        on_effect: Callable[[StoredEffect], None],
    ) -> None:
        self.store: Final = store
        self.ingest: Final = ingest
        self.on_effect = on_effect
        self.new_id: Final = new_id
        self.session_lives: Callable[[ProviderSessionId], bool] = lambda _: False
        self._clock = clock
        self._states: OrderedDict[ThreadId, ThreadState] = OrderedDict()
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    def stamp(self) -> Stamp:
        """Return the time and the maker of ids for one decision."""
        return Stamp(as_time(self._clock()), self.new_id)

    def remember(self, state: ThreadState) -> None:
        """Keep a thread's state at hand, and let go of those not used for long."""
        self._states[state.thread.id] = state
        self._states.move_to_end(state.thread.id)
        for thread_id in tuple(self._states)[: max(0, len(self._states) - KEPT_STATES)]:
            if self._states[thread_id].active_run_id is None:
                del self._states[thread_id]

    def forget(self, thread_id: ThreadId) -> None:
        """Let go of a deleted thread's state."""
        self._states.pop(thread_id, None)

    @asynccontextmanager
    async def thread(self, thread_id: ThreadId) -> AsyncIterator[Turn]:
        """Have a thread alone.

        Raises:
            MidstreamError: threadNotFound.
        """
        async with self._lock(thread_id):
            state = self._states.get(thread_id) or await load_state(self.store, thread_id)
            if state is None:
                raise MidstreamError("threadNotFound", f"There is no thread {thread_id}.", threadId=thread_id)
            self.remember(state)
            turn = Turn(self, thread_id, state)
            await self._forget_dead_sessions(turn)
            yield turn

    async def _forget_dead_sessions(self, turn: Turn) -> None:
        """Note which agent processes of an earlier daemon, or of a thread not looked at for long, are gone.

        Not while a run is active: how it ends depends on what its conversation was doing.
        """
        if turn.state.active_run_id is not None:
            return
        for session in turn.state.sessions.values():
            if session.status not in ("stopped", "error") and not self.session_lives(session.id):
                await turn.do(UpdateSession(session=attrs.evolve(session, status="stopped", pid=None)))

    async def do(self, thread_id: ThreadId, command: Command, done: tuple[int, ...] = ()) -> Answer:
        """Decide and commit one command of the runtime."""
        async with self.thread(thread_id) as turn:
            return await turn.do(command, done)

    async def finish_effect(self, thread_id: ThreadId, effect_id: int) -> None:
        """Note that an effect was carried out."""
        await self.store.commit(Write(thread_id=thread_id, first_sequence=0, done=(effect_id,)))

    async def change(
        self,
        method: str,
        params: ChangeParams,
        thread_id: ThreadId,
        prepare: Callable[[Turn], Awaitable[Prepared]],
        before: Callable[[], Awaitable[object]] = nothing,
    ) -> object:
        """Carry out a client's change once: the same `commandId` again gives the first answer.

        `before` is what may take long, and must not hold up others who want the thread. A cancellation before the
        commit changes nothing; one that comes later is too late.

        Raises:
            MidstreamError: the change was refused, or the `commandId` stands for another one.
        """
        async with self._command(params) as command_id:
            if (known := await self.replay(method, params)) is not None:
                return known.answer
            await before()
            async with self.thread(thread_id) as turn:
                prepared = await prepare(turn)
                decision = decide(turn.state, prepared.command, self.stamp())
                answer = prepared.compose(decision.answer)
                receipt = self._receipt(method, params, answer)
                await finish(turn.commit(decision, command_id=command_id, receipt=receipt))
                return answer

    async def create(
        self, params: ChangeParams, prepare: Callable[[], CreateThread], compose: Callable[[Answer], object]
    ) -> object:
        """Make a thread, once for each `commandId`: the command is prepared only where it is new."""
        async with self._command(params) as command_id:
            if (known := await self.replay("thread/create", params)) is not None:
                return known.answer
            return await self._begin("thread/create", params, command_id, create(prepare(), self.stamp()), compose)

    async def fork(
        self,
        params: ChangeParams,
        source_id: ThreadId,
        prepare: Callable[[Turn], Awaitable[ForkThread]],
        compose: Callable[[Decision], object],
    ) -> object:
        """Make a fork of a thread, once for each `commandId`.

        Raises:
            MidstreamError: threadNotFound, or what `prepare` refuses.
        """
        async with self._command(params) as command_id:
            if (known := await self.replay("thread/fork", params)) is not None:
                return known.answer
            async with self.thread(source_id) as turn:
                decision = fork(turn.state, await prepare(turn), self.stamp())
                return await self._begin("thread/fork", params, command_id, decision, lambda _: compose(decision))

    async def spawn(self, command: SpawnChild) -> Run:
        """Make a child of a thread, and return the run that begins in it."""
        decision = spawn(command, self.stamp())
        assert isinstance(decision.answer, Run)
        async with self._lock(command.thread.id):
            child = Turn(self, command.thread.id, ThreadState(thread=command.thread))
            await finish_first(child.commit(decision))
        return decision.answer

    async def _begin(
        self,
        method: str,
        params: ChangeParams,
        command_id: str | None,
        decision: Decision,
        compose: Callable[[Answer], object],
    ) -> object:
        answer = compose(decision.answer)
        receipt = self._receipt(method, params, answer)
        write = Write(
            thread_id=decision.state.thread.id,
            command_id=command_id,
            first_sequence=1,
            events=decision.events,
            facts_version=RULES,
            receipt=receipt,
        )
        await finish(self.store.commit(write))
        self.remember(decision.state)
        return answer

    @asynccontextmanager
    async def _command(self, params: ChangeParams) -> AsyncIterator[str | None]:
        if params.command_id is None:
            yield None
            return
        async with self._lock(f"command {params.command_id}"):
            yield params.command_id

    @asynccontextmanager
    async def _lock(self, name: str) -> AsyncIterator[None]:
        lock, users = self._locks.get(name, (asyncio.Lock(), 0))
        self._locks[name] = (lock, users + 1)
        try:
            async with lock:
                yield
        finally:
            lock, users = self._locks.pop(name)
            if users > 1:
                self._locks[name] = (lock, users - 1)

    async def replay(self, method: str, params: ChangeParams) -> Replayed | None:
        """Return the first answer to a command, None where it was not carried out yet.

        Raises:
            MidstreamError: commandIdConflict.
        """
        if params.command_id is None:
            return None
        receipt = await self.store.receipt(params.command_id)
        if receipt is None:
            return None
        if receipt.method != method or receipt.params_sha256 != _digest(params):
            raise MidstreamError(
                "commandIdConflict",
                f"Command {params.command_id} was used for another request; make a new UUID for each.",
                commandId=params.command_id,
                method=receipt.method,
            )
        if not receipt.answer:
            raise MidstreamError("threadNotFound", "This command was carried out, and its thread was deleted since.")
        return Replayed(CONVERTER.structure(orjson.loads(receipt.answer), METHODS[method].result))

    def _receipt(self, method: str, params: ChangeParams, answer: object) -> Receipt | None:
        if params.command_id is None:
            return None
        return Receipt(
            command_id=params.command_id,
            method=method,
            params_sha256=_digest(params),
            answer=orjson.dumps(CONVERTER.unstructure(answer)),
        )


def _digest(params: ChangeParams) -> str:
    fields = CONVERTER.unstructure(params)
    fields.pop("workDoneToken", None)
    return hashlib.sha256(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)).hexdigest()
