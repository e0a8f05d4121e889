"""Choosing what is told where not all of it can be: piece by piece, the most new names for a token first.

A piece is worth the names in it that nothing told yet has, more where many statements mention them, by the weight of
its statement and how new that is. So a thing is told once, where it costs least.
"""

import heapq
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import groupby
from typing import Final, TypeAlias

from attrs import frozen

from midstream.protocol.records.handoff import HandoffEntry, HandoffSection, SectionKind
from midstream.server.handoff.entries import GAP, TITLES, Entry, Section
from midstream.server.handoff.names import names, weight
from midstream.server.handoff.pieces import Piece, tokens_of
from midstream.server.handoff.render import heading
from midstream.server.handoff.tokens import count

WITHOUT_NAMES: Final = 0.6
"""What a piece is worth that has no new name."""

MENTIONED: Final = 0.5
"""How much a name gains each time that twice as many statements mention it."""

PASTED: Final = 0.05
"""What a row of a log is worth beside what somebody wrote."""

EVERYWHERE: Final = 25
"""A name that so many statements mention tells nothing any more."""

OLDEST: Final = 0.6
"""What the first run's statements are worth beside the last's."""

INNER: Final = 0.85
"""What a piece within a statement is worth beside its first and last."""

OVERHEAD: Final = 9
"""Tokens by which each piece counts as longer than it is, so that crumbs do not come first."""

SEPARATORS: Final = 2
"""Tokens of a gap and a mark around a piece."""

EQUAL: Final = 1e-9

SMALLEST: Final = 5
"""Tokens of the smallest piece that is worth looking for."""

_NOTHING: Final = (Piece("", 0, "", False),)

CONSIDERED: Final = 40_000
"""Tokens of each section that are looked at, newest first: what is older would hardly be chosen, and takes its time."""


@frozen
class _Candidate:
    """A piece that could be told: the names in it, and what one of them counts here."""

    about: frozenset[str]
    factor: float


Place: TypeAlias = tuple[int, int]
"""The numbers of a statement and of a piece in it."""


class Survey:
    """The pieces that may be told, and what the names in them are worth."""

    def __init__(self, sections: tuple[Section, ...]) -> None:
        self.candidates: dict[Place, _Candidate] = {}
        entries = [(section.kind, entry) for section in sections for entry in section.entries]
        newest = max((entry.run_ordinal or 0 for _, entry in entries), default=0) or 1
        left: Counter[SectionKind] = Counter()
        mentions: Counter[str] = Counter()
        for number, (kind, entry) in reversed(tuple(enumerate(entries))):
            if left[kind] > CONSIDERED:
                continue
            left[kind] += tokens_of(entry.pieces) + 1
            recency = OLDEST + (1 - OLDEST) * (entry.run_ordinal or newest) / newest
            found = tuple(_candidates(entry, entry.weight * recency))
            mentions.update(frozenset().union(*(each.about for each in found)))
            self.candidates.update(((number, place), each) for place, each in enumerate(found) if each.about)
        self.worth = {name: _worth(name, times) for name, times in mentions.items()}


def _candidates(entry: Entry, factor: float) -> Iterator[_Candidate]:
    pieces = entry.pieces or _NOTHING
    for place, piece in enumerate(pieces):
        about = frozenset(piece.about.split())
        ends = place in (0, len(pieces) - 1)
        worth = factor * (1.0 if ends else INNER) * (PASTED if piece.pasted else 1.0)
        yield _Candidate(about if place else about | names(entry.head), worth)


def _worth(name: str, mentions: int) -> float:
    gain = 1 + MENTIONED * math.log2(mentions) if mentions < EVERYWHERE else 1 - MENTIONED
    return weight(name) * gain


class Choice:
    """What is told of each statement, and about how many tokens it takes; what is pinned is told from the beginning."""

    def __init__(self, sections: tuple[Section, ...]) -> None:
        self.used = 0
        self._begun: set[SectionKind] = set()
        self._chosen: dict[int, set[int]] = {}
        self._entries = [(section.kind, entry) for section in sections for entry in section.entries]
        for number, (_, entry) in enumerate(self._entries):
            for place in sorted(entry.pinned):
                self._tell(number, place)

    def fill(self, survey: Survey, room: int, floors: Mapping[SectionKind, float]) -> None:
        """Tell what is worth most: of each section up to its floor, a part of what is free; then of all."""
        told: set[str] = set()
        by_kind: dict[SectionKind, list[Place]] = {}
        for (number, place), candidate in survey.candidates.items():
            if place in self._chosen.get(number, ()):
                told |= candidate.about
            by_kind.setdefault(self._entries[number][0], []).append((number, place))
        free = room - self.used
        for kind, floor in floors.items():
            self._take(survey, told, by_kind.get(kind, []), min(room, self.used + int(free * floor)))
        self._take(survey, told, list(survey.candidates), room)

    def sections(self) -> tuple[HandoffSection, ...]:
        """Return what is told."""
        numbered = groupby(enumerate(self._entries), key=lambda each: each[1][0])
        return tuple(
            self._section(kind, [(number, entry) for number, (_, entry) in entries]) for kind, entries in numbered
        )

    def _section(self, kind: SectionKind, entries: list[tuple[int, Entry]]) -> HandoffSection:
        told = [
            HandoffEntry(
                text=_text(entry, self._chosen[number]), run_ordinal=entry.run_ordinal, item_ids=entry.item_ids
            )
            for number, entry in entries
            if number in self._chosen
        ]
        shortened = sum(len(self._chosen.get(number, ())) in range(1, len(entry.pieces)) for number, entry in entries)
        return HandoffSection(
            kind=kind,
            title=TITLES[kind],
            entries=tuple(told),
            omitted=len(entries) - len(told),
            shortened=shortened or None,
        )

    def _take(self, survey: Survey, told: set[str], places: list[Place], limit: int) -> None:
        def rank(number: int, place: int) -> float:
            candidate = survey.candidates[number, place]
            new = sum(map(survey.worth.__getitem__, candidate.about - told))
            return -candidate.factor * (new + WITHOUT_NAMES) / (self._cost(number, place) + OVERHEAD)

        # Of equals the newer statement, and of its pieces the earlier.
        offers = [(rank(n, place), -n, place) for n, place in places if place not in self._chosen.get(n, ())]
        heapq.heapify(offers)
        while offers and self.used + SMALLEST <= limit:
            _, newness, place = heapq.heappop(offers)
            number = -newness
            if self.used + self._cost(number, place) > limit:
                continue
            # What was told since made it worth less, so it may no longer be the best.
            now = rank(number, place)
            if offers and now > offers[0][0] + EQUAL:
                heapq.heappush(offers, (now, newness, place))
            else:
                self._tell(number, place)
                told |= survey.candidates[number, place].about

    def _cost(self, number: int, place: int) -> int:
        kind, entry = self._entries[number]
        tokens = (entry.pieces or _NOTHING)[place].tokens + SEPARATORS
        if number not in self._chosen:
            tokens += _count_head(entry.head)
        if kind not in self._begun:
            tokens += _count_head(heading(TITLES[kind]))
        return tokens

    def _tell(self, number: int, place: int) -> None:
        self.used += self._cost(number, place)
        self._begun.add(self._entries[number][0])
        self._chosen.setdefault(number, set()).add(place)


def _text(entry: Entry, chosen: set[int]) -> str:
    """Return what is told of a statement, with a gap where pieces were left out."""
    pieces = entry.pieces or _NOTHING
    words, before = entry.head, -1
    for place in sorted(chosen):
        left_out = any(piece.text.strip() for piece in pieces[before + 1 : place])
        words = f"{words.rstrip()} {GAP} " if left_out else words if before >= 0 else f"{words} "
        words += pieces[place].text
        before = place
    return words.rstrip() + (f" {GAP}" if any(piece.text.strip() for piece in pieces[before + 1 :]) else "")


@lru_cache(maxsize=8_192)
def _count_head(head: str) -> int:
    return count(head) + 1
