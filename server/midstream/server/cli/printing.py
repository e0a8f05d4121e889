"""Printing for a person at a terminal: aligned columns, sizes, and nothing that could steer the terminal."""

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Final

UNITS: Final = ("B", "KB", "MB", "GB", "TB")


def write(lines: Iterable[str]) -> None:
    """Print lines; a reader that has seen enough, such as `head`, is no error."""
    text = "".join(f"{line}\n" for line in lines)
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.buffer.write(text.encode(encoding, errors="backslashreplace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at the interpreter's end


def plain(text: str) -> str:
    """Return a text on one line, without what a terminal would obey: titles and agents' words are not ours."""
    return "".join(character if character.isprintable() else " " for character in text).strip()


def shortened(text: str, characters: int) -> str:
    """Return a text of at most so many characters, its end cut off."""
    return text if len(text) <= characters else f"{text[: characters - 1]}…"


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines, each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def human(size: int) -> str:
    """Return bytes as a person reads them, in powers of 1000."""
    amount = float(size)
    for unit in UNITS[:-1]:
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} {UNITS[-1]}"
