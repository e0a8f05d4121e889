"""A service of a test's own behind the real doorway: the process that is started hands its pipes to a daemon."""

import asyncio
import socket
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from midstream.server.wire import doorway
from midstream.server.wire.attaching import attach
from midstream.server.wire.connection import Connection
from midstream.server.wire.reception import Reception, Visitor
from midstream.server.wire.service import Service

VERSION = "1.2.3"


def serve_through(folder: Path, daemon: Callable[[socket.socket], Coroutine[Any, Any, None]]) -> int:
    """Attach this process to the daemon of a folder; where there is none, `daemon` is run in a process of its own."""
    doorway.enter(str(folder))
    return attach(VERSION, {}, b"", lambda _, listener: asyncio.run(daemon(listener)))


class OneVisit:
    """Serves the first visitor, and then nobody."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.over = asyncio.Event()

    def arrive(self) -> bool:
        return not self.over.is_set()

    async def visit(self, visitor: Visitor) -> None:
        await visitor.serve(Connection(self._service))
        visitor.let_go()

    def depart(self) -> None:
        self.over.set()

    def give_way(self) -> bool:
        return False


async def receive_one(listener: socket.socket, service: Service) -> None:
    """Serve the first visitor, and end with it."""
    household = OneVisit(service)
    reception = Reception(listener, VERSION, household)
    await household.over.wait()
    await reception.close()
    await reception.join()
