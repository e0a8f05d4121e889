"""File diffs of tool calls as changed files, with unified diffs; pure."""

import difflib
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import Literal, TypeAlias

import attrs

from midstream.protocol.records.item import ChangedFile
from midstream.server.providers.acp.messages import FileDiff

ChangeKind: TypeAlias = Literal["add", "modify", "delete"]

MAX_LINES = 20_000
"""A longer pair of texts is told without its diff: comparing it would hold up the whole daemon."""


def changed_files(diffs: Iterable[FileDiff], workspace: Path) -> tuple[ChangedFile, ...]:
    """Return one change a path: some agents send every hunk of a file as a diff of its own."""
    changes: dict[str, ChangedFile] = {}
    for diff in diffs:
        path = relative(diff.path, workspace)
        kind = change_kind(diff)
        unified = unified_diff(diff, path, kind)
        before = changes.get(path)
        if before is None:
            changes[path] = ChangedFile(path=path, kind=kind, diff=unified)
        elif before.diff is not None and unified is not None:
            changes[path] = attrs.evolve(before, diff=before.diff + unified)
    return tuple(changes.values())


def relative(path: str, workspace: Path) -> str:
    """Return the path from the workspace where it lies in it, as it is otherwise."""
    pure = PurePath(path)
    return pure.relative_to(workspace).as_posix() if pure.is_relative_to(workspace) else path


def change_kind(diff: FileDiff) -> ChangeKind:
    """Return what became of the file: ACP has no word for a deletion, agents send an empty new text."""
    if diff.old is None:
        return "add"
    return "delete" if diff.old and not diff.new else "modify"


def unified_diff(diff: FileDiff, path: str, kind: ChangeKind) -> str | None:
    """Return the unified diff, or None where the texts are too long to compare."""
    old, new = _lines(diff.old or ""), _lines(diff.new)
    if len(old) + len(new) > MAX_LINES:
        return None
    before = "/dev/null" if kind == "add" else f"a/{path}"
    after = "/dev/null" if kind == "delete" else f"b/{path}"
    return "".join(difflib.unified_diff(old, new, before, after))


def _lines(text: str) -> list[str]:
    *whole, last = text.split("\n")
    lines = [f"{line}\n" for line in whole]
    return [*lines, f"{last}\n\\ No newline at end of file\n"] if last else lines
