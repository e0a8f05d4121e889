"""Undoing single hunks of a file. Pure: the lines that a hunk counts are all that is needed."""

import re
from collections.abc import Iterable
from io import BytesIO

from midstream.server.checkpoints.model import Hunk

_HEADER = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


def parse_hunks(patch: bytes) -> set[Hunk]:
    """Return the hunks of a file's patch without context."""
    return {
        Hunk(int(old), int(old_lines or 1), int(new), int(new_lines or 1))
        for old, old_lines, new, new_lines in _HEADER.findall(patch)
    }


def undo(old: bytes, new: bytes, hunks: Iterable[Hunk]) -> bytes:
    """Return `new` with the lines of each hunk as they are in `old`; the hunks are of the diff between the two."""
    # Not splitlines(), to which a lone carriage return ends a line too.
    before, after = BytesIO(old).readlines(), BytesIO(new).readlines()
    for hunk in sorted(hunks, key=lambda hunk: hunk.new_start, reverse=True):
        at, source = _first(hunk.new_start, hunk.new_lines), _first(hunk.old_start, hunk.old_lines)
        after[at : at + hunk.new_lines] = before[source : source + hunk.old_lines]
    return b"".join(after)


def _first(start: int, lines: int) -> int:
    """Return the index of a hunk's first line: one without lines names the line before it."""
    return start - 1 if lines else start
