"""How the SDK reaches a Claude Code that we start ourselves.

The SDK's own transport gives its child all of our environment and leaves what the child started; ours is a
`ChildProcess`: exactly the environment that is meant for it, and a certain end for it and all its children.
"""

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from claude_agent_sdk import CLIConnectionError, CLINotFoundError, ProcessError, Transport

from midstream.protocol.records.run import Failure
from midstream.server.providers.connection import parse_line, read_lines
from midstream.server.providers.failures import gone
from midstream.server.providers.process import ChildProcess

# What the SDK logs quotes Claude Code without a mark, and the end of a process, which we tell ourselves, as an error.
logging.getLogger("claude_agent_sdk").setLevel(logging.CRITICAL + 1)


class ProcessTransport(Transport):
    """A Claude Code of our own: `command` in `folder` with exactly `environment`."""

    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self._command: Final = command
        self._folder: Final = folder
        self._environment: Final = environment
        self._process: ChildProcess | None = None

    @property
    def process(self) -> ChildProcess:
        """The process, once connected."""
        assert self._process is not None
        return self._process

    @property
    def gone(self) -> Failure:
        """Why nothing comes any more, once the process has ended."""
        return gone(self.process.returncode, self.process.last_words())

    async def connect(self) -> None:
        """Start the process.

        Raises:
            CLINotFoundError: it cannot be started.
        """
        try:
            self._process = await ChildProcess.start(self._command, self._folder, self._environment)
        except OSError as error:
            raise CLINotFoundError(f"{self._command[0]} cannot be started: {error.strerror}") from error

    async def write(self, data: str) -> None:
        """Write a line to its stdin.

        Raises:
            CLIConnectionError: it is gone. An answer to it is dropped then: the SDK has nobody to tell of that.
        """
        line = data.encode()
        try:
            self.process.stdin.write(line)
            await self.process.stdin.drain()
        except ConnectionError as error:
            match parse_line(line):
                case {"type": "control_response"}:
                    pass
                case _:
                    raise CLIConnectionError("Claude Code is gone.") from error

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        """Yield the objects on its lines until it has ended.

        Raises:
            ProcessError: it ended, whatever its status: nothing is read any more.
        """
        async for line in read_lines(self.process.stdout):
            if message := parse_line(line):
                yield message
        await self.process.end()
        raise ProcessError("Claude Code ended.", self.process.returncode)

    async def close(self) -> None:
        """End the process and all its children for certain."""
        if self._process is not None:
            await self._process.end()

    async def kill(self) -> None:
        """End the process and all its children at once: it is not to go on with what it has."""
        await self.process.end(eof_grace=0, term_grace=0)

    def is_ready(self) -> bool:
        """Return whether it can be written to."""
        return self._process is not None and self._process.returncode is None

    async def end_input(self) -> None:
        """Close its stdin."""
        self.process.stdin.close()
