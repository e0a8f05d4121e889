"""A small client of the daemon, for the demo: typed requests over a child's stdio, and its notifications in order."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, Self, TypeVar

import orjson

from midstream.protocol.converter import make_converter
from midstream.protocol.methods.params import Params
from midstream.protocol.methods.table import METHODS, NOTIFICATIONS
from midstream.protocol.notifications import Notification
from midstream.server.wire.framing import Decoder, encode

CONVERTER: Final = make_converter()
CHUNK: Final = 65_536
R = TypeVar("R")


class ServerError(Exception):
    """The daemon refused a request."""


class StdioClient:
    """A connection to a daemon that was started for it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._last_id = 0
        self.notifications: Final[asyncio.Queue[Notification | None]] = asyncio.Queue()
        self._reading = asyncio.ensure_future(self._read())

    @classmethod
    @asynccontextmanager
    async def started(cls, data_dir: Path, *flags: str) -> AsyncIterator[Self]:
        """Start `midstream serve` on a data folder, and end it afterwards."""
        command = [sys.executable, "-c", "import sys; from midstream.server.cli.main import main; sys.exit(main())"]
        process = await asyncio.create_subprocess_exec(
            *command,
            "serve",
            "--data-dir",
            str(data_dir),
            "--config",
            os.devnull,
            *flags,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        client = cls(process)
        try:
            await client._call("initialize", {"capabilities": {}, "initializationOptions": {"native": True}})
            client._send({"method": "initialized", "params": {}})
            yield client
            await client._call("shutdown", None)
            client._send({"method": "exit"})
        finally:
            await client._close()

    async def request(self, method: str, params: Params, result: type[R]) -> R:
        """Send a request and return its result.

        Raises:
            ServerError: the daemon refused it, or is gone.
        """
        assert METHODS[method].result is result
        answer = await self._call(method, CONVERTER.unstructure(params))
        return CONVERTER.structure(answer, result)

    async def _call(self, method: str, params: object) -> object:
        self._last_id += 1
        answer = self._answers[self._last_id] = asyncio.get_running_loop().create_future()
        self._send({"id": self._last_id, "method": method, **({} if params is None else {"params": params})})
        return await answer

    def _send(self, message: dict[str, object]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(encode({"jsonrpc": "2.0", **message}))

    async def _read(self) -> None:
        assert self._process.stdout is not None
        decoder = Decoder()
        while data := await self._process.stdout.read(CHUNK):
            for frame in decoder.feed(data):
                assert isinstance(frame, bytes)
                self._take(orjson.loads(frame))
        for answer in self._answers.values():
            answer.set_exception(ServerError("The daemon is gone."))
        self.notifications.put_nowait(None)

    def _take(self, message: dict[str, Any]) -> None:
        if "method" in message:
            params = NOTIFICATIONS.get(message["method"])
            if params is not None:
                self.notifications.put_nowait(CONVERTER.structure(message["params"], params))
            return
        answer = self._answers.pop(message["id"])
        if "error" in message:
            answer.set_exception(ServerError(message["error"]["message"]))
        else:
            answer.set_result(message["result"])

    async def _close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()
        await self._reading
