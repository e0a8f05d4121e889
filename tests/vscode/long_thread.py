"""Store a thread of 5,000 items, each with its number and of its own length, before an editor's daemon starts.

python long_thread.py DATA_FOLDER WORKSPACE
"""

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.load import fill

ITEMS = 5_000


def text(ordinal: int) -> str:
    """Return what an item says: one to seven sentences, and a code block now and then."""
    sentences = " ".join(f"Sentence {number} of **item {ordinal}**." for number in range(1, ordinal % 7 + 2))
    return f"{sentences}\n\n```\nline\nline\n```" if ordinal % 50 == 0 else sentences


if __name__ == "__main__":
    data, workspace = map(Path, sys.argv[1:])
    data.mkdir(parents=True, mode=0o700, exist_ok=True)
    asyncio.run(fill(data, ITEMS, workspace, text, "rehearsal"))
