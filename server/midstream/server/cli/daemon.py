"""The daemon's process: its clients, its signals, and its end."""

import asyncio
import logging
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

LOG: Final = logging.getLogger(__name__)


def run_daemon(listener: socket.socket) -> None:
    """Serve the current folder's clients until the daemon is not needed any more."""
    asyncio.run(_serve(listener))


async def _serve(listener: socket.socket) -> None:
    server = Server(Path.cwd())
    configure(server.hub, Path("log") / "midstream.log")
    household = Household(server)
    reception = Reception(listener, VERSION, household.visit, household.lifetime.give_way)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, household.lifetime.stop)
    reception.open()
    try:
        await household.lifetime.wait()
    finally:
        await reception.close()
        household.end()
        await reception.join()
        await server.aclose()


class Household:
    """The clients that are attached to one daemon."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.lifetime = Lifetime(lambda: server.busy, server.drain, lambda: server.idle_seconds)
        self._connections: set[Connection] = set()
        self._last: list[Visitor] = []
        self._ending = False

    async def visit(self, visitor: Visitor) -> None:
        """Serve one client until its connection ends."""
        self.lifetime.arrive()
        self._let_go()
        connection = Connection(self._server.service_for(launch_of(visitor.launch)))
        self._connections.add(connection)
        if self._ending:
            connection.end(0)
        try:
            await visitor.serve(connection)
        finally:
            self._connections.discard(connection)
            self.lifetime.depart()
            # The last one out sees the daemon's end: then all is written, and all agents are gone.
            self._last.append(visitor)
            if not self.lifetime.over:
                self._let_go()

    def end(self) -> None:
        """End all connections, and such as are just beginning."""
        self._ending = True
        self.lifetime.stop()
        for connection in self._connections:
            connection.end(0)

    def _let_go(self) -> None:
        while self._last:
            self._last.pop().let_go()
