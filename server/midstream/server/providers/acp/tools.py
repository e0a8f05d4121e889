"""A tool call as it grows from partial news, and the draft of an item that it makes; pure."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

import attrs
from attrs import frozen

from midstream.protocol.records.item import ChangedFile, ItemStatus, WebResult
from midstream.server.providers.acp.diffs import changed_files
from midstream.server.providers.acp.messages import Subagent, ToolCallNews, ToolStatus
from midstream.server.providers.diffs import relative
from midstream.server.providers.drafts import (
    CommandDraft,
    Draft,
    FileChangeDraft,
    SubagentDraft,
    ToolDraft,
    WebSearchDraft,
)
from midstream.server.providers.reading import command_text, count_of, member, text_of

Shape: TypeAlias = Literal["command", "fileChange", "webSearch", "subagent", "tool"]

_STATUS: Mapping[ToolStatus, ItemStatus] = {
    "pending": "pending",
    "in_progress": "running",
    "completed": "completed",
    "failed": "failed",
}


@frozen(kw_only=True)
class ToolCall:
    """What is known of a tool call. `shape` is settled by the first news, as an item keeps its type."""

    id: str
    shape: Shape
    parent: str | None
    title: str = ""
    kind: str | None = None
    status: ToolStatus = "pending"
    input: object = None
    output: object = None
    text: str = ""
    changes: tuple[ChangedFile, ...] = ()
    links: tuple[tuple[str | None, str], ...] = ()
    subagent: Subagent | None = None

    @property
    def item_status(self) -> ItemStatus:
        """The status of its item."""
        return _STATUS[self.status]

    @property
    def open(self) -> bool:
        """Whether it has not ended."""
        return self.status in ("pending", "in_progress")


def begin(news: ToolCallNews, workspace: Path) -> ToolCall:
    """Return the tool call that the first news tell of, whichever kind of message brought them."""
    return apply(ToolCall(id=news.id, shape=_shape(news), parent=news.parent), news, workspace)


def apply(call: ToolCall, news: ToolCallNews, workspace: Path) -> ToolCall:
    """Return the tool call with what the news say changed."""
    return attrs.evolve(
        call,
        title=news.title or call.title,
        kind=news.kind or call.kind,
        status=news.status or call.status,
        input=call.input if news.input is None else news.input,
        output=call.output if news.output is None else news.output,
        text=call.text if news.text is None else news.text,
        changes=_changes(call, news, workspace),
        links=call.links if news.links is None else news.links,
        subagent=news.subagent or call.subagent,
    )


def _shape(news: ToolCallNews) -> Shape:
    if news.subagent is not None:
        return "subagent"
    match news.kind:
        case "execute":
            return "command"
        case "edit" | "delete" | "move":
            return "fileChange"
        case "fetch" if text_of(news.input, "query") is not None:
            return "webSearch"
        case _:
            return "fileChange" if news.diffs else "tool"


def _changes(call: ToolCall, news: ToolCallNews, workspace: Path) -> tuple[ChangedFile, ...]:
    if news.diffs:
        return changed_files(news.diffs, workspace)
    if call.changes or not news.locations:
        return call.changes
    paths = dict.fromkeys(relative(path, workspace) for path in news.locations)
    kind: Literal["delete", "modify"] = "delete" if (news.kind or call.kind) == "delete" else "modify"
    return tuple(ChangedFile(path=path, kind=kind) for path in paths)


def draft(call: ToolCall, workspace: Path) -> Draft:
    """Return what its item says."""
    match call.shape:
        case "command":
            return CommandDraft(
                command=command_of(call),
                cwd=text_of(call.input, "cwd", "workdir", "directory") or str(workspace),
                output=_output(call) or "",
                exit_code=_exit_code(call),
            )
        case "fileChange":
            return FileChangeDraft(changes=call.changes)
        case "webSearch":
            results = tuple(WebResult(title=title, url=url) for title, url in call.links)
            return WebSearchDraft(query=text_of(call.input, "query") or call.title, results=results or None)
        case "subagent":
            told = call.subagent or Subagent(title=call.title, prompt="", folder=None)
            result = None if call.open else _output(call)
            return SubagentDraft(title=told.title or call.title, prompt=told.prompt, result=result, folder=told.folder)
        case "tool":
            return ToolDraft(name=call.title or call.kind or "tool", input=call.input, output=_output(call))


def command_of(call: ToolCall) -> str:
    """Return the command line of a call, its title where it has none."""
    given = call.input.get("command") if isinstance(call.input, dict) else None
    return command_text(given) or call.title


def _output(call: ToolCall) -> str | None:
    told = call.output if isinstance(call.output, str) else text_of(call.output, "output", "stdout")
    diffs = "".join(change.diff or "" for change in call.changes) if call.shape == "tool" else ""
    return (told or call.text) + diffs or None


def _exit_code(call: ToolCall) -> int | None:
    names = ("exitCode", "exit_code", "exit")
    code = count_of(call.output, *names)
    return code if code is not None else count_of(member(call.output, "metadata"), *names)
