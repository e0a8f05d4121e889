"""What can be told of an item, made once when the item is committed: clean, redacted, cut and counted.

A handoff is put together from facts alone. They are kept with the version of the rules that made them, and made
anew from the item where that is another than `RULES`.
"""

from typing import Any, Final, TypeAlias

import attrs
import orjson
from attrs import frozen

from midstream.protocol.records.handoff import SectionKind
from midstream.server.handoff.pieces import Piece
from midstream.server.handoff.tokens import VOCABULARY

RULES: Final = f"2/{VOCABULARY}"
"""The version of all rules that make facts: cleaning, redaction, cutting, what is told of which item, counting."""


_TOLD: Final = b'["told",'
_BULK: Final[tuple[SectionKind, ...]] = ("conversation", "commands")


@frozen
class Telling:
    """Something said or done. Of the facts of a section with one key the last holds; without a key each does.

    `head` is a word or a line of ours, depending on the section; `pieces` are foreign.
    """

    section: SectionKind
    key: str
    head: str
    pieces: tuple[Piece, ...] = ()


@frozen
class Change:
    """A file that changed; `captured` where a checkpoint says so, which knows better than the agent's tools."""

    path: str
    status: str
    old_path: str | None
    additions: int
    deletions: int
    captured: bool


Fact: TypeAlias = Telling | Change


def dump(facts: tuple[Fact, ...]) -> bytes:
    """Return facts as they are stored: rows, since thousands are read for one handoff."""
    return orjson.dumps([_row(fact) for fact in facts])


def load(body: bytes) -> tuple[Fact, ...]:
    """Return the facts that `dump` stored."""
    return tuple(_fact(row) for row in orjson.loads(body))


def bulk(body: bytes) -> SectionKind | None:
    """Return the section of stored facts that tell nothing but one message or one command, None of others.

    Of those there are thousands, and the oldest of thousands need not be read.
    """
    if body.count(_TOLD) != 1:
        return None
    return next((section for section in _BULK if body.startswith(b'[["told","%b"' % section.encode())), None)


def _row(fact: Fact) -> list[object]:
    match fact:
        case Telling():
            return ["told", fact.section, fact.key, fact.head, *map(tuple, fact.pieces)]
        case Change():
            return ["changed", *attrs.astuple(fact)]


def _fact(row: list[Any]) -> Fact:
    match row:
        case ["told", section, key, head, *pieces]:
            return Telling(section, key, head, tuple(map(Piece._make, pieces)))
        case [_, *columns]:
            return Change(*columns)
        case _:
            raise ValueError("no fact is stored in this row")
