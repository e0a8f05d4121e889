"""An editor for tests: pytest-lsp's client, speaking the protocol's own typed messages with a real daemon."""

import asyncio
import itertools
import json
import os
import signal
import sys
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar

import attrs
import psutil
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig, LanguageClient
from pytest_lsp.protocol import LanguageClientProtocol

from midstream.protocol.converter import camel, make_converter
from midstream.protocol.methods.table import METHODS, NOTIFICATIONS
from midstream.protocol.notifications import Notification, RunOutput, ThreadEvent
from midstream.protocol.records.item import Item
from midstream.protocol.records.read import ThreadRead
from midstream.protocol.records.request import RuntimeRequest
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Thread

CONVERTER = make_converter()
SERVE = [
    sys.executable,
    "-W",
    "error",
    "-c",
    "import sys; from midstream.server.cli.main import main; sys.exit(main())",
]
PATIENCE = 30.0
"""Seconds after which a test gives up waiting for an event."""
N = TypeVar("N")


@attrs.define
class RawNotification:
    """A notification whose params stay JSON."""

    method: str
    params: Any = None
    jsonrpc: str = "2.0"


@attrs.define
class RawResponse:
    """A response whose result stays JSON."""

    id: Any
    result: Any = None
    jsonrpc: str = "2.0"


class EditorProtocol(LanguageClientProtocol):
    """Leaves the protocol's own payloads as JSON for the test client to structure."""

    def get_message_type(self, method: str) -> Any:
        return RawNotification if method in NOTIFICATIONS else super().get_message_type(method)

    def get_result_type(self, method: str) -> Any:
        return RawResponse if method in METHODS or method == "initialize" else super().get_result_type(method)


class Refused(Exception):
    """An error answer: its code, its message, and its data."""

    def __init__(self, error: JsonRpcException) -> None:
        super().__init__(f"{error.code}: {error.message} {error.data}")
        self.code = error.code
        self.message = error.message
        self.data: dict[str, Any] = error.data or {}
        self.kind = self.data.get("kind")


class Editor(LanguageClient):
    """One client of a daemon, with all that it was told so far."""

    def __init__(self) -> None:
        super().__init__(protocol_cls=EditorProtocol)
        self.told: list[Notification] = []
        self.data = Path()
        self._news = asyncio.Event()
        for method in NOTIFICATIONS:
            self.feature(method)(self._listener(method))
        self.feature(lsp.WINDOW_SHOW_MESSAGE)(lambda params: self.messages.append(params))
        self.feature(lsp.WINDOW_LOG_MESSAGE)(lambda params: self._note_log(params))
        self.capabilities_told: dict[str, Any] = {}

    def _note_log(self, params: lsp.LogMessageParams) -> None:
        self.log_messages.append(params)
        self._news.set()

    async def until_logged(self, text: str) -> None:
        """Wait until the editor's log of the daemon shows a text."""
        async with asyncio.timeout(PATIENCE):
            while not any(text in logged.message for logged in self.log_messages):
                self._news.clear()
                await self._news.wait()

    def _listener(self, method: str) -> Callable[[Any], None]:
        def listen(params: Any) -> None:
            self.told.append(CONVERTER.structure(params, NOTIFICATIONS[method]))
            self._news.set()

        return listen

    @property
    def process(self) -> asyncio.subprocess.Process:
        """The process that was started, which hands its pipes to the daemon."""
        assert self._server is not None
        return self._server

    def daemon_pid(self) -> int:
        """Return the process that serves this editor."""
        return daemon_pid(self.data)

    async def call(self, method: str, **params: Any) -> Any:
        """Send a request with snake_case params and return its typed result.

        Raises:
            Refused: the daemon answered with an error.
        """
        answer = await self.call_raw(method, {camel(name): _json(value) for name, value in params.items()})
        result = METHODS[method].result
        if result is NoneType:
            assert answer is None
            return None
        return CONVERTER.structure(answer, result)

    async def call_raw(self, method: str, params: Any) -> Any:
        """Send a request with JSON params and return its JSON result."""
        try:
            return await asyncio.wait_for(self.protocol.send_request_async(method, params), PATIENCE)
        except JsonRpcException as error:
            raise Refused(error) from None

    async def until(self, wanted: Callable[[Notification], bool], after: int = 0) -> Notification:
        """Wait for a notification, among those from the `after`-th on."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for notification in itertools.islice(self.told, after, None):
                    if wanted(notification):
                        return notification
                self._news.clear()
                await self._news.wait()

    def all_told(self, cls: type[N]) -> list[N]:
        """Return the notifications of one kind, in order."""
        return [notification for notification in self.told if isinstance(notification, cls)]

    async def start(self, **options: Any) -> dict[str, Any]:
        """Go through LSP's opening."""
        self.capabilities = lsp.ClientCapabilities()
        params = lsp.InitializeParams(
            capabilities=self.capabilities,
            process_id=os.getpid(),
            initialization_options={"native": True, **options},
        )
        self.capabilities_told = await self.call_raw("initialize", params)
        self.protocol.notify("initialized", lsp.InitializedParams())
        return self.capabilities_told

    async def leave(self) -> int:
        """Go through LSP's end; return the daemon's exit status."""
        await self.call_raw("shutdown", None)
        self.protocol.notify("exit", None)
        return await asyncio.wait_for(self.process.wait(), PATIENCE)

    async def vanish(self) -> int:
        """Close the daemon's stdin without a word; return its exit status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return await asyncio.wait_for(self.process.wait(), PATIENCE)

    async def kill(self) -> None:
        """Kill the daemon where it stands."""
        os.kill(self.daemon_pid(), signal.SIGKILL)
        assert await asyncio.wait_for(self.process.wait(), PATIENCE) == 1

    async def new_thread(self, workspace: Path, provider: str = "rehearsal", **params: Any) -> Thread:
        """Make a thread, fully permitted unless said otherwise, and follow it."""
        params.setdefault("runtime_mode", "fullAccess")
        selection = {"provider": provider, "model": None}
        created = await self.call("thread/create", workspace=workspace.as_uri(), selection=selection, **params)
        await self.call("thread/subscribe", thread_id=created.thread.id)
        return created.thread

    async def begin(self, thread: Thread, text: str, provider: str | None = None, **params: Any) -> Run:
        """Start a run and return it as it was answered."""
        if provider is not None:
            params["selection"] = {"provider": provider, "model": None}
        answer = await self.call("run/start", thread_id=thread.id, message={"text": text}, **params)
        return answer.run

    async def say(self, thread: Thread, text: str, provider: str | None = None, **params: Any) -> Run:
        """Start a run and return it once it has ended."""
        return await self.ended(await self.begin(thread, text, provider, **params))

    async def ended(self, run: Run) -> Run:
        """Wait until a run is terminal."""
        return (await self.call("run/wait", run_id=run.id)).run

    async def read(self, thread: Thread) -> ThreadRead:
        """Read a thread."""
        return await self.call("thread/read", thread_id=thread.id)

    async def items(self, thread: Thread, run: Run | None = None) -> list[Item]:
        """Read all items of a thread, or of a run."""
        items: list[Item] = []
        after = None
        while True:
            page = await self.call(
                "thread/items", thread_id=thread.id, **_set(run_id=run.id if run else None, after_item_id=after)
            )
            items.extend(page.items)
            after = page.next_item_id
            if after is None:
                return items

    async def recall(self, thread: Thread, provider: str) -> list[dict[str, str]]:
        """Have an agent say all that its native conversation holds."""
        run = await self.say(thread, "recall", provider)
        said = [item.text for item in await self.items(thread, run) if item.type == "agentMessage"]
        return json_of(said[-1])

    async def asked(self, run: Run) -> RuntimeRequest:
        """Wait until a run's agent asks something."""
        opened = await self.until(
            lambda n: type(n).__name__ == "RequestOpened" and n.request.run_id == run.id  # type: ignore[union-attr]
        )
        return opened.request  # type: ignore[union-attr]

    async def until_run(self, run: Run, *statuses: str) -> Run:
        """Wait until an event shows a run in one of these states."""
        event = await self.until(
            lambda n: (
                isinstance(n, ThreadEvent)
                and isinstance(n.record, Run)
                and n.record.id == run.id
                and n.record.status in statuses
            )
        )
        assert isinstance(event, ThreadEvent)
        assert isinstance(event.record, Run)
        return event.record

    async def until_output(self, run: Run, text: str) -> RunOutput:
        """Wait until a run's output shows a text."""
        output = await self.until(lambda n: isinstance(n, RunOutput) and n.run_id == run.id and text in n.text)
        assert isinstance(output, RunOutput)
        return output


def _set(**params: Any) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}


def _json(value: object) -> object:
    return CONVERTER.unstructure(value)


def json_of(text: str) -> Any:
    """Return the JSON value of a text."""
    return json.loads(text)


def command_id() -> str:
    """Return a fresh id for a command."""
    return str(uuid.uuid4())


def daemon_pid(data: Path) -> int:
    """Return the process that is the daemon of a data folder."""
    pid = json_of((data / "daemon.lock").read_text())["pid"]
    assert isinstance(pid, int)
    return pid


async def process_gone(pid: int) -> None:
    """Wait until a process that is no child of ours has ended."""
    try:
        process = psutil.Process(pid)
    except psutil.NoSuchProcess:
        return
    await asyncio.to_thread(process.wait, PATIENCE)


def nothing_printed(data: Path) -> None:
    """See that the daemon printed nothing, and that its event loop had nothing to complain of."""
    printed = (data / "log" / "stderr.log").read_text()
    assert printed == "", printed
    logged = (data / "log" / "midstream.log").read_text()
    assert "The event loop complains" not in logged, logged


def serve_command(
    data: Path, *flags: str, config_file: Path | None = None, launcher: Sequence[str] = SERVE
) -> list[str]:
    """Return the command that starts a daemon on a data folder."""
    return [*launcher, "serve", "--data-dir", str(data), "--config", str(config_file or os.devnull), *flags]


@asynccontextmanager
async def editor_on(
    data: Path,
    *flags: str,
    config_file: Path | None = None,
    env: dict[str, str] | None = None,
    launcher: Sequence[str] = SERVE,
    **options: Any,
) -> AsyncIterator[Editor]:
    """Start an editor on a data folder, and its daemon where there is none; the last one out sees the daemon's end."""
    server = ClientServerConfig(
        server_command=serve_command(data, *flags, config_file=config_file, launcher=launcher),
        client_factory=Editor,
        server_env={**os.environ, **(env or {})},
    )
    editor = await server.start()
    assert isinstance(editor, Editor)
    editor.data = data
    try:
        await editor.start(**options)
        yield editor
        if editor.process.returncode is None:
            assert await editor.leave() == 0
        nothing_printed(data)
    finally:
        if editor.process.returncode is None:
            editor.process.kill()
        await editor.stop()


def providers(*kinds: str, flags: Iterable[str] = (), state: Path | None = None) -> dict[str, Any]:
    """Return the configuration of rehearsal agents with these flags."""
    where = ["--state-dir", str(state)] if state else []
    return {
        kind: {
            "driver": "acp",
            "command": [sys.executable, "-m", "midstream.server.rehearsal", "--name", kind, *where, *flags],
        }
        for kind in kinds
    }
