"""An item of Codex as the draft and the status of one of ours; pure."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from midstream.protocol.records.item import ChangedFile, ItemStatus, WebResult
from midstream.protocol.records.request import ProposedChange
from midstream.server.providers.codex.protocol import (
    Change,
    Command,
    Compaction,
    Delegation,
    Item,
    Message,
    Patch,
    ProposedPlan,
    Silent,
    Status,
    ToolCall,
    UserMessage,
    WebSearch,
)
from midstream.server.providers.diffs import diff_header, relative, unified_diff
from midstream.server.providers.drafts import (
    CommandDraft,
    Draft,
    FileChangeDraft,
    MessageDraft,
    PlanDraft,
    SubagentDraft,
    ToolDraft,
    WebSearchDraft,
)

_STATUS: Final[Mapping[Status, ItemStatus]] = {
    "inProgress": "running",
    "completed": "completed",
    "failed": "failed",
    "declined": "cancelled",
    "interrupted": "interrupted",
}


def draft(item: Item, workspace: Path) -> Draft | None:
    """Return what an item says, None where it is none of ours; text that it does not have was streamed."""
    match item:
        case Message(role=role, text=text):
            return MessageDraft(type=role, text=text)
        case ProposedPlan(text=text):
            return PlanDraft(markdown=text)
        case Command():
            return CommandDraft(
                command=plain_command(item.command),
                cwd=item.cwd or str(workspace),
                output=item.output or "",
                exit_code=item.exit_code,
            )
        case Patch(changes=changes):
            return FileChangeDraft(changes=changed_files(changes, workspace))
        case ToolCall():
            return ToolDraft(name=item.name, server=item.server, input=item.input, output=item.output)
        case WebSearch(query=query, hits=hits):
            return WebSearchDraft(query=query, results=tuple(WebResult(title=t, url=u) for t, u in hits) or None)
        case Delegation():
            title = item.name or _title(item.prompt)
            return SubagentDraft(title=title, prompt=item.prompt, native_ref=next(iter(item.child_threads), None))
        case UserMessage() | Compaction() | Silent():
            return None


def status(item: Item) -> ItemStatus:
    """Return the status of an item that ended."""
    match item:
        case Command() | Patch() | ToolCall() | Delegation():
            return _STATUS[item.status]
        case _:
            return "completed"


def plain_command(command: str) -> str:
    """Return the command without the shell that Codex puts around it."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    match words:
        case [shell, "-lc" | "-c", script] if Path(shell).name in ("bash", "sh", "zsh"):
            return script
        case _:
            return command


def changed_files(changes: tuple[Change, ...], workspace: Path) -> tuple[ChangedFile, ...]:
    """Return the changes with paths from the workspace and whole unified diffs."""
    return tuple(_changed_file(change, workspace) for change in changes)


def proposed_changes(changes: tuple[Change, ...], workspace: Path) -> tuple[ProposedChange, ...]:
    """Return changes that are asked for."""
    return tuple(
        ProposedChange(path=one.path, kind=one.kind, old_path=one.old_path, diff=one.diff)
        for one in changed_files(changes, workspace)
    )


def _changed_file(change: Change, workspace: Path) -> ChangedFile:
    path = relative(change.path, workspace)
    match change.kind:
        case "add":
            return ChangedFile(path=path, kind="add", diff=unified_diff(path, "add", "", change.diff))
        case "delete":
            return ChangedFile(path=path, kind="delete", diff=unified_diff(path, "delete", change.diff, ""))
        case "update":
            return _updated_file(change, path, workspace)


def _updated_file(change: Change, path: str, workspace: Path) -> ChangedFile:
    if change.moved_to is None:
        return ChangedFile(path=path, kind="modify", diff=_with_header(path, None, change.diff))
    new_path = relative(change.moved_to, workspace)
    hunks = change.diff.removesuffix(f"\n\nMoved to: {change.moved_to}")
    return ChangedFile(path=new_path, kind="rename", old_path=path, diff=_with_header(new_path, path, hunks))


def _with_header(path: str, old_path: str | None, hunks: str) -> str:
    before, after = diff_header(path, "modify", old_path)
    return f"--- {before}\n+++ {after}\n{hunks}"


def _title(prompt: str) -> str:
    """Return what a subagent is called that has no name: the first line of what it is to do."""
    return (prompt.strip().splitlines() or ["Subagent"])[0][:80]
