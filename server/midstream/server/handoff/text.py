"""Foreign text made harmless: every line break is a line feed, and no character steers a terminal or a reader."""

import re
from typing import Final

_BREAKS: Final = re.compile("\r\n|[\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
"""What some splitter takes for a line's end; `str.splitlines` knows them all."""

_ANSI: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
"""Colours and cursor movements, and the titles and links that terminals take."""

_INVISIBLE: Final = re.compile(
    "[\u00ad\u200b\u200e\u200f\u2060-\u2064\ufeff\U000e0000-\U000e007f]|(?<=[!-~])[\u200c\u200d]+(?=[!-~])"
)
"""Characters that nobody sees: they hide words, and break up what a rule would find. Joiners stay in scripts."""

_HARMFUL: Final = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Controls, marks that turn the direction of reading, and surrogates, which UTF-8 cannot hold."""


def clean(text: str) -> str:
    """Return a text whose only control characters are tabs and line feeds, all of it seen, and which UTF-8 can hold."""
    return _HARMFUL.sub("\ufffd", _BREAKS.sub("\n", _INVISIBLE.sub("", _ANSI.sub("", text))))


def one_line(text: str) -> str:
    """Return a text on one line, its white space folded."""
    return " ".join(clean(text).split())


def tail(text: str, lines: int) -> list[str]:
    """Return the last lines of a text that hold something."""
    return [line.rstrip() for line in clean(text).split("\n") if line.strip()][-lines:]


def clip(text: str, limit: int) -> str:
    """Return a text shortened to about `limit` bytes of UTF-8: its head, how much is left out, and its tail.

    It is cut between words where there are any, so that half a word poses as none.
    """
    encoded = text.encode()
    if len(encoded) <= limit:
        return text
    head = encoded[: limit * 2 // 3].decode(errors="ignore")
    end = encoded[len(encoded) - limit // 3 :].decode(errors="ignore")
    head, end = head[: head.rfind(" ") + 1 or None], end[end.find(" ") + 1 :]
    left_out = len(encoded) - len(head.encode()) - len(end.encode())
    return f"{head.rstrip()} [\u2026 {left_out} bytes left out \u2026] {end.lstrip()}"
