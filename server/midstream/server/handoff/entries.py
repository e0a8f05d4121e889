"""What the sections of a handoff are made of, before room is given out."""

from collections.abc import Iterable
from typing import Final

from attrs import frozen

from midstream.protocol.base import ItemId
from midstream.protocol.records.handoff import SectionKind

TITLES: Final[dict[SectionKind, str]] = {
    "goals": "What the user asked for, oldest first",
    "constraints": "Standing constraints, in the user's own words",
    "decisions": "Decisions and why",
    "files": "Files changed",
    "commands": "Commands, tests and tools, by last outcome",
    "plan": "Plan and todos as last recorded",
    "open": "Open approvals and questions",
    "failures": "Known failures",
    "subagents": "Results of subagents",
    "checkpoint": "The workspace's latest checkpoint",
    "conversation": "What the agents said, oldest first",
}
"""The sections in the order in which they stand, so that the start and the end carry most."""


@frozen(kw_only=True)
class Entry:
    """One statement: its first line is ours and begins it, the lines after it are quoted.

    `pinned` ones are never left out, `whole` ones never shortened.
    """

    text: str
    run_ordinal: int | None = None
    item_ids: tuple[ItemId, ...] = ()
    pinned: bool = False
    whole: bool = False


@frozen(kw_only=True)
class Section:
    """The entries of one kind, in the order in which they stand; later ones are newer."""

    kind: SectionKind
    entries: tuple[Entry, ...]


def quoted(label: str, lines: Iterable[str]) -> str:
    """Return the text of an entry: a label of ours, and foreign lines below it."""
    return "\n".join((label, *lines))
