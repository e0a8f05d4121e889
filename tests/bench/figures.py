"""How a bench prints what it measured."""

import json
import statistics
from collections.abc import Callable


def show(figure: str, value: float, unit: str, limit: float, bar: float, *, higher_is_better: bool = False) -> None:
    """Print one figure: its value, its limit or peer measured in the same run, their ratio, and the bar."""
    ratio = value / limit
    line = {"figure": figure, "value": value, "unit": unit, "limit": limit, "ratio": round(ratio, 3), "bar": bar}
    line["holds"] = ratio >= bar if higher_is_better else ratio <= bar
    print(json.dumps(line), flush=True)


def medians(rounds: int, *measure: Callable[[], float]) -> list[float]:
    """Measure each in turn, round after round, and return the median of each."""
    values = [[one() for one in measure] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*values, strict=True)]
