"""What a search shows of an item: the words around the query, without secrets. Pure."""

import re
from typing import Final

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
from midstream.server.handoff.redact import Redactor

AROUND: Final = 80
"""How many characters are shown on each side of the query."""


def snippet(item: Item, piece: str | None, query: str, redactor: Redactor) -> str | None:
    """Return a line around the first place of a query in an item, or in a piece of its long texts; None without one.

    Secrets are taken out before it is looked for, so none is found and none is cut in two.
    """
    read = Redactor.whole_lines(item)
    told = _within(piece) if piece is not None else "\n".join(read(field, text) for field, text in _texts(item))
    text = redactor.text(told)
    place = re.search(re.escape(query), text, re.IGNORECASE)
    if place is None:
        return None
    start, end = max(0, place.start() - AROUND), place.end() + AROUND
    shown = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{shown}{'…' if end < len(text) else ''}"


def _within(piece: str) -> str:
    """Return a piece without the lines that its cuts may have split: half a secret has no shape any more."""
    mark = "\n" if piece.count("\n") > 1 else " "
    return piece.partition(mark)[2].rpartition(mark)[0]


def _texts(item: Item) -> tuple[tuple[str, str], ...]:
    """Return the fields of an item that are searched."""
    match item:
        case UserMessageItem(text=text) | AgentMessageItem(text=text):
            return (("text", text),)
        case PlanItem(markdown=markdown):
            return (("markdown", markdown),)
        case TodoItem(steps=steps):
            return tuple(("steps", step.text) for step in steps)
        case CommandItem(command=command, output=output):
            return ("command", command), ("output", output or "")
        case FileChangeItem(changes=changes):
            return tuple(("path", change.path) for change in changes)
        case ToolItem(name=name, input=given, output=output):
            return ("name", name), ("input", str(given or "")), ("output", output or "")
        case SubagentItem(title=title, prompt=prompt, result=result):
            return ("title", title), ("prompt", prompt or ""), ("result", result or "")
        case ErrorItem(message=message):
            return (("message", message),)
        case _:
            return ()
