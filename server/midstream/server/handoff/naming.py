"""How runs are named to users and agents."""

import re
from collections.abc import Iterable
from typing import Final

_STRETCH: Final = re.compile(r"(\d{1,20})(?:-(\d{1,20}))?", re.ASCII)


def in_run(ordinal: int | None) -> str:
    """Return one run in words; None is a run that is not told of itself."""
    return "an earlier run" if ordinal is None else f"run {ordinal}"


def run_list(ordinals: tuple[int, ...]) -> str:
    """Return ascending run ordinals in words: ``run 3``, ``runs 1-5, 7``."""
    return f"{'run' if len(ordinals) == 1 else 'runs'} {ranges(ordinals)}"


def ranges(ordinals: Iterable[int], between: str = ", ") -> str:
    """Return ascending run ordinals in short: ``3``, ``1-5, 7``."""
    stretches: list[tuple[int, int]] = []
    for ordinal in ordinals:
        if stretches and stretches[-1][1] == ordinal - 1:
            stretches[-1] = (stretches[-1][0], ordinal)
        else:
            stretches.append((ordinal, ordinal))
    return between.join(str(first) if first == last else f"{first}-{last}" for first, last in stretches)


def parse_ranges(text: str, last: int) -> tuple[int, ...]:
    """Return the run ordinals that `ranges` put in short, up to `last`. Raises ValueError."""
    found: set[int] = set()
    for stretch in text.split(","):
        ends = _STRETCH.fullmatch(stretch.strip())
        if ends is None:
            raise ValueError(f"{stretch!r} does not name runs")
        found.update(range(int(ends[1]), min(int(ends[2] or ends[1]), last) + 1))
    return tuple(sorted(found))


def cite(ordinals: Iterable[int | None]) -> str:
    """Return runs as an entry cites them: ``r3``, ``r2,4``, the first and last of more; nothing where none is known."""
    known = [str(ordinal) for ordinal in dict.fromkeys(ordinals) if ordinal is not None]
    if not known:
        return ""
    return f"r{','.join(known)}" if len(known) < 3 else f"r{known[0]}\u2013{known[-1]}"
