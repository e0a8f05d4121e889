"""What Claude Code has of its conversations, and what those were rewound to that did not go on since.

Claude Code writes down nowhere that a conversation was rewound, only what is said in it then. Until then a file of ours
says it: what the conversation goes on after, and what was said last in it before.
"""

import asyncio
from pathlib import Path
from typing import Final

from midstream.server.providers.adapter import ProviderError
from midstream.server.providers.claude import history
from midstream.server.providers.failures import failure


class Archive:
    """Reads what is `kept_in` Claude Code's folder; `notes` is the folder of ours. Raises ProviderError."""

    def __init__(self, kept_in: Path, notes: Path) -> None:
        self._kept_in: Final = kept_in
        self._notes: Final = notes

    async def turns(self, ref: str) -> tuple[history.KeptTurn, ...]:
        """Return the turns of a conversation as it goes on, oldest first."""
        entries = await self._entries(ref)
        newest = history.newest(entries)
        return history.turns(entries, self._noted(ref, newest) or newest)

    async def rewound_to(self, ref: str) -> str | None:
        """Return the entry that a conversation goes on after, None where that is the one that was said last."""
        return self._noted(ref, history.newest(await self._entries(ref)))

    async def rewind(self, ref: str, head: str) -> None:
        """Note that a conversation goes on after `head`."""
        newest = history.newest(await self._entries(ref))
        try:
            self._note(ref).write_text(f"{head} {newest}")
        except OSError as error:
            raise _unusable(self._notes, error) from error

    def forget_rewind(self, ref: str) -> None:
        """Note that a conversation goes on after what was said last."""
        self._note(ref).unlink(missing_ok=True)

    def _noted(self, ref: str, newest: str | None) -> str | None:
        try:
            head, before = self._note(ref).read_text().split()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unusable(self._notes, error) from error
        return head if before == newest else None

    def _note(self, ref: str) -> Path:
        return self._notes / f"{ref}.rewound"

    async def _entries(self, ref: str) -> tuple[history.Entry, ...]:
        try:
            return await asyncio.to_thread(history.read, self._kept_in, ref)
        except OSError as error:
            raise _unusable(self._kept_in, error) from error


def _unusable(folder: Path, error: OSError) -> ProviderError:
    return ProviderError(failure("provider_error", f"A conversation's file in {folder}: {error.strerror}."))
