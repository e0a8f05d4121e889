"""Giving out the room of a handoff, so that what matters most stays and the newest words stay longest."""

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from attrs import define

from midstream.protocol.records.handoff import HandoffEntry, HandoffSection, SectionKind
from midstream.server.handoff.entries import TITLES, Entry, Section
from midstream.server.handoff.render import entry, heading, left_out
from midstream.server.handoff.text import clip
from midstream.server.handoff.tokens import estimate_tokens

PINNED_BYTES: Final = 1_200
"""A pinned request is never shortened below this."""

ENTRY_BYTES: Final = 600
"""Where room is scarce, every other entry is shortened to this."""

SHARES: Final[dict[SectionKind, float]] = {
    "goals": 0.20,
    "constraints": 0.0,
    "decisions": 0.15,
    "files": 0.10,
    "commands": 0.10,
    "plan": 0.10,
    "open": 0.05,
    "failures": 0.05,
    "subagents": 0.05,
    "checkpoint": 0.05,
    "conversation": 0.15,
}
"""Each section's part of the room that pinned entries leave; what one does not need goes to the conversation first."""


def effective_budget(configured: int, context_window: int | None, used: int | None) -> int:
    """Return the tokens a handoff may take: a quarter of the target's window stays in reserve. Never below 0."""
    if context_window is None:
        return configured
    return max(0, min(configured, context_window - (used or 0) - context_window // 4))


def smallest(sections: tuple[Section, ...]) -> int:
    """Return the fewest tokens that `fit` can do with: pinned entries shortened as far as they may be."""
    return min(_Allocation(sections).used + _reserve(sections), _in_full(sections).used)


def fit(sections: tuple[Section, ...], room: int) -> tuple[HandoffSection, ...]:
    """Return the sections with what fits `room` tokens, which is at least `smallest` of them.

    Everything is told in full where it fits. Otherwise entries are shortened, every section gets its share, newest
    first, the conversation what the others leave, and what then still is free makes the newest words whole again.
    """
    full = _in_full(sections)
    if full.used <= room:
        return full.result()
    allocation = _Allocation(sections)
    room -= _reserve(sections)
    free = room - allocation.used
    for section in sections:
        allocation.fill(section.kind, allocation.used + int(free * SHARES[section.kind]))
    for section in reversed(sections):
        allocation.fill(section.kind, room)
    for section in reversed(sections):
        allocation.make_whole(section.kind, room)
    return allocation.result()


def _in_full(sections: tuple[Section, ...]) -> "_Allocation":
    allocation = _Allocation(sections)
    for slot in allocation.slots:
        allocation.place(slot, slot.entry.text)
    return allocation


def _reserve(sections: tuple[Section, ...]) -> int:
    """Return the tokens of the line that names what is left out, at its longest."""
    most = (
        HandoffSection(kind=s.kind, title="", entries=(), omitted=sum(not entry.pinned for entry in s.entries))
        for s in sections
    )
    line = left_out(tuple(most))
    return _cost(heading(line)) if line else 0


def _cost(lines: str) -> int:
    return estimate_tokens(lines + "\n")


def _shortened(told: Entry) -> str:
    return told.text if told.whole else clip(told.text, PINNED_BYTES if told.pinned else ENTRY_BYTES)


@define
class _Slot:
    """An entry, and what is told of it: nothing, its text shortened, or its text."""

    kind: SectionKind
    entry: Entry
    text: str | None = None


class _Allocation:
    """What is told of each entry, and the tokens that it takes; pinned entries are told from the beginning."""

    def __init__(self, sections: tuple[Section, ...]) -> None:
        self.slots = [_Slot(section.kind, told) for section in sections for told in section.entries]
        self.used = 0
        self._begun: set[SectionKind] = set()
        for slot in self.slots:
            if slot.entry.pinned:
                self.place(slot, _shortened(slot.entry))

    def place(self, slot: _Slot, text: str) -> None:
        """Tell an entry by this text, whatever it takes."""
        self.used += self._growth(slot, text)
        self._begun.add(slot.kind)
        slot.text = text

    def fill(self, kind: SectionKind, limit: int) -> None:
        """Tell what is not told yet of a section, newest first, until something no longer fits."""
        for slot in self._newest_first(kind):
            text = _shortened(slot.entry)
            if slot.text is None:
                if self.used + self._growth(slot, text) > limit:
                    return
                self.place(slot, text)

    def make_whole(self, kind: SectionKind, limit: int) -> None:
        """Tell in full what is told shortened of a section, newest first, where it fits."""
        for slot in self._newest_first(kind):
            text = slot.entry.text
            if slot.text not in (None, text) and self.used + self._growth(slot, text) <= limit:
                self.place(slot, text)

    def result(self) -> tuple[HandoffSection, ...]:
        """Return the sections as allotted."""
        return tuple(
            HandoffSection(
                kind=kind,
                title=TITLES[kind],
                entries=tuple(
                    HandoffEntry(text=slot.text, run_ordinal=slot.entry.run_ordinal, item_ids=slot.entry.item_ids)
                    for slot in slots
                    if slot.text is not None
                ),
                omitted=sum(slot.text is None for slot in slots),
            )
            for kind, slots in self._by_kind()
        )

    def _by_kind(self) -> Iterator[tuple[SectionKind, list[_Slot]]]:
        for kind, slots in groupby(self.slots, key=lambda slot: slot.kind):
            yield kind, list(slots)

    def _newest_first(self, kind: SectionKind) -> list[_Slot]:
        return [slot for slot in reversed(self.slots) if slot.kind == kind]

    def _growth(self, slot: _Slot, text: str) -> int:
        title = 0 if slot.kind in self._begun else _cost(heading(TITLES[slot.kind]))
        before = 0 if slot.text is None else _cost(entry(slot.text))
        return title + _cost(entry(text)) - before
