"""An item in words: one line of it, and all of it."""

import json
from collections.abc import Iterator
from typing import Final

from midstream.protocol.records.item import (
    AgentMessageItem,
    ApprovalItem,
    CheckpointItem,
    CommandItem,
    CompactionItem,
    ErrorItem,
    FileChangeItem,
    Item,
    NoticeItem,
    PlanItem,
    QuestionItem,
    SubagentItem,
    TodoItem,
    ToolItem,
    UserMessageItem,
    WebSearchItem,
)
from midstream.protocol.records.run import Run
from midstream.server.graph.state import LIVE_ITEM
from midstream.server.handoff.attachments import describe
from midstream.server.handoff.naming import cite
from midstream.server.handoff.redact import Redactor
from midstream.server.handoff.render import heading
from midstream.server.handoff.telling import shown_in_env_file
from midstream.server.handoff.text import clip, one_line
from midstream.server.store import Questions

SHOWN: Final = 160
"""Bytes of an item that its line in a list shows."""

Part = tuple[str, str | None, str]
"""A field of an item, the path that it is of, and its text as the record has it."""


def parts(item: Item) -> Iterator[Part]:
    """Yield the texts of an item, in order. The first is what its line shows."""
    match item:
        case UserMessageItem():
            yield "text", None, item.text
            yield from (("attachment", None, describe(attachment)) for attachment in item.attachments)
        case AgentMessageItem():
            yield "text", None, item.text
        case PlanItem():
            yield "markdown", None, item.markdown
        case TodoItem():
            yield "steps", None, "\n".join(f"{step.status}: {step.text}" for step in item.steps)
        case CommandItem():
            yield "command", None, item.command
            yield "cwd", None, item.cwd
            yield "exit code", None, "none" if item.exit_code is None else str(item.exit_code)
            yield "output", None, item.output
        case FileChangeItem():
            yield "files", None, "\n".join(f"{change.kind} {change.path}" for change in item.changes)
            yield from (("diff", change.path, change.diff or "") for change in item.changes)
        case ToolItem():
            yield "name", None, f"{item.server}/{item.name}" if item.server else item.name
            yield "input", None, json.dumps(item.input, ensure_ascii=False, default=str)
            yield "output", None, item.output or ""
        case WebSearchItem():
            yield "query", None, item.query
            yield "results", None, "\n".join(f"{one.title or ''} {one.url}".strip() for one in item.results or ())
        case ApprovalItem():
            yield "prompt", None, item.prompt
            yield "decision", None, item.decision or "none"
        case QuestionItem():
            yield "questions", None, "\n".join(question.text for question in item.questions)
            yield "answers", None, "\n".join(", ".join(answer.values) for answer in item.answers or ())
        case SubagentItem():
            yield "title", None, item.title
            yield "prompt", None, item.prompt
            yield "result", None, item.result or ""
        case CheckpointItem():
            yield "checkpoint", None, item.checkpoint_id
            yield "files", None, "\n".join(f"{file.status} {file.path}" for file in item.files)
        case CompactionItem():
            yield "summary", None, item.summary or ""
        case NoticeItem() | ErrorItem():
            yield "message", None, item.message
        case _:
            pass


def line(item: Item, run: Run | None, redactor: Redactor) -> str:
    """Return an item on one line: its run, its id, its type, and the beginning of what it says."""
    redactor = redactor.also(shown_in_env_file(item))
    field, _, text = next(parts(item), ("", None, ""))
    shown = clip(one_line(redactor.text(redactor.whole_lines(item)(field, text))), SHOWN)
    return f"{named(item, run)}: {shown}"


def named(item: Item, run: Run | None) -> str:
    """Return which item it is, in our words."""
    return f"{cite([run.ordinal if run else None])} {item.id} {item.type}, {item.status}".lstrip()


async def whole_text(item: Item, run: Run | None, redactor: Redactor, store: Questions) -> str:
    """Return all that an item says, fit to be told; its long fields are read whole before they are redacted."""
    long_fields = {(mark.field, mark.path) for mark in item.shortened or ()}
    redactor = redactor.also(shown_in_env_file(item))
    lines = [heading(named(item, run))]
    for field, path, short in parts(item):
        kept_apart = item.status in LIVE_ITEM or (field, path) in long_fields
        long = await store.text(item.id, field, path) if kept_apart else None
        text = redactor.text(short if long is None else long)
        if text:
            lines.append(heading(f"{field} {path or ''}".rstrip() + ":"))
            lines.extend(f"> {row}" for row in text.split("\n"))
    return "\n".join(lines)
