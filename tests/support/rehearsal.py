"""A client of the rehearsal agent's real process; every message that it receives must fit ``acp.schema``."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from acp import schema
from attrs import frozen
from pydantic import ValidationError

Json: TypeAlias = dict[str, Any]
Answer: TypeAlias = Callable[[Json], Json]

BOUND = 20.0

_RESULTS: dict[str, type[schema.BaseModel]] = {
    "initialize": schema.InitializeResponse,
    "session/new": schema.NewSessionResponse,
    "session/load": schema.LoadSessionResponse,
    "session/resume": schema.ResumeSessionResponse,
    "session/fork": schema.ForkSessionResponse,
    "session/list": schema.ListSessionsResponse,
    "session/close": schema.CloseSessionResponse,
    "session/set_mode": schema.SetSessionModeResponse,
    "session/set_config_option": schema.SetSessionConfigOptionResponse,
    "session/prompt": schema.PromptResponse,
    "_midstream/fork_at_turn": schema.ForkSessionResponse,
}


class AgentError(Exception):
    """The agent answered a request with an error."""

    def __init__(self, error: Json) -> None:
        super().__init__(error["message"])
        self.code: int = error["code"]
        self.data: Json = error.get("data", {})


class AgentGoneError(Exception):
    """The agent's output ended."""


@frozen
class Outcome:
    """A prompt's result, and the updates that came before it."""

    result: Json
    updates: tuple[Json, ...]

    def messages(self) -> list[str]:
        """What the agent itself said, a message each."""
        said: dict[str, str] = {}
        for update in self.of("agent_message_chunk"):
            if "midstream/parent" not in update.get("_meta", {}):
                key = update["messageId"]
                said[key] = said.get(key, "") + update["content"]["text"]
        return list(said.values())

    def of(self, kind: str) -> list[Json]:
        return [update for update in self.updates if update["sessionUpdate"] == kind]

    def meta(self, key: str) -> list[Any]:
        return [update["_meta"][key] for update in self.updates if key in update.get("_meta", {})]

    def recalled(self) -> list[Json]:
        entries: list[Json] = json.loads(self.messages()[-1])
        return entries


def choose(kind: str) -> Answer:
    """Answer a permission request with the first option of a kind."""

    def answer(params: Json) -> Json:
        option = next(option for option in params["options"] if option["kind"] == kind)
        return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}

    return answer


def refuse_to_answer(params: Json) -> Json:
    raise AssertionError(f"no permission was expected to be asked: {params}")


class RehearsalClient:
    """One agent process; ``on_permission`` answers what it asks, or, when null, leaves it waiting."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.updates: list[Json] = []
        self.permissions: list[Json] = []
        self.permission_ids: list[int] = []
        self.on_permission: Answer | None = refuse_to_answer
        self._ids = count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._methods: dict[int, str] = {}
        self._news = asyncio.Condition()
        self._reading = asyncio.create_task(self._read())

    async def request(self, method: str, **params: Any) -> Any:
        """Ask, and wait; raises ``AgentError`` or ``AgentGoneError``."""
        async with asyncio.timeout(BOUND):
            return await self.ask(method, **params)

    def ask(self, method: str, **params: Any) -> asyncio.Future[Any]:
        """Send a request at once; the future is its result."""
        request_id = next(self._ids)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = future
        self._methods[request_id] = method
        self.send({"id": request_id, "method": method, "params": params})
        return future

    def notify(self, method: str, **params: Any) -> None:
        self.send({"method": method, "params": params})

    def send(self, message: Json) -> None:
        self.send_line(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def send_line(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")

    async def initialize(self) -> Json:
        result: Json = await self.request("initialize", protocolVersion=1, clientCapabilities={})
        return result

    async def new(self, cwd: Path, mode: str | None = None, **params: Any) -> str:
        answer = await self.request("session/new", cwd=str(cwd), **{"mcpServers": [], **params})
        session_id: str = answer["sessionId"]
        if mode is not None:
            await self.request("session/set_mode", sessionId=session_id, modeId=mode)
        return session_id

    async def prompt(self, session_id: str, *blocks: str | Json) -> Outcome:
        before = len(self.updates)
        result = await self.request("session/prompt", sessionId=session_id, prompt=as_blocks(blocks))
        return Outcome(result, tuple(self.updates[before:]))

    def start_prompt(self, session_id: str, *blocks: str | Json) -> asyncio.Future[Any]:
        return self.ask("session/prompt", sessionId=session_id, prompt=as_blocks(blocks))

    async def recall(self, session_id: str) -> list[Json]:
        return (await self.prompt(session_id, "recall")).recalled()

    async def until(self, happened: Callable[[], bool]) -> None:
        """Wait until a message made this true."""
        async with asyncio.timeout(BOUND), self._news:
            await self._news.wait_for(happened)

    async def exit_code(self) -> int:
        async with asyncio.timeout(BOUND):
            return await self.process.wait()

    async def end(self) -> int:
        """Close the agent's input and wait for its end."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        code = await self.exit_code()
        await self._reading
        return code

    async def _read(self) -> None:
        assert self.process.stdout is not None
        end: Exception = AgentGoneError()
        try:
            async for line in self.process.stdout:
                self._receive(json.loads(line))
                async with self._news:
                    self._news.notify_all()
        except (AssertionError, ValidationError, ValueError) as misfit:
            end = misfit
        for future in self._waiting.values():
            future.set_exception(end)

    def _receive(self, message: Json) -> None:
        match message:
            case {"method": "session/update", "params": params}:
                must_fit(schema.SessionNotification, params)
                self.updates.append(params["update"])
            case {"method": "session/request_permission", "id": request_id, "params": params}:
                must_fit(schema.RequestPermissionRequest, params)
                self.permissions.append(params)
                self.permission_ids.append(request_id)
                if self.on_permission is not None:
                    self.send({"id": request_id, "result": self.on_permission(params)})
            case {"id": None, "error": error}:
                must_fit(schema.Error, error)
                self.updates.append({"sessionUpdate": "error", "error": error})
            case {"id": request_id, "error": error}:
                must_fit(schema.Error, error)
                self._waiting.pop(request_id).set_exception(AgentError(error))
            case {"id": request_id, "result": result}:
                if model := _RESULTS.get(self._methods[request_id]):
                    must_fit(model, result)
                self._waiting.pop(request_id).set_result(result)
            case _:
                raise AssertionError(f"not a message of the protocol: {message}")


def as_blocks(blocks: tuple[str | Json, ...]) -> list[Json]:
    return [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]


def resource(text: str) -> Json:
    """An embedded resource block."""
    return {"type": "resource", "resource": {"uri": "midstream://handoff", "mimeType": "text/markdown", "text": text}}


def place(session: str, workspace: Path) -> Json:
    """The parameters with which a session is loaded, resumed or forked."""
    return {"sessionId": session, "cwd": str(workspace), "mcpServers": []}


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def must_fit(model: type[schema.BaseModel], value: Json) -> None:
    """Assert that a message has the schema's shape and not a field more."""
    fitted = model.model_validate(value).model_dump(mode="json", by_alias=True, exclude_unset=True)
    assert fitted == value


Start: TypeAlias = Callable[..., Awaitable[RehearsalClient]]


@asynccontextmanager
async def rehearsal_agent(state_dir: Path, *flags: str) -> AsyncIterator[RehearsalClient]:
    """A running agent whose sessions live in ``state_dir``; killed at the end if it still runs."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "midstream.server.rehearsal", "--state-dir", str(state_dir), *flags),
        stdin=PIPE,
        stdout=PIPE,
        limit=64 * 1024 * 1024,
    )
    client = RehearsalClient(process)
    try:
        yield client
    finally:
        if process.returncode is None:
            await client.end()
