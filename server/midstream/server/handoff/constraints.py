"""Standing constraints: the sentences of the user that say how the work has to be done, in their own words.

The rules are for English. A sentence is one where it forbids, limits or demands; questions, quoted lines and code
are none.
"""

import re
from collections.abc import Iterator
from typing import Final

from midstream.server.handoff.names import pasted
from midstream.server.handoff.text import clean

_CODE: Final = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_BULLET: Final = re.compile(r"^(?:[-*+•]|\d+[.)])\s+")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?;])\s+(?=\S)")
_DEMANDS: Final = re.compile(
    r"""
    \b(?:never|always|only|must|mustn['\u2019]t|without|avoid|forbidden|ensure|instead\sof|rather\sthan|no\slonger)\b
    | \b(?:do|should|may|shall|need)(?:\snot|n['\u2019]t)\b
    | \bdont\b | \bcannot\sbe\b | \bcan(?:no|['\u2019])t\s(?:use|change|add|touch|break|have|rely)\b
    | \b(?:not\sallowed|make\ssure|be\ssure|has\sto|have\sto|at\s(?:most|least)|no\s(?:more|fewer|less)\sthan)\b
    | \bleave\b.*\b(?:alone|untouched|unchanged|as\s(?:it\sis|they\sare|is))\b
    | ^(?:please\s)?(?:no|not|nothing|keep|stick\sto|prefer|use)\s
    | [,;:]\s(?:but\s)?not\s
    """,
    re.IGNORECASE | re.VERBOSE,
)


def constraints(text: str) -> tuple[str, ...]:
    """Return the sentences of a user's message that constrain the work, as the user wrote them."""
    return tuple(sentence for sentence in _sentences(text) if _constrains(sentence))


def _sentences(text: str) -> Iterator[str]:
    for line in _CODE.sub("", clean(text)).split("\n"):
        words = _BULLET.sub("", line.strip())
        if not words.startswith(">"):
            yield from filter(None, _SENTENCE_END.split(words))


def _constrains(sentence: str) -> bool:
    return not sentence.endswith("?") and not pasted(sentence) and _DEMANDS.search(sentence) is not None
