"""The daemon's process: its clients, its signals, and its end."""

import asyncio
import signal
import socket
from pathlib import Path
from typing import Final

from midstream.server.cli.lifetime import Lifetime
from midstream.server.cli.server import Server, launch_of
from midstream.server.version import VERSION
from midstream.server.wire.connection import Connection
from midstream.server.wire.logs import configure
from midstream.server.wire.reception import Reception, Visitor


def run_daemon(listener: socket.socket) -> None:
    """Serve the current folder's clients until the daemon is not needed any more."""
    asyncio.run(_serve(listener))


async def _serve(listener: socket.socket) -> None:
    server = Server(Path.cwd())
    configure(server.hub, Path("log") / "midstream.log", lambda: server.logs_bodies)
    household = Household(server)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, household.lifetime.stop)
    reception = Reception(listener, VERSION, household)
    try:
        await household.lifetime.wait()
    finally:
        household.end_connections()
        await reception.close()
        await reception.join()
        await server.aclose()


class Household:
    """The clients that are attached to one daemon."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.lifetime: Final = Lifetime(lambda: server.busy, server.drain, lambda: server.idle_seconds)
        self._connections: set[Connection] = set()
        self._last: list[Visitor] = []

    def arrive(self) -> bool:
        """Count a client in, unless the daemon is ending."""
        self._let_go()
        return self.lifetime.arrive()

    async def visit(self, visitor: Visitor) -> None:
        """Serve a client until its connection ends."""
        connection = Connection(self._server.service_for(launch_of(visitor.launch)))
        self._connections.add(connection)
        if self.lifetime.over:
            connection.end(0)
        try:
            await visitor.serve(connection)
        finally:
            self._connections.discard(connection)
            self._last.append(visitor)

    def depart(self) -> None:
        """Count a client out: the last one sees the daemon's end, when all is written and all agents are gone."""
        self.lifetime.depart()
        if not self.lifetime.over:
            self._let_go()

    def give_way(self) -> bool:
        """End for a daemon of another version, unless a client or a run needs this one; return whether it ends."""
        return self.lifetime.give_way()

    def end_connections(self) -> None:
        """End all connections."""
        for connection in self._connections:
            connection.end(0)

    def _let_go(self) -> None:
        while self._last:
            self._last.pop().let_go()
