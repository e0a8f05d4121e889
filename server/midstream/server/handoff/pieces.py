"""Cutting what was said into pieces that can be told without their neighbours: sentences, rows, parts of long rows."""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from midstream.server.handoff.names import names, pasted
from midstream.server.handoff.tokens import count


class Piece(NamedTuple):
    """A stretch of text, its tokens, the names in it with a space between, and whether it looks like a pasted log.

    Pieces in a row make the text again; one that ends a row ends in a line feed.
    """

    text: str
    tokens: int
    about: str
    pasted: bool


LONGEST: Final = 320
"""Code points of a piece: a single row of a log may be a million."""

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])[ \t]+(?=[A-Z0-9`*\[(\u201c\"'])")


def cut(text: str) -> tuple[Piece, ...]:
    """Return the pieces of a text."""
    return tuple(Piece(piece, count(piece), " ".join(sorted(names(piece))), pasted(piece)) for piece in _cut(text))


def _cut(text: str) -> Iterator[str]:
    for row in text.splitlines(keepends=True):
        start = 0
        for end in (*(match.end() for match in _SENTENCE_END.finditer(row)), len(row)):
            while end - start > LONGEST:
                # Between words, so that no secret whose value becomes known later is in two halves.
                space = row.rfind(" ", start, start + LONGEST) + 1
                place = space if space > start else start + LONGEST
                yield row[start:place]
                start = place
            if end > start:
                yield row[start:end]
            start = end


def tokens_of(pieces: Iterable[Piece]) -> int:
    """Return the tokens of pieces."""
    return sum(piece.tokens for piece in pieces)
