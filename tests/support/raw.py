"""A client that sends bytes: what no well-behaved client would send, and messages in an order of its own."""

import asyncio
import itertools
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

from support.editor import PATIENCE, serve_command

Json: TypeAlias = dict[str, Any]


def framed(message: object) -> bytes:
    """Return a message as a client sends it."""
    body = json.dumps(message).encode()
    return f"Content-Length: {len(body)}\r\n\r\n".encode() + body


def request(id: int | str, method: str, params: object = None) -> Json:
    """Return a request."""
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def notification(method: str, params: object = None) -> Json:
    """Return a notification."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


class RawClient:
    """One client of a daemon; reads only when it is asked to, and keeps what it read on its way in `heard`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.heard: list[Json] = []
        self._ids = itertools.count(1)

    async def send_bytes(self, data: bytes) -> None:
        """Send bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        await self.process.stdin.drain()

    async def send(self, *messages: object) -> None:
        """Send messages in one piece."""
        await self.send_bytes(b"".join(map(framed, messages)))

    async def next(self) -> Json:
        """Return the next message of the daemon."""
        async with asyncio.timeout(PATIENCE):
            assert self.process.stdout is not None
            header = await self.process.stdout.readuntil(b"\r\n\r\n")
            name, _, length = header.partition(b":")
            assert name == b"Content-Length"
            message = json.loads(await self.process.stdout.readexactly(int(length)))
            assert message["jsonrpc"] == "2.0"
            return message

    async def answer_to(self, id: int | str | None) -> Json:
        """Return the answer to a request, or the one that names none."""
        while True:
            message = await self.next()
            if "method" not in message and message["id"] == id:
                return message
            self.heard.append(message)

    async def until(self, method: str) -> Json:
        """Return the params of the first message of this method, among those heard too."""
        while True:
            for place, message in enumerate(self.heard):
                if message.get("method") == method:
                    return self.heard.pop(place)
            self.heard.append(await self.next())

    async def ask(self, method: str, params: object = None) -> Json:
        """Send a request and return its answer, whether it is a result or an error."""
        msg_id = f"ask-{next(self._ids)}"
        await self.send(request(msg_id, method, params))
        return await self.answer_to(msg_id)

    async def result(self, method: str, params: object = None) -> Any:
        """Send a request that must succeed, and return its result."""
        answer = await self.ask(method, params)
        assert "result" in answer, answer
        return answer["result"]

    async def error(self, method: str, params: object = None) -> Json:
        """Send a request that must be refused, and return its error."""
        answer = await self.ask(method, params)
        assert "error" in answer, answer
        return answer["error"]

    async def initialize(self, **options: Any) -> Json:
        """Go through LSP's opening."""
        params = {"processId": os.getpid(), "capabilities": {}, "initializationOptions": {"native": True, **options}}
        result = await self.result("initialize", params)
        await self.send(notification("initialized", {}))
        return result

    async def new_thread(self, workspace: Path, provider: str = "rehearsal", mode: str = "approvalRequired") -> str:
        """Make a thread and return its id."""
        params = {
            "workspace": workspace.as_uri(),
            "selection": {"provider": provider, "model": None},
            "runtimeMode": mode,
        }
        return (await self.result("thread/create", params))["thread"]["id"]

    async def begin(self, thread_id: str, text: str) -> str:
        """Start a run and return its id."""
        answer = await self.result("run/start", {"threadId": thread_id, "message": {"text": text}})
        return answer["run"]["id"]

    async def stop(self, run_id: str) -> None:
        """Interrupt a run and wait for its end: a daemon stays for as long as one is active."""
        await self.result("run/interrupt", {"runId": run_id})
        assert (await self.result("run/wait", {"runId": run_id}))["run"]["status"] == "interrupted"

    async def close_input(self) -> None:
        """Close the daemon's stdin."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    async def rest(self) -> list[Json]:
        """Return all that the daemon still says before it closes its output."""
        messages = []
        while True:
            try:
                messages.append(await self.next())
            except asyncio.IncompleteReadError as end:
                if end.partial:
                    raise
                return messages

    async def status(self) -> int:
        """Return the exit status once the daemon has ended; nothing that it said is left unread."""
        self.heard.extend(await self.rest())
        return await asyncio.wait_for(self.process.wait(), PATIENCE)


@asynccontextmanager
async def raw_client(
    data: Path, *flags: str, config_file: Path | None = None, limit: int = 2**27
) -> AsyncIterator[RawClient]:
    """Start a raw client, and a daemon where there is none; it takes twice `limit` bytes before it is asked to read."""
    process = await asyncio.create_subprocess_exec(
        *serve_command(data, *flags, config_file=config_file),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=limit,
    )
    client = RawClient(process)
    try:
        yield client
        if process.returncode is None and not process.stdout.at_eof():  # type: ignore[union-attr]
            await client.close_input()
            assert await client.status() in (0, 1)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
