"""What the sections of a handoff are made of, before room is given out."""

from typing import Final

from attrs import frozen

from midstream.protocol.base import ItemId
from midstream.protocol.records.handoff import SectionKind
from midstream.server.handoff.pieces import Piece

TITLES: Final[dict[SectionKind, str]] = {
    "goals": "The user asked",
    "constraints": "Standing constraints, word for word",
    "decisions": "Decisions",
    "files": "Files changed",
    "commands": "Commands, by last outcome",
    "plan": "Plan and todos",
    "open": "Open questions",
    "failures": "Failures",
    "subagents": "Subagents",
    "checkpoint": "Checkpoint",
    "conversation": "The agents said",
}
"""The sections in the order in which they stand, so that the start and the end carry most."""

GAP: Final = "\u2026"
"""Stands where pieces were left out."""


@frozen(kw_only=True)
class Entry:
    """One statement: a line of ours, and foreign pieces below it.

    The pieces at the places `pinned` are never left out. `weight` is what its names count.
    """

    head: str
    pieces: tuple[Piece, ...] = ()
    run_ordinal: int | None = None
    item_ids: tuple[ItemId, ...] = ()
    pinned: frozenset[int] = frozenset()
    weight: float = 1.0

    @property
    def text(self) -> str:
        """All that the entry tells."""
        return f"{self.head} {''.join(piece.text for piece in self.pieces)}".rstrip()


@frozen(kw_only=True)
class Section:
    """The entries of one kind, in the order in which they stand; later ones are newer."""

    kind: SectionKind
    entries: tuple[Entry, ...]
