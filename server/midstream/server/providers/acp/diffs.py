"""File diffs of tool calls as changed files; pure."""

from collections.abc import Iterable
from pathlib import Path

import attrs

from midstream.protocol.records.item import ChangedFile
from midstream.server.providers.acp.messages import FileDiff
from midstream.server.providers.diffs import ChangeKind, relative, unified_diff


def changed_files(diffs: Iterable[FileDiff], workspace: Path) -> tuple[ChangedFile, ...]:
    """Return one change a path: some agents send every hunk of a file as a diff of its own."""
    changes: dict[str, ChangedFile] = {}
    for diff in diffs:
        path = relative(diff.path, workspace)
        kind = change_kind(diff)
        unified = unified_diff(path, kind, diff.old or "", diff.new)
        before = changes.get(path)
        if before is None:
            changes[path] = ChangedFile(path=path, kind=kind, diff=unified)
        elif before.diff is not None and unified is not None:
            changes[path] = attrs.evolve(before, diff=before.diff + unified)
    return tuple(changes.values())


def change_kind(diff: FileDiff) -> ChangeKind:
    """Return what became of the file: ACP has no word for a deletion, agents send an empty new text."""
    if diff.old is None:
        return "add"
    return "delete" if diff.old and not diff.new else "modify"
