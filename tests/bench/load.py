"""The daemon under load: its memory, its event loop, and how long words take to reach each client.

Run `python tests/bench/load.py [SECONDS]`. Eight threads are answered at once by four providers that write 10 MB/s
between them, beside a thread of 100,000 items, a queue of 1,000 runs, a tool output of 24 MB on one line and four
clients, the last of which never reads. Then one agent writes chunks of 200 bytes as fast as they are taken. A tenth
of it all comes first, but for that one line, which has to be held whole: so what grows with the load shows. On a busy
machine `load.loop_work` still holds, which is the loop's own work between two beats; all other times are the machine's.
"""

import asyncio
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import chain, count
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import orjson
from attrs import frozen
from figures import show

from midstream.server.wire.framing import Decoder, encode
from support.load import COMMAND, fill, firehoses

SECONDS = 60
RATE = 10_000_000
CHUNK, SMALL = 4_096, 200
THREADS, PROVIDERS, READERS = 8, 4, 3
ITEMS, QUEUED, TOOL = 100_000, 1_000, 24_000_000
SMALL_CHUNKS = 100_000
MARK = re.compile(r"@(\d{10}\.\d{6});")

RSS_LIMIT, GAP_LIMIT, DELAY_LIMIT = 200e6, 0.020, 0.250


@frozen(kw_only=True)
class Measured:
    """What one load came to: bytes, and seconds."""

    peak: float
    gaps: list[float]
    work: list[float]
    delays: list[list[float]]
    small_rate: float


class Client:
    """A raw client on the daemon's socket: reads as fast as it can, and notes how old the words are that it gets."""

    def __init__(self, reader: asyncio.StreamReader, to_daemon: int) -> None:
        self._to_daemon = to_daemon
        self._ids = count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._reader = reader
        self.delays: list[float] = []
        self._reading: asyncio.Task[None] | None = None

    def read(self) -> None:
        """Begin to read."""
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        decoder = Decoder()
        while data := await self._reader.read(1 << 18):
            for frame in decoder.feed(data):
                assert isinstance(frame, bytes)
                message = orjson.loads(frame)
                match message:
                    case {"method": "run/output", "params": {"text": str(text)}}:
                        now = time.monotonic()
                        self.delays.extend(now - float(written) for written in MARK.findall(text))
                    case {"method": "thread/reset", "params": {"threadId": thread_id, "afterSequence": after}}:
                        self.send("thread/subscribe", {"threadId": thread_id, "afterSequence": after})
                    case {"id": int(msg_id), "result": result}:
                        self._answers.pop(msg_id).set_result(result)
                    case {"id": int(msg_id), "error": error}:
                        self._answers.pop(msg_id).set_exception(RuntimeError(str(error)))

    def send(self, method: str, params: object) -> asyncio.Future[Any]:
        msg_id = next(self._ids)
        answer = self._answers[msg_id] = asyncio.get_running_loop().create_future()
        os.write(self._to_daemon, encode({"jsonrpc": "2.0", "id": msg_id, "method": method, "params": params}))
        return answer

    async def call(self, method: str, **params: object) -> Any:
        return await self.send(method, params)

    async def begin(self, thread_id: str, text: str, **params: object) -> str:
        answer = await self.call("run/start", threadId=thread_id, message={"text": text}, **params)
        return answer["run"]["id"]

    async def ended(self, run_id: str) -> None:
        run = (await self.call("run/wait", runId=run_id))["run"]
        assert run["status"] == "completed", run


def hand_over(path: Path) -> tuple[int, int]:
    """Give the daemon a pair of pipes, and return the client's ends, to write and to read."""
    (daemon_in, to_daemon), (from_daemon, daemon_out) = os.pipe(), os.pipe()
    with socket.socket(socket.AF_UNIX) as door:
        door.connect(str(path))
        socket.send_fds(door, [b"!"], [daemon_in, daemon_out])
    os.close(daemon_in)
    os.close(daemon_out)
    return to_daemon, from_daemon


async def connect(path: Path, config: object) -> Client:
    """Connect a client that reads."""
    to_daemon, from_daemon = hand_over(path)
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 18)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(from_daemon, "rb", 0))
    client = Client(reader, to_daemon)
    client.read()
    options = {"native": True, "config": config}
    await client.call("initialize", capabilities={}, initializationOptions=options)
    return client


def stall(path: Path, config: object, threads: list[str]) -> int:
    """Connect a client that asks for everything, and reads nothing; return the end that it does not read."""
    to_daemon, from_daemon = hand_over(path)
    options = {"native": True, "config": config}
    opening = {"capabilities": {}, "initializationOptions": options}
    os.write(to_daemon, encode({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": opening}))
    for number, thread_id in enumerate(threads, 1):
        params = {"threadId": thread_id}
        request = {"jsonrpc": "2.0", "id": number, "method": "thread/subscribe", "params": params}
        os.write(to_daemon, encode(request))
    return from_daemon


@asynccontextmanager
async def daemon(data: Path, pulse: Path) -> AsyncIterator[Path]:
    """A daemon on its socket."""
    path = data / "load.sock"
    command = [sys.executable, str(Path(__file__).with_name("load_daemon.py")), str(data), str(path), str(pulse)]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        await process.stdout.readline()
        yield path
    finally:
        process.send_signal(signal.SIGTERM)
        await process.wait()


async def measure(folder: Path, seconds: float, share: float) -> Measured:
    """Put a share of the load on a daemon of its own."""
    workspace, data, pulse = folder / "workspace", folder / "data", folder / "pulse.json"
    workspace.mkdir(parents=True)
    data.mkdir()
    large = await fill(data, int(ITEMS * share), workspace)
    kinds = [f"firehose{number}" for number in range(PROVIDERS)]
    config = firehoses(*kinds)
    async with daemon(data, pulse) as path:
        clients = [await connect(path, config) for _ in range(READERS)]
        user = clients[0]

        async def new_thread(kind: str, number: int) -> str:
            own = workspace / f"{kind}-{number}"
            own.mkdir()
            selection = {"provider": kind, "model": None}
            made = await user.call("thread/create", workspace=own.as_uri(), selection=selection)
            return made["thread"]["id"]

        threads = [await new_thread(kind, n) for n in range(THREADS // PROVIDERS) for kind in kinds]
        tool, queue, small = [await new_thread(kinds[0], n) for n in (7, 8, 9)]
        for client in clients:
            for thread_id in (*threads, tool, queue, small):
                await client.call("thread/subscribe", threadId=thread_id)
        stalled = stall(path, config, [*threads, tool, queue, small])
        for thread_id in threads:  # so that the probing of agents is over
            await user.ended(await user.begin(thread_id, "hello"))
        chunks = int(seconds * RATE / THREADS / CHUNK)
        flood = f"flood {chunks} {CHUNK} {RATE // THREADS}"
        runs = [await user.begin(thread_id, flood) for thread_id in threads]
        runs.append(await user.begin(tool, f"tools 1 {TOOL}"))
        blocking = await user.begin(queue, "wait")
        queued = [await user.begin(queue, f"Say {n}.") for n in range(int(QUEUED * share))]
        await user.call("run/reorder", runId=queued[-1], beforeRunId=queued[0])
        for run_id in queued:
            await user.call("run/cancel", runId=run_id)
        await user.call("run/interrupt", runId=blocking)
        for _ in range(20):
            await user.call("thread/read", threadId=large)
            await user.call("thread/items", threadId=large, last=True)
        for run_id in runs:
            await user.ended(run_id)
        delays = [client.delays for client in clients]
        for client in clients:
            client.delays = []
        began = time.perf_counter()
        await user.ended(await user.begin(small, f"flood {SMALL_CHUNKS} {SMALL}"))
        rate = SMALL_CHUNKS / (time.perf_counter() - began)
        os.close(stalled)
    told = json.loads(pulse.read_text())
    return Measured(peak=told["peak"], gaps=told["gaps"], work=told["work"], delays=delays, small_rate=rate)


def bare_rate() -> float:
    """Return the small chunks a second that a loop takes which reads lines from the pipe and parses them."""
    session = {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {}}
    text = {"type": "text", "text": f"flood {SMALL_CHUNKS} {SMALL}"}
    prompt = {"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": {"sessionId": "s1", "prompt": [text]}}
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        began = time.perf_counter()
        agent.stdin.write(b"".join(orjson.dumps(message) + b"\n" for message in (session, prompt)))
        agent.stdin.flush()
        for line in agent.stdout:
            if orjson.loads(line).get("id") == 2:
                break
        seconds = time.perf_counter() - began
        agent.stdin.close()
    return SMALL_CHUNKS / seconds


def quantile(values: list[float], share: float) -> float:
    """Return the value below which so large a share of the values lies."""
    return sorted(values)[int(share * (len(values) - 1))]


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    with tempfile.TemporaryDirectory(prefix="midstream-bench-") as folder:
        tenth = asyncio.run(measure(Path(folder) / "tenth", seconds / 10, 0.1))
        whole = asyncio.run(measure(Path(folder) / "whole", seconds, 1.0))
    show("load.peak_rss", whole.peak, "bytes", RSS_LIMIT, 1.0)
    show("load.loop_gap_p99", quantile(whole.gaps, 0.99), "s", GAP_LIMIT, 1.0)
    show("load.loop_gap_max", max(whole.gaps), "s", GAP_LIMIT, 10.0)
    show("load.loop_work_p99", quantile(whole.work, 0.99), "s", GAP_LIMIT, 1.0)
    show("load.loop_work_max", max(whole.work), "s", GAP_LIMIT, 10.0)
    for number, delays in enumerate(whole.delays):
        show(f"load.delivery_p50.client{number}", statistics.median(delays), "s", DELAY_LIMIT, 1.0)
        show(f"load.delivery_p99.client{number}", quantile(delays, 0.99), "s", DELAY_LIMIT, 1.0)
    show("load.growth.peak_rss", whole.peak, "bytes", tenth.peak, 1.5)
    show("load.growth.loop_gap_p99", quantile(whole.gaps, 0.99), "s", quantile(tenth.gaps, 0.99), 1.5)
    late, tenth_late = (quantile(list(chain(*measured.delays)), 0.99) for measured in (whole, tenth))
    show("load.growth.delivery_p99", late, "s", tenth_late, 1.5)
    show("load.small_chunks", whole.small_rate, "chunks/s", bare_rate(), 0.2, higher_is_better=True)


if __name__ == "__main__":
    main()
