"""Paths and unified diffs as items show them; pure."""

import difflib
from pathlib import Path, PurePath
from typing import Final, Literal, TypeAlias

ChangeKind: TypeAlias = Literal["add", "modify", "delete"]

MAX_LINES: Final = 20_000
"""A longer pair of texts is told without its diff: comparing it would hold up the whole daemon."""


def relative(path: str, workspace: Path) -> str:
    """Return the path from the workspace where it lies in it, as it is otherwise."""
    pure = PurePath(path)
    return pure.relative_to(workspace).as_posix() if pure.is_relative_to(workspace) else path


def diff_header(path: str, kind: ChangeKind, old_path: str | None = None) -> tuple[str, str]:
    """Return the names of a diff's two sides."""
    before = "/dev/null" if kind == "add" else f"a/{old_path or path}"
    after = "/dev/null" if kind == "delete" else f"b/{path}"
    return before, after


def unified_diff(path: str, kind: ChangeKind, old_text: str, new_text: str) -> str | None:
    """Return the unified diff, or None where the texts are too long to compare."""
    old, new = _lines(old_text), _lines(new_text)
    if len(old) + len(new) > MAX_LINES:
        return None
    return "".join(difflib.unified_diff(old, new, *diff_header(path, kind)))


def _lines(text: str) -> list[str]:
    *whole, last = text.split("\n")
    lines = [f"{line}\n" for line in whole]
    return [*lines, f"{last}\n\\ No newline at end of file\n"] if last else lines
