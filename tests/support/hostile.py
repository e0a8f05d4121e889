"""JSON that nobody well-behaved would send."""

from typing import Final

from hypothesis import strategies as st

JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=10,
)


def nested(depth: int, inside: str = "") -> str:
    """Return an array in an array, `depth` of them, as text."""
    return "[" * depth + inside + "]" * depth
