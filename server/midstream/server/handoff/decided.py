"""Decisions: the sentences in which somebody says what was decided, and why. Precision before recall.

A line marked as a decision is one, and so is a sentence with a verb of deciding, or of rejecting, and a reason after
it. The rules are
for English.
"""

import re
from collections.abc import Iterator
from typing import Final

_MARKED: Final = re.compile(r"^\W*(?:decision|decided)\b\W*[:\u2014-]\s*(?P<what>\S.*)$", re.IGNORECASE)
_BECAUSE: Final = re.compile(
    r"\b(?:(?:decided|chose|opted|settled|went|going)\s(?:to|for|on|with|against)?"
    r"|rejected|ruled\sout|abandoned|discarded)\b.*\b(?:because|since|so\sthat|as)\b",
    re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+")


def decisions(text: str) -> Iterator[str]:
    """Return the decisions that a text tells, in its words."""
    for line in text.split("\n"):
        marked = _MARKED.match(line)
        if marked:
            yield marked["what"].strip()
            continue
        for sentence in _SENTENCE_END.split(line.strip()):
            if _BECAUSE.search(sentence):
                yield sentence
