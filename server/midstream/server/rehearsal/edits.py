"""File edits: ``write``, ``append`` and ``delete`` in the workspace, told as diffs."""

from pathlib import Path

from attrs import frozen

from midstream.server.rehearsal import messages
from midstream.server.rehearsal.directives import Append, Delete, Write
from midstream.server.rehearsal.permissions import Permissions
from midstream.server.rehearsal.updates import Updates


@frozen
class Edit:
    """One change of one file; a null text means that the file is not there."""

    operation: str
    path: Path
    old_text: str | None
    new_text: str | None


def plan_edit(directive: Write | Append | Delete, cwd: Path) -> Edit:
    """The change that a directive asks for, given what the file holds now."""
    path = cwd / directive.path
    old_text = _read(path)
    match directive:
        case Write(_, text):
            return Edit("write", path, old_text, f"{text}\n")
        case Append(_, text):
            return Edit("append", path, old_text, f"{old_text or ''}{text}\n")
        case Delete():
            return Edit("delete", path, old_text, None)


async def edit(directive: Write | Append | Delete, cwd: Path, updates: Updates, permissions: Permissions) -> None:
    """Change the file, once the session's mode or the user allows it."""
    change = plan_edit(directive, cwd)
    async with updates.tool_call(
        f"{change.operation.capitalize()} {directive.path}",
        "edit",
        {"operation": change.operation, "path": str(change.path)},
        [messages.diff_content(change.path, change.old_text, change.new_text or "")],
        change.path,
    ) as call:
        await permissions.require("edit", call)
        _apply(change)
        await call.finish("completed")


def _apply(change: Edit) -> None:
    if change.new_text is None:
        change.path.unlink()
    else:
        change.path.parent.mkdir(parents=True, exist_ok=True)
        change.path.write_bytes(change.new_text.encode())


def _read(path: Path) -> str | None:
    return path.read_bytes().decode(errors="replace") if path.is_file() else None
