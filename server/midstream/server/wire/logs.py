"""Where log lines go: a rotating file, and the clients' stderr and logs. No line holds a message's content."""

import asyncio
import logging
import os
import select
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final, TextIO

from lsprotocol.types import MessageType

from midstream.server.wire.hub import Hub

FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"
FILE_BYTES: Final = 2 * 1024 * 1024
FILES: Final = 3
LINE_CHARACTERS: Final = 1000


def configure(hub: Hub, file: Path | None) -> None:
    """Send warnings to every client, and all from INFO on to the file. Call it in the event loop."""
    logger = logging.getLogger("midstream")
    logger.setLevel(logging.INFO)
    logger.addHandler(ClientHandler(hub, asyncio.get_running_loop()))
    silence_pygls()
    if file is None:
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(file, maxBytes=FILE_BYTES, backupCount=FILES - 1, encoding="utf-8")
    except OSError as problem:
        logger.warning("No log file: %s", problem)
    else:
        logger.addHandler(_formatted(handler, logging.INFO))


@contextmanager
def also_to(stderr: int) -> Iterator[None]:
    """Send warnings to a client's stderr too, which is closed afterwards."""
    logger = logging.getLogger("midstream")
    with os.fdopen(stderr, "w", encoding="utf-8") as stream:
        handler = _formatted(StderrHandler(stream), logging.WARNING)
        logger.addHandler(handler)
        try:
            yield
        finally:
            logger.removeHandler(handler)


def silence_pygls() -> None:
    """Keep pygls quiet: it logs whole messages, and what matters of it is logged here."""
    logging.getLogger("pygls").setLevel(logging.CRITICAL + 1)


class StderrHandler(logging.StreamHandler[TextIO]):
    """Writes to stderr, or drops the line where nobody reads it: a full pipe would stop the daemon."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        _, writable, _ = select.select([], [self.stream], [], 0)
        if writable:
            super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """Drop the line: the client closed its stderr."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, short enough that a pipe that takes anything takes it whole."""
        return super().format(record)[:LINE_CHARACTERS]


class ClientHandler(logging.Handler):
    """Writes warnings to the logs of all clients, from any thread."""

    def __init__(self, hub: Hub, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(logging.WARNING)
        self._hub = hub
        self._loop = loop

    def emit(self, record: logging.LogRecord) -> None:
        """Pass one line on."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._tell, record.levelno, record.getMessage())

    def _tell(self, level: int, message: str) -> None:
        kind = MessageType.Error if level >= logging.ERROR else MessageType.Warning
        for client in self._hub:
            client.log_message(message, kind)


def _formatted(handler: logging.Handler, level: int) -> logging.Handler:
    handler.setFormatter(logging.Formatter(FORMAT))
    handler.setLevel(level)
    return handler
