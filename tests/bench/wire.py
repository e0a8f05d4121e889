"""What the wire costs over a bare asyncio and orjson program that does the same: one JSON line a figure.

Run `python tests/bench/wire.py`. The two programs take turns, so that a busy machine is busy for both.
"""

import asyncio
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import orjson
from figures import medians, show

from midstream.protocol.lifecycle import ConfigProblem
from midstream.protocol.methods.thread import (
    ItemOutputParams,
    ItemOutputResult,
    ThreadListParams,
    ThreadListResult,
)
from midstream.protocol.notifications import RunOutput
from midstream.server.wire.client import Client
from midstream.server.wire.framing import encode
from midstream.server.wire.service import InitializeOptions, Service

sys.path.append(str(Path(__file__).parents[1]))
from support.doorways import receive_one, serve_through

ROUNDS: Final = 9
CALLS: Final = 1000
BURST: Final = 10_000
TEXT: Final = "x" * 72
"""Makes a whole notification about 200 bytes long."""


async def midstream(listener: socket.socket) -> None:
    """Serve with the wire."""

    async def initialize(client: Client, _: InitializeOptions) -> tuple[ConfigProblem, ...]:
        client.subscriptions.begin("thr_1", 0)
        return ()

    async def nothing(*_: object) -> None:
        return None

    async def echo(_: Client, params: ThreadListParams) -> ThreadListResult:
        return ThreadListResult(threads=(), next_cursor=params.query)

    async def burst(client: Client, _: ItemOutputParams) -> ItemOutputResult:
        for number in range(BURST):
            client.notify(
                RunOutput(thread_id="thr_1", run_id="run_1", item_id=f"itm_{number}", field="text", offset=0, text=TEXT)
            )
        return ItemOutputResult(text="", next_offset=None)

    service = Service(
        handlers={"thread/list": echo, "item/output": burst},
        version="0",
        initialize=initialize,
        configuration_changed=nothing,
        close=nothing,
    )
    await receive_one(listener, service)


async def bare() -> int:
    """Serve with as little as possible."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), sys.stdout.buffer
    )
    writer = asyncio.StreamWriter(transport, protocol, None, loop)

    def send(message: object) -> None:
        body = orjson.dumps(message)
        writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    while header := await reader.readline():
        await reader.readline()
        message = orjson.loads(await reader.readexactly(int(header.split(b":")[1])))
        if message["method"] == "item/output":
            for number in range(BURST):
                params = {
                    "threadId": "thr_1",
                    "runId": "run_1",
                    "itemId": f"itm_{number}",
                    "field": "text",
                    "offset": 0,
                    "text": TEXT,
                }
                send({"jsonrpc": "2.0", "method": "run/output", "params": params})
                await writer.drain()
        send({"jsonrpc": "2.0", "id": message["id"], "result": {"threads": [], "nextCursor": "q"}})
    return 0


class Caller:
    """A blocking client, as cheap as can be, so that what is measured is the other side."""

    def __init__(self, program: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__)), program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin = self._process.stdin.fileno()
        self._stdout = self._process.stdout.fileno()
        self.call("initialize", {"initializationOptions": {"native": True}})

    def call(self, method: str, params: object) -> float:
        """Send a request and return the seconds until its answer, which nothing follows."""
        request = encode({"jsonrpc": "2.0", "id": "the-only-one", "method": method, "params": params})
        start = time.perf_counter()
        os.write(self._stdin, request)
        tail = b""
        while b'"id":"the-only-one"' not in tail:
            tail = tail[-100:] + os.read(self._stdout, 1 << 20)
        return time.perf_counter() - start

    def round_trip(self) -> float:
        """Return the median of many round trips, in seconds."""
        return statistics.median(self.call("thread/list", {"query": "q"}) for _ in range(CALLS))

    def burst_rate(self) -> float:
        """Return the notifications a second of one burst."""
        return BURST / self.call("item/output", {"itemId": "itm_1", "field": "text"})

    def close(self) -> None:
        """End the program."""
        self._process.communicate()


def compared(measure: Callable[[Caller], float], pair: tuple[Caller, Caller]) -> list[float]:
    """Warm both programs up, measure them in turns, and return the median of each."""
    ours, bare = pair
    measure(ours)
    measure(bare)
    return medians(ROUNDS, lambda: measure(ours), lambda: measure(bare))


def main() -> None:
    """Print all figures."""
    pair = Caller("midstream"), Caller("bare")
    value, limit = compared(Caller.round_trip, pair)
    show("wire.round_trip_p50", value, "s", limit, 2.5)
    value, limit = compared(Caller.burst_rate, pair)
    show("wire.burst_rate", value, "notifications/s", limit, 0.4, higher_is_better=True)
    for caller in pair:
        caller.close()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["bare"]:
            sys.exit(asyncio.run(bare()))
        case ["midstream"]:
            with tempfile.TemporaryDirectory() as folder:
                sys.exit(serve_through(Path(folder), midstream))
        case _:
            main()
