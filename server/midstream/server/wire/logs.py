"""Where log lines go: a rotating file, and the clients' stderr and logs.

No line quotes a user, an agent or a file, but for those of the file where the user asked for it: not in what is said
(`Quoted`), and not in what an exception says.
"""

import asyncio
import logging
import os
import select
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import Any, Final, TextIO, TypeAlias

from lsprotocol.types import MessageType

from midstream.server.quoting import Quoted
from midstream.server.wire.hub import Hub

log = logging.getLogger(__name__)

ExcInfo: TypeAlias = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]

FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"
FILE_BYTES: Final = 2 * 1024 * 1024
FILES: Final = 3
LINE_CHARACTERS: Final = 1000


def configure(hub: Hub, file: Path | None, bodies: Callable[[], bool]) -> None:
    """Send warnings to every client, and all from INFO on to the file, with quotations while `bodies` says so.

    Call it in the event loop, whose own complaints then come here too.
    """
    logger = logging.getLogger("midstream")
    logger.setLevel(logging.INFO)
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_log_complaint)
    logger.addHandler(ClientHandler(hub, loop))
    silence_pygls()
    logging.raiseExceptions = False  # a line for which the disk has no room is dropped without another one
    if file is None:
        return
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handler = PrivateFileHandler(file, maxBytes=FILE_BYTES, backupCount=FILES - 1, encoding="utf-8")
    except OSError as problem:
        logger.warning("No log file: %s", problem)
    else:
        logger.addHandler(_formatted(handler, logging.INFO, bodies))


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


class PrivateFileHandler(RotatingFileHandler):
    """Writes to a file that its owner alone can read."""

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).touch(mode=0o600)
        return super()._open()


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


class DiscreetFormatter(logging.Formatter):
    """Formats lines, with quotations while `bodies` says so."""

    def __init__(self, bodies: Callable[[], bool]) -> None:
        super().__init__(FORMAT)
        self._bodies = bodies

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record, which stays as it is for other handlers."""
        own = copy(record)
        own.exc_text = None  # what another handler's formatter left there
        if self._bodies() and isinstance(own.args, tuple):
            own.args = tuple(arg.words if isinstance(arg, Quoted) else arg for arg in own.args)
        return super().format(own)

    def formatException(self, ei: ExcInfo) -> str:  # noqa: N802 - logging's name
        """Return where an exception arose, and what it says only with the other quotations."""
        if self._bodies():
            return super().formatException(ei)
        _, problem, trace = ei
        return "".join([*traceback.format_tb(trace), type(problem).__name__])


def _log_complaint(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    log.error("The event loop complains: %s", Quoted(context["message"]), exc_info=context.get("exception"))


def _formatted(handler: logging.Handler, level: int, bodies: Callable[[], bool] = lambda: False) -> logging.Handler:
    handler.setFormatter(DiscreetFormatter(bodies))
    handler.setLevel(level)
    return handler
