"""What a piece of text is about: the names in it (paths, symbols, hashes, flags, numbers) and its words.

A handoff is worth what the next agent can look up with it, so names weigh most. The rules know no language and no
tool: a name is what does not look like prose.
"""

import re
from typing import Final

NAME_WEIGHT: Final = 1.0
WORD_WEIGHT: Final = 0.2

_NAME: Final = re.compile(
    r"`[^`\n]{2,100}`"  # what the writer set as code
    r"|(?<![\w-])--?[A-Za-z][\w-]*"  # flags
    r"|#\d+"  # issues
    r"|\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b"  # hashes
    r"|[\w.@~-]*/[\w./@-]+\w"  # paths
    r"|\b\w+(?:[._-]\w+)+"  # files, modules, snake_case, kebab-case
    r"|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z0-9]+[A-Z]\w*|\b[A-Z]{2,}\w*"  # camelCase, CapWords, ACRONYMS
    r"|\b\d[\d.,]*\d\b"  # numbers that can be told apart
)
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_STAMPED: Final = re.compile(r"\W*(?:\w{3} +)?\d+[-/:. ]\d+[:/. -]\d+|\W*\{\"|\s*(?:at |File \"|[+-]{3} |@@ )")
"""How rows of logs, JSON, traces and diffs begin."""

PROSE: Final = 0.86
"""The least part of a person's row that is letters, spaces and the signs of sentences."""

_NO_PROSE: Final = re.compile("[^\\s,.;:!?'\"()`\u2019\u201c\u201d\\w-]|[\\d_]")

_BREAK: Final = re.compile(r"[\s`,()\[\]{}:;\"']+")
_STEM: Final = 6
"""So many letters of a word tell it from others, whatever its ending."""

_COMMON_WORDS: Final = (
    "the and for with are was were you they have has had not but then than there here now can could would should will "
    "just also does did into out all any some more most other its their our your them this that what which who when "
    "where why how one two only very over under again about after before because while from these those been being "
    "each both such let use used using like still get got make made want need please okay"
)
_COMMON: Final = frozenset(_COMMON_WORDS.split())
"""Words that any text has."""


def names(text: str) -> frozenset[str]:
    """Return the names that a text mentions, in lower case; words stand as ``~`` and their first letters."""
    found = {
        part.strip(".").lower()
        for name in _NAME.findall(text)
        for part in _BREAK.split(name)
        if len(part.strip(".")) > 1
    }
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(found).union(f"~{word[:_STEM]}" for word in words if word not in _COMMON)


def pasted(text: str) -> bool:
    """Return whether a row looks like a log, data or code, and not like something that a person wrote."""
    return _STAMPED.match(text) is not None or len(_NO_PROSE.findall(text)) > (1 - PROSE) * len(text)


def weight(name: str) -> float:
    """Return what a name is worth where it is told for the first time."""
    return WORD_WEIGHT if name.startswith("~") else NAME_WEIGHT
