"""Calls of Claude Code's tools as drafts of our items; pure."""

import re
from pathlib import Path
from typing import Final

from attrs import evolve, frozen

from midstream.protocol.base import JsonObject
from midstream.protocol.records.item import ChangedFile, WebResult
from midstream.server.providers.diffs import ChangeKind, diff_header, relative, unified_diff
from midstream.server.providers.drafts import (
    CommandDraft,
    Draft,
    FileChangeDraft,
    PlanDraft,
    SubagentDraft,
    ToolDraft,
    WebSearchDraft,
)
from midstream.server.providers.reading import block_text, count_of, members, text_of

WRITERS: Final = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
SUBAGENTS: Final = frozenset({"Agent", "Task"})
TASKS: Final = frozenset({"TaskCreate", "TaskUpdate"})
SILENT: Final = frozenset({"AskUserQuestion", "EnterPlanMode", "TaskGet", "TaskList", "ToolSearch", *TASKS})
"""Tools whose calls are told in another way: as a request, as the todo list, or not at all."""
_EXIT_CODE: Final = re.compile(r"Exit code (\d+)\n?")
_ENDED: Final = re.compile(r"\(exit code (\d+)\)$")


@frozen(kw_only=True)
class Call:
    """A call of a tool."""

    id: str
    name: str
    input: JsonObject


@frozen(kw_only=True)
class Outcome:
    """What a call came to: the words that the model got, and what Claude Code tells its host besides."""

    text: str
    failed: bool
    detail: object


def outcome(content: str | list[JsonObject] | None, failed: bool, detail: object) -> Outcome:
    """Read a tool's result."""
    text = content if isinstance(content, str) else "\n".join(block_text(block) for block in content or ())
    return Outcome(text=text, failed=failed, detail=detail)


def draft(call: Call, workspace: Path, done: Outcome | None = None) -> Draft | None:
    """Return what a call shows, None where it shows nothing; `done` once it has ended."""
    match call.name:
        case name if name in SILENT:
            return None
        case "Bash":
            return _command(call, workspace, done)
        case name if name in WRITERS:
            return FileChangeDraft(changes=(changed_file(call, workspace, done),))
        case name if name in SUBAGENTS:
            return subagent(call, None if done is None else done.text)
        case "ExitPlanMode":
            return PlanDraft(markdown=text_of(call.input, "plan") or "")
        case "WebSearch":
            hits = () if done is None else tuple(_hits(done.detail))
            return WebSearchDraft(query=text_of(call.input, "query") or "", results=hits or None)
        case _:
            server, name = tool_name(call.name)
            return ToolDraft(name=name, server=server, input=call.input, output=None if done is None else done.text)


def subagent(call: Call, result: str | None) -> SubagentDraft:
    """Return a subagent's item."""
    title = text_of(call.input, "description") or "Subagent"
    return SubagentDraft(title=title, prompt=text_of(call.input, "prompt") or "", result=result)


def tool_name(name: str) -> tuple[str | None, str]:
    """Return the MCP server of a tool, if it is one's, and its own name."""
    match name.split("__", 2):
        case ["mcp", server, tool]:
            return server, tool
        case _:
            return None, name


def _command(call: Call, workspace: Path, done: Outcome | None) -> CommandDraft:
    command = text_of(call.input, "command") or ""
    if done is None:
        return CommandDraft(command=command, cwd=str(workspace))
    found = _EXIT_CODE.match(done.text) if done.failed else None
    code = int(found[1]) if found else None if done.failed or in_background(done) else 0
    output = done.text[found.end() :] if found else done.text
    return CommandDraft(command=command, cwd=str(workspace), output=output, exit_code=code)


def in_background(done: Outcome) -> bool:
    """Return whether a command goes on after its call."""
    return text_of(done.detail, "backgroundTaskId") is not None


def ended_in_background(command: CommandDraft, summary: str) -> CommandDraft:
    """Return a command that went on in the background, as Claude Code tells its end."""
    found = _ENDED.search(summary)
    return evolve(command, output=f"{command.output}\n{summary}", exit_code=int(found[1]) if found else None)


def changed_file(call: Call, workspace: Path, done: Outcome | None = None) -> ChangedFile:
    """Return the file that a call changes: as the call says, and once it is done, as it was done."""
    path = relative(text_of(call.input, "file_path", "notebook_path") or "", workspace)
    told = done.detail if done is not None and not done.failed else None
    kind: ChangeKind = "modify"
    if call.name == "Write" and text_of(told, "type") != "update":
        return ChangedFile(
            path=path, kind="add", diff=unified_diff(path, "add", "", text_of(call.input, "content") or "")
        )
    if hunks := members(told, "structuredPatch"):
        before, after = diff_header(path, kind)
        body = "".join(_hunk(hunk) for hunk in hunks)
        return ChangedFile(path=path, kind=kind, diff=f"--- {before}\n+++ {after}\n{body}")
    old, new = text_of(call.input, "old_string") or "", text_of(call.input, "new_string", "content", "new_source") or ""
    return ChangedFile(path=path, kind=kind, diff=unified_diff(path, kind, old, new))


def _hunk(hunk: JsonObject) -> str:
    numbers = [count_of(hunk, name) or 0 for name in ("oldStart", "oldLines", "newStart", "newLines")]
    lines = hunk.get("lines")
    words = [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []
    return "@@ -{},{} +{},{} @@\n".format(*numbers) + "".join(f"{line}\n" for line in words)


def _hits(detail: object) -> list[WebResult]:
    found = members(detail, "results")
    hits = [hit for one in found for hit in members(one, "content")]
    return [WebResult(title=text_of(hit, "title"), url=url) for hit in hits if (url := text_of(hit, "url"))]
