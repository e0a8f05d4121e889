"""What Claude Code keeps of a conversation: one JSON object a line, each naming the one that it follows.

A conversation that was rewound goes on from an earlier line; what followed that one before is part of it no more.
The SDK reads the same files, but only those of the daemon's own environment.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from midstream.protocol.base import JsonObject
from midstream.server.providers.connection import parse_line
from midstream.server.providers.reading import text_of

_SAID: Final = ("user", "assistant")


@frozen(kw_only=True)
class Entry:
    """A line of a conversation; `prompt` where the user began a turn with it."""

    id: str
    parent_id: str | None
    said: bool
    prompt: bool


@frozen
class KeptTurn:
    """A turn of the user's: the id of its message, and of the last that was said in it."""

    ref: str
    last_id: str

    @property
    def answered(self) -> bool:
        """Whether anything was said after the user's message."""
        return self.last_id != self.ref


def read(config_folder: Path, ref: str) -> tuple[Entry, ...]:
    """Return all lines of a conversation, in the order they were written, but for those of its subagents.

    Raises:
        OSError: the file cannot be read.
    """
    return tuple(_entries(config_folder, ref))


def newest(entries: Sequence[Entry]) -> str | None:
    """Return the id of what was said last, None where nothing was."""
    return next((entry.id for entry in reversed(entries) if entry.said), None)


def turns(entries: Sequence[Entry], last_id: str | None) -> tuple[KeptTurn, ...]:
    """Return the turns of a conversation that ends with an entry, oldest first; what was compacted counts too."""
    by_id = {entry.id: entry for entry in entries}
    chain: list[Entry] = []
    while last_id is not None and (entry := by_id.pop(last_id, None)) is not None:
        chain.append(entry)
        last_id = entry.parent_id
    found: list[KeptTurn] = []
    for entry in reversed(chain):
        if entry.prompt:
            found.append(KeptTurn(entry.id, entry.id))
        elif found and entry.said:
            found[-1] = KeptTurn(found[-1].ref, entry.id)
    return tuple(found)


def _entries(config_folder: Path, ref: str) -> Iterator[Entry]:
    for file in (config_folder / "projects").glob(f"*/{ref}.jsonl"):
        with file.open("rb") as lines:
            for line in lines:
                told = parse_line(line)
                entry_id = text_of(told, "uuid")
                if entry_id is not None and told.get("isSidechain") is not True:
                    said = told.get("type") in _SAID
                    parent = text_of(told, "parentUuid", "logicalParentUuid")
                    yield Entry(id=entry_id, parent_id=parent, said=said, prompt=said and _is_prompt(told))


def _is_prompt(told: JsonObject) -> bool:
    """Return whether a line is a message of the user's, and not a tool's result or a note of Claude Code's."""
    return text_of(told, "promptSource") not in (None, "system")
