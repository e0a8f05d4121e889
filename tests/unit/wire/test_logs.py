"""Log lines: what they quote, and to whom."""

import ast
import asyncio
import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from midstream.server import quoting
from midstream.server.quoting import Quoted
from midstream.server.wire.hub import Hub
from midstream.server.wire.logs import also_to, configure
from support.traces import files_that_hold

SAFE = {
    *("thread_id", "self._thread_id", "stored.thread_id", "stored.effect.type", "stored.effect.run_id"),
    *("run.id", "self.run_id", "word.run_id", "record.run_id", "execution.run_id", "request.id", "word.request_id"),
    *("method", "type(problem).__name__", "limit", "SOCKET", "self._bytes", "len(streams)", "frame.message"),
}
"""What log lines may hold beside quotations: ids, numbers, and words of the daemon's own."""
OWN_WORDS = {("reception.py", "error"), ("logs.py", "problem"), ("persistence.py", "what")}
"""What the operating system says of the daemon's own socket and log, and what the daemon calls its own commits."""
WORDS = "what the user said"
LOG = logging.getLogger("midstream.server.test")


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Leave logging as it was."""
    logger = logging.getLogger("midstream")
    before = list(logger.handlers)
    yield
    for handler in logger.handlers:
        if handler not in before:
            handler.close()
    logger.handlers = before


def say_everything() -> None:
    """Log at every level, with quotations among the arguments and in exceptions and their causes."""
    for level in (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL):
        LOG.log(level, "run %s: %s %r", "run_1", Quoted(ValueError(WORDS)), Quoted(WORDS))
    try:
        try:
            raise KeyError(WORDS)
        except KeyError as error:
            raise ValueError(WORDS) from error
    except ValueError:
        LOG.exception("run %s failed", "run_1")


async def test_no_line_quotes_anybody_unless_that_was_asked_for(tmp_path: Path) -> None:
    file, stderr = tmp_path / "log" / "midstream.log", tmp_path / "stderr"
    asked_for = False
    configure(Hub(), file, lambda: asked_for)
    with also_to(os.open(stderr, os.O_WRONLY | os.O_CREAT)):
        say_everything()
        assert files_that_hold(WORDS, tmp_path) == []
        lines = file.read_text()
        assert lines.count("run run_1: (not logged) (not logged)") == 4
        assert "say_everything" in lines
        assert "ValueError" in lines
        asked_for = True
        say_everything()
        assert files_that_hold(WORDS, tmp_path) == ["log/midstream.log"]
        assert file.read_text().count(f"run run_1: {WORDS} '{WORDS}'") == 4
        assert f"KeyError: '{WORDS}'" in file.read_text()


async def test_what_the_event_loop_complains_of_is_logged_without_what_it_says(tmp_path: Path) -> None:
    file = tmp_path / "log" / "midstream.log"
    configure(Hub(), file, lambda: False)

    def fail(words: str) -> None:
        raise ValueError(words)

    loop = asyncio.get_running_loop()
    loop.call_soon(fail, WORDS)
    done = asyncio.Event()
    loop.call_soon(done.set)
    await done.wait()
    assert "The event loop complains: (not logged)" in file.read_text()
    assert "ValueError" in file.read_text()
    assert files_that_hold(WORDS, tmp_path) == []


def logged(module: ast.Module) -> Iterator[str]:
    """Return all arguments of a module's log calls but the format, as source."""
    for node in ast.walk(module):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="LOG" | "log" | "logger"), attr=level), args=[text, *args]
            ) if hasattr(logging, level):
                assert isinstance(text, ast.Constant), f"not a constant: {ast.unparse(node)}"
                yield from map(ast.unparse, args)


def test_every_argument_of_a_log_line_is_known_to_be_safe_or_marked_as_a_quotation() -> None:
    sources = Path(quoting.__file__).parent.rglob("*.py")
    found = {(path.name, argument) for path in sources for argument in logged(ast.parse(path.read_text()))}
    marked = {(name, argument) for name, argument in found if argument.startswith("Quoted(")}
    assert marked
    assert {(name, argument) for name, argument in found - marked - OWN_WORDS if argument not in SAFE} == set()
