"""A daemon that can be killed at a point, the client that drives it, and what that client was promised."""

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any, Final

import attrs
import psutil
from pygls.io_ import run_async

from crash.forked import TESTS, ForkedDaemon
from midstream.protocol.methods.params import ChangeParams
from midstream.protocol.methods.table import METHODS
from midstream.protocol.notifications import ThreadEvent
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Thread
from midstream.server.providers.process import MARK
from scenarios.steps import AGENTS
from support.editor import Editor, command_id

log = logging.getLogger(__name__)
STRUCK_WITHIN: Final = 10.0
CONFIG: Final = {
    "providers": AGENTS,
    "sessions": {"unattendedMinutes": 0.002},
    "reader": {"delegateTo": ["understudy"]},
}


@attrs.define
class Sent:
    """A change that a client asked for, and what it was answered, if it was."""

    method: str
    params: dict[str, Any]
    answer: Any = None
    answered: bool = False

    def names_any(self, ids: set[str]) -> bool:
        """Say whether any of these ids is in what was asked or answered."""
        said = json.dumps([self.params, self.answer])
        return any(known in said for known in ids)


class Recorder(Editor):
    """An editor that gives each change an id, and keeps what it asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[Sent] = []

    async def start_on(self, daemon: ForkedDaemon) -> None:
        """Speak with a daemon that was forked, as `start_io` does with one that it starts."""
        reader, writer = await daemon.connect()
        self.protocol.set_writer(writer)
        self._server = daemon  # type: ignore[assignment]
        hearing = run_async(self._stop_event, reader, self.protocol, log, self.report_server_error)
        self._async_tasks.extend([asyncio.create_task(hearing), asyncio.create_task(self._server_exit())])

    def daemon_pid(self) -> int:
        return self.process.pid

    async def kill(self) -> None:
        self.process.kill()
        await self.process.wait()

    async def call_raw(self, method: str, params: Any) -> Any:
        if method not in METHODS or not issubclass(METHODS[method].params, ChangeParams):
            return await super().call_raw(method, params)
        sent = Sent(method, {"commandId": command_id(), **params})
        self.sent.append(sent)
        sent.answer = await super().call_raw(method, sent.params)
        sent.answered = True
        return sent.answer


class Stage:
    """One data folder with its daemons, one after another, and a workspace."""

    def __init__(self, home: Path, point: str | None = None, *, data: Path | None = None) -> None:
        self.home = home
        self.data = data or home / "data"
        self.workspace = home / "work"
        self.gate = home / "gate"
        self.agents = home / "agents"
        self.struck = asyncio.Event()
        self.editors: list[Recorder] = []
        self._point = point
        self._faults = home / "faults"
        self._spoken = 0
        self._watching: list[asyncio.Task[None]] = []
        for folder in (self.workspace, self._faults):
            folder.mkdir(parents=True)

    @property
    def editor(self) -> Recorder:
        """The client of the daemon that runs now."""
        return self.editors[-1]

    @property
    def sent(self) -> list[Sent]:
        """All changes that were asked for."""
        return [sent for editor in self.editors for sent in editor.sent]

    @property
    def told(self) -> list[ThreadEvent]:
        """All events that clients were told."""
        return [event for editor in self.editors for event in editor.all_told(ThreadEvent)]

    @property
    def reached(self) -> set[str]:
        """The points that were reached since the stage was armed."""
        file = self._faults / "reached"
        return set(file.read_text().splitlines()) if file.exists() else set()

    def put_back_the_clock(self, milliseconds: int) -> None:
        """Let the daemons' clock be slow from now on."""
        (self._faults / "back.new").write_text(str(milliseconds))
        (self._faults / "back.new").rename(self._faults / "back")

    def arm(self) -> None:
        """Let the fault strike from now on, and points be noted."""
        (self._faults / "armed.new").write_text(self._point or "")
        (self._faults / "armed.new").rename(self._faults / "armed")

    @property
    def armed(self) -> bool:
        """Whether the fault may still strike."""
        return (self._faults / "armed").exists()

    def disarm(self) -> None:
        """Let no fault strike any more."""
        (self._faults / "armed").unlink(missing_ok=True)

    async def start(self, *before: str, **config: Any) -> Recorder:
        """Start a daemon on the folder, with a client; `before` is a command that runs it."""
        editor = await self.launch(*before)
        await editor.start(config={**CONFIG, **config})
        return editor

    async def launch(self, *before: str) -> Recorder:
        """Start a daemon, with a client that has not said a word."""
        environment = {
            "PYTHONPATH": str(TESTS),
            "MIDSTREAM_FAULT_FOLDER": str(self._faults),
            "MIDSTREAM_REHEARSAL_DIR": str(self.agents),
        }
        editor = Recorder()
        if before:
            command = [*before, sys.executable, "-W", "error", "-m", "support.faulty_daemon", str(self.data)]
            await editor.start_io(*command, env={**os.environ, **environment})
        else:
            await editor.start_on(ForkedDaemon(self.home / "stderr", environment, self.data))
        self.editors.append(editor)
        self._watching.append(asyncio.create_task(self._watch(editor.process)))
        return editor

    async def _watch(self, process: asyncio.subprocess.Process) -> None:
        if await process.wait() == -signal.SIGKILL:
            self.struck.set()

    async def crash(self) -> None:
        """Kill the daemon in the middle of an act; the next one may still meet the fault."""
        self._watching.pop().cancel()
        await self.editor.kill()

    def words(self, *lines: str) -> str:
        """Return a message that no other one of this stage is, and that leaves its mark in a file once obeyed."""
        self._spoken += 1
        return "\n".join([f"append log.txt: token-{self._spoken}.", *lines])

    def remark(self, *lines: str) -> str:
        """Return a message that no other one of this stage is, and that needs no permission to be obeyed."""
        self._spoken += 1
        return "\n".join([f"Think of token-{self._spoken}.", *lines])

    async def busy(self, editor: Recorder, thread: Thread, *, until: str | None = None, then: str = "") -> Run:
        """Start a run that goes on until a shell command succeeds, or else the gate opens; return it at work."""
        condition = until or f"[ -e {self.gate} ]"
        words = self.words("say: at work", f"run until {condition}; do sleep 0.02; done", then)
        run = await editor.begin(thread, words)
        await editor.until_output(run, "at work")
        return run

    def open_gate(self) -> None:
        """Let what waits for the gate go on."""
        self.gate.touch()

    def processes(self) -> list[psutil.Process]:
        """Return the agents' processes that are left, and all that they started."""
        return [process for process in psutil.process_iter() if _is_of(process, self.agents)]

    async def close(self) -> None:
        """End what still runs."""
        for task in self._watching:
            task.cancel()
        for editor in self.editors:
            if editor.process.returncode is None:
                await editor.kill()
            await editor.stop()


def _is_of(process: psutil.Process, agents: Path) -> bool:
    try:
        environment = process.environ()
    except psutil.Error:
        return False
    return MARK in environment and environment.get("MIDSTREAM_REHEARSAL_DIR") == str(agents)


async def play(act: Callable[[Stage], Awaitable[None]], stage: Stage) -> None:
    """Play an act to its end, or until the fault strikes."""

    async def to_the_end() -> None:
        await stage.start()
        await act(stage)
        if stage.editor.process.returncode is None:
            assert await stage.editor.leave() == 0

    acting = asyncio.create_task(to_the_end())
    striking = asyncio.create_task(stage.struck.wait())
    await asyncio.wait({acting, striking}, return_when=asyncio.FIRST_COMPLETED)
    if acting.done() and acting.exception() is not None:
        # A client notices that its daemon is gone before its exit is known.
        await asyncio.wait({striking}, timeout=STRUCK_WITHIN)
    await _give_up([striking, *([acting] if stage.struck.is_set() else [])])
    if not stage.struck.is_set():
        acting.result()


async def _give_up(tasks: Iterable[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
