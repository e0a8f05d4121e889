"""A thread as a document: Markdown to read, or JSON Lines with every record. Pure."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias

import orjson

from midstream.protocol.base import JsonObject
from midstream.protocol.converter import make_converter
from midstream.protocol.records.item import (
    AgentMessageItem,
    CommandItem,
    ErrorItem,
    FileChangeItem,
    Item,
    PlanItem,
    SubagentItem,
    TodoItem,
    ToolItem,
    UserMessageItem,
)
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Thread

Wash: TypeAlias = Callable[[str], str]
"""Takes the secrets out of a text, or leaves them in."""

CONVERTER: Final = make_converter()
FORMAT_VERSION: Final = 1
MARKS: Final = {"completed": "x", "running": "~", "pending": " "}


def as_jsonl(thread: Thread, runs: Sequence[Run], items: Sequence[Item], wash: Wash) -> str:
    """Return a line that names the format, then one for each record: the thread, its runs, their items."""
    lines: list[object] = [{"type": "midstream", "version": FORMAT_VERSION}]
    for kind, records in (("thread", [thread]), ("run", runs), ("item", items)):
        lines.extend({"type": kind, "record": _washed(CONVERTER.unstructure(record), wash)} for record in records)
    return "".join(f"{orjson.dumps(line).decode()}\n" for line in lines)


def _washed(value: object, wash: Wash) -> object:
    match value:
        case str():
            return wash(value)
        case dict():
            washed: JsonObject = {name: _washed(inner, wash) for name, inner in value.items()}
            return washed
        case list() | tuple():
            return [_washed(inner, wash) for inner in value]
        case _:
            return value


def as_markdown(thread: Thread, runs: Sequence[Run], items: Sequence[Item], wash: Wash) -> str:
    """Return the conversation, run by run: what was said in full, what was done in a line or a block."""
    parts = [f"# {_line(thread.title) or 'Untitled thread'}"]
    for run in sorted((run for run in runs if run.ordinal is not None), key=lambda run: run.ordinal or 0):
        state = "" if run.status == "completed" else f" ({run.status.replace('_', ' ')})"
        parts.append(f"## Run {run.ordinal} · {run.provider}{state}")
        parts.extend(part for item in items if item.run_id == run.id for part in _item(item))
    return wash("\n\n".join(parts) + "\n")


def _item(item: Item) -> Iterator[str]:
    match item:
        case UserMessageItem(text=text):
            yield "**You:**\n\n" + _quote(text)
        case AgentMessageItem(text=text) if text:
            yield text
        case PlanItem(markdown=markdown):
            yield _quote(markdown)
        case TodoItem(steps=steps):
            yield "\n".join(f"- [{MARKS[step.status]}] {_line(step.text)}" for step in steps)
        case CommandItem(command=command, output=output, exit_code=code):
            yield _fenced([f"$ {command}", *(output or "").rstrip("\n").split("\n")]) + (
                f"\n\nexit {code}" if code else ""
            )
        case FileChangeItem(changes=changes):
            yield "\n".join(f"- {change.kind} `{_line(change.path)}`" for change in changes)
        case ToolItem(name=name, server=server):
            yield f"- tool `{_line(f'{server}: {name}' if server else name)}`"
        case SubagentItem(title=title, result=result):
            yield f"**Subagent: {_line(title)}**\n\n" + _quote(result or "(no result)")
        case ErrorItem(message=message):
            yield f"**Error:** {_line(message)}"
        case _:
            return


def _line(text: str) -> str:
    return " ".join(text.split())


def _quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _fenced(lines: Iterable[str]) -> str:
    """Return lines as a block of code, in a fence that is longer than any in them."""
    text = "\n".join(lines)
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"
