"""Giving out the room of a handoff, so that what matters most stays and the newest words stay longest."""

from typing import Final

from midstream.protocol.records.handoff import HandoffEntry, HandoffSection, SectionKind
from midstream.server.handoff.choice import Choice, Survey
from midstream.server.handoff.entries import TITLES, Section
from midstream.server.handoff.pieces import tokens_of

FLOORS: Final[dict[SectionKind, float]] = {
    "goals": 0.25,
    "decisions": 0.05,
    "files": 0.22,
    "commands": 0.03,
    "plan": 0.05,
    "open": 0.05,
    "failures": 0.04,
    "subagents": 0.02,
    "checkpoint": 0.03,
}
"""Each section's part of the room that pinned text leaves, before what is worth most anywhere is told."""


LEFT_OUT: Final = 40
"""Tokens of the line that names what is left out, with a count for every section."""


def effective_budget(configured: int, context_window: int | None, used: int | None) -> int:
    """Return the tokens a handoff may take: a quarter of the target's window stays in reserve. Never below 0."""
    if context_window is None:
        return configured
    return max(0, min(configured, context_window - (used or 0) - context_window // 4))


def smallest(pinned: tuple[Section, ...]) -> int:
    """Return the least room that `fit` can do with: what is pinned, and the line that says what is left out."""
    return Choice(pinned).used + LEFT_OUT


def whole(sections: tuple[Section, ...], room: int) -> tuple[HandoffSection, ...] | None:
    """Return the sections with all that there is, or None where that is certainly more than `room` tokens."""
    total = 0
    for section in sections:
        for entry in section.entries:
            total += tokens_of(entry.pieces)
            if total > room:
                return None
    return tuple(
        HandoffSection(
            kind=section.kind,
            title=TITLES[section.kind],
            entries=tuple(
                HandoffEntry(text=entry.text, run_ordinal=entry.run_ordinal, item_ids=entry.item_ids)
                for entry in section.entries
            ),
            omitted=0,
        )
        for section in sections
    )


def fit(sections: tuple[Section, ...], survey: Survey, room: int) -> tuple[HandoffSection, ...]:
    """Return the sections with what is worth most, in about `room` tokens: never less than what is pinned."""
    choice = Choice(sections)
    choice.fill(survey, room - LEFT_OUT, FLOORS)
    return choice.sections()
