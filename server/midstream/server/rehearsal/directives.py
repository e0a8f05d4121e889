"""The directive language: which lines of a prompt the rehearsal agent obeys, as a pure parser."""

import re
from collections.abc import Callable
from enum import StrEnum
from typing import TypeAlias

import orjson
from attrs import frozen

JsonObject: TypeAlias = dict[str, object]


class SummaryBehaviour(StrEnum):
    """How the agent behaves when it is asked to summarise a history."""

    GOOD = "good"
    LONG = "long"
    INVALID = "invalid"
    DROPS = "drops"
    ORDERS = "orders"
    HANG = "hang"


@frozen
class Write:
    path: str
    text: str


@frozen
class Append:
    path: str
    text: str


@frozen
class Delete:
    path: str


@frozen
class Run:
    command: str


@frozen
class Todo:
    entries: tuple[str, ...]


@frozen
class Done:
    entry: str


@frozen
class Decide:
    text: str


@frozen
class Ask:
    question: str


@frozen
class Subagent:
    title: str
    directory: str | None
    prompt: str


@frozen
class CallTool:
    tool: str
    arguments: JsonObject


@frozen
class Say:
    text: str


@frozen
class Think:
    text: str


@frozen
class Stream:
    chunks: int
    chunk_bytes: int


@frozen
class Sleep:
    milliseconds: int


@frozen
class Fail:
    failure_class: str | None
    reset_at: str | None
    message: str


@frozen
class Crash:
    pass


@frozen
class Compact:
    pass


@frozen
class Summary:
    behaviour: SummaryBehaviour


@frozen
class Recall:
    pass


@frozen
class Remark:
    """A line that is no directive."""

    text: str


Directive: TypeAlias = (
    Write
    | Append
    | Delete
    | Run
    | Todo
    | Done
    | Decide
    | Ask
    | Subagent
    | CallTool
    | Say
    | Think
    | Stream
    | Sleep
    | Fail
    | Crash
    | Compact
    | Summary
    | Recall
    | Remark
)

Groups: TypeAlias = tuple[str, ...]

FAILURE_CLASSES = (
    "usage_limit|provider_error|transport_error|permission_error|authentication|context_overflow"
    "|validation_error|unknown"
)


def _fail(groups: Groups) -> Directive:
    failure_class, reset_at, message = groups
    return Fail(failure_class or None, reset_at or None, message)


def _subagent(groups: Groups) -> Directive:
    title, directory, prompt = groups
    return Subagent(title, directory or None, prompt)


def _todo(groups: Groups) -> Directive:
    return Todo(tuple(entry.strip() for entry in groups[0].split("|") if entry.strip()))


def _call(groups: Groups) -> Directive:
    tool, arguments = groups
    try:
        parsed = orjson.loads(arguments or "{}")
    except orjson.JSONDecodeError:
        return Remark(f"call {tool} {arguments}")
    return CallTool(tool, parsed) if isinstance(parsed, dict) else Remark(f"call {tool} {arguments}")


_SYNTAX: tuple[tuple[re.Pattern[str], Callable[[Groups], Directive]], ...] = tuple(
    (re.compile(pattern), build)
    for pattern, build in (
        (r"write ([^:]+): ?(.*)", lambda g: Write(*g)),
        (r"append ([^:]+): ?(.*)", lambda g: Append(*g)),
        (r"delete (.+)", lambda g: Delete(*g)),
        (r"run (.+)", lambda g: Run(*g)),
        (r"todo: ?(.+)", _todo),
        (r"done: ?(.+)", lambda g: Done(*g)),
        (r"decide: ?(.+)", lambda g: Decide(*g)),
        (r"ask: ?(.+)", lambda g: Ask(*g)),
        (r"subagent ([^:]+?)(?: IN ([^:]+))?: ?(.*)", _subagent),
        (r"call (\S+) ?(.*)", _call),
        (r"say: ?(.*)", lambda g: Say(*g)),
        (r"think: ?(.*)", lambda g: Think(*g)),
        (r"stream (\d+) (\d+)", lambda g: Stream(int(g[0]), int(g[1]))),
        (r"sleep (\d+)", lambda g: Sleep(int(g[0]))),
        (rf"fail: ?(?:({FAILURE_CLASSES})(?: until (\S+))?: ?)?(.*)", _fail),
        (r"crash", lambda _: Crash()),
        (r"compact", lambda _: Compact()),
        (rf"summary ({'|'.join(SummaryBehaviour)})", lambda g: Summary(SummaryBehaviour(g[0]))),
        (r"recall", lambda _: Recall()),
    )
)


def parse_line(line: str) -> Directive:
    """The directive that a line is, or a ``Remark``; only the very start of the line counts."""
    for pattern, build in _SYNTAX:
        if match := pattern.fullmatch(line.rstrip()):
            return build(match.groups(default=""))
    return Remark(line)


def parse(text: str) -> tuple[Directive, ...]:
    """The directives of a text, line by line, blank lines left out."""
    return tuple(parse_line(line) for line in text.splitlines() if line.strip())
