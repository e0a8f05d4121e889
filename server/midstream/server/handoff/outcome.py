"""How commands and tools ended, in words, and which lines of their output tell it."""

import re
from typing import Final

from midstream.protocol.records.item import ItemStatus
from midstream.server.handoff.text import clip, tail

FAILED_LINES: Final = 8
"""How many lines of a failed command's output are told at most: what failed, then how it ended."""

LAST_LINES: Final = 2
"""How many of them are simply the last ones."""

PASSED_LINES: Final = 1
"""How many of one that passed: the summary line of a test run."""

LINE_BYTES: Final = 300

CUT_SHORT: Final = frozenset({"pending", "running", "waiting", "cancelled", "interrupted"})
_TELLS: Final = re.compile(
    r"(?i:\b(?:fail(?:ed|ure|s)?|errors?|panic(?:ked)?|exception|fatal|traceback|undefined|not\sfound|denied)\b)"
    r"|\w+(?:Error|Exception)\b|^E\s|\u2717|\u2715|\u00d7\s"
)
_NO_MATCH: Final = re.compile(r"^(?:\w+=\S*\s+)*(?:grep|egrep|fgrep|rg|ag|diff|cmp|test|\[|pgrep|which)\b")


def outcome(status: ItemStatus) -> str:
    """Return how something ended; what never did reads so, since another agent would wait for its result."""
    return "interrupted, no result" if status in CUT_SHORT else status


def commanded(status: ItemStatus, exit_code: int | None, command: str) -> str:
    """Return how a command ended."""
    if status in CUT_SHORT or exit_code is None:
        return outcome(status)
    if exit_code == 1 and _NO_MATCH.match(command):
        return "exit code 1 (no match)"
    return f"exit code {exit_code}"


def telling_lines(status: ItemStatus, exit_code: int | None, output: str) -> list[str]:
    """Return the lines of an output that say how it ended; where it failed, those that name what did."""
    if status in CUT_SHORT:
        return []
    if not exit_code and status != "failed":
        return [clip(line, LINE_BYTES) for line in tail(output, PASSED_LINES)]
    lines = tail(output, len(output))
    last = lines[-LAST_LINES:]
    named = [line for line in dict.fromkeys(lines[:-LAST_LINES]) if _TELLS.search(line)]
    before = named[-(FAILED_LINES - len(last)) :] or lines[-FAILED_LINES:-LAST_LINES]
    return [clip(line, LINE_BYTES) for line in (*before, *last)]
