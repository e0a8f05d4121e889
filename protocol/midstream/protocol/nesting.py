"""How deep JSON may be nested: what others wrote can go deeper than anybody can write or walk again."""

from typing import Final

DEEPEST: Final = 100


def may_be_too_deep(text: bytes | bytearray) -> bool:
    """Whether a JSON text has brackets enough to be nested too deeply: far cheaper to see, and almost never so."""
    return text.count(b"{") + text.count(b"[") > DEEPEST


def is_too_deep(value: object) -> bool:
    """Whether a JSON value has arrays and objects inside each other more than `DEEPEST` deep."""
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return False
    return any(isinstance(one, dict | list) for one in level)


def _inside(value: object) -> list[object]:
    match value:
        case dict():
            return list(value.values())
        case list():
            return value
        case _:
            return []
