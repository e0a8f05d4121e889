"""That a conversation is ours: two processes in one would each lose what the other says.

The lock is a file of ours for each native conversation, in one folder for all daemons of the user. The kernel lets go
of it with the daemon; the file stays, because one that is removed could be locked twice.
"""

import fcntl
from pathlib import Path
from typing import IO
from uuid import UUID

from midstream.server.providers.adapter import ProviderError
from midstream.server.providers.failures import failure


class Claim:
    """A conversation that nobody else opens until it is released; made by `take`."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    @classmethod
    def take(cls, folder: Path, ref: str) -> "Claim":
        """Claim a conversation.

        Raises:
            ProviderError: somebody else has it, its id is none of Claude Code's, or the folder cannot be written.
        """
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = (folder / f"{UUID(ref)}.lock").open("a")
        except ValueError as error:
            raise _refused("No conversation of Claude Code has that id.") from error
        except OSError as error:
            raise _refused(f"{folder} cannot be written: {error.strerror}.") from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.close()
            raise _refused("The conversation is open in another daemon of Midstream; close it there.") from error
        return cls(file)

    def release(self) -> None:
        """Let others open it."""
        self._file.close()


def _refused(message: str) -> ProviderError:
    return ProviderError(failure("validation_error", message))
