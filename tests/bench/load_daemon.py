"""``load_daemon.py DATA SOCKET PULSE``: a daemon that takes its clients' pipes at a socket and feels its own pulse.

When told to end by SIGTERM it writes to PULSE, as JSON, its peak memory in bytes, and of every gap of its event loop
the seconds, and how many of them its thread was at work: the rest it waited for the machine.
"""

import asyncio
import json
import os
import resource
import signal
import socket
import sys
import time
from pathlib import Path

from midstream.server.cli.server import Launch, Server
from midstream.server.wire.connection import Connection
from midstream.server.wire.stdio import open_writer, read_chunks

BEAT = 0.001


async def beat(gaps: list[float], work: list[float]) -> None:
    """Note by how much each beat came late, and what was done meanwhile."""
    while True:
        began, working = time.perf_counter(), time.thread_time()
        await asyncio.sleep(BEAT)
        gaps.append(time.perf_counter() - began - BEAT)
        work.append(time.thread_time() - working)


async def converse(server: Server, stdin: int, stdout: int) -> None:
    connection = Connection(server.service_for(Launch(config=os.devnull)))
    await open_writer(stdout, connection.outbox)
    await connection.serve(read_chunks(stdin))


async def main(data: Path, path: Path, pulse: Path) -> None:
    server = Server(data)
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    gaps: list[float] = []
    work: list[float] = []
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(path))
        door.listen()
        door.setblocking(False)
        print("open", flush=True)
        tasks = {asyncio.create_task(beat(gaps, work))}

        async def accept() -> None:
            while True:
                client, _ = await loop.sock_accept(door)
                with client:
                    client.setblocking(True)
                    _, pipes, _, _ = socket.recv_fds(client, 1, 2)
                tasks.add(asyncio.create_task(converse(server, *pipes)))

        tasks.add(asyncio.create_task(accept()))
        await ended.wait()
        for task in tasks:
            task.cancel()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    pulse.write_text(json.dumps({"gaps": gaps, "work": work, "peak": peak}))
    await server.aclose()


if __name__ == "__main__":
    asyncio.run(main(*map(Path, sys.argv[1:])))
