"""What a driver says of an item: its content, without the ids and the place that the graph gives it."""

from typing import Literal, TypeAlias

from attrs import frozen

from midstream.protocol.records.item import (
    ChangedFile,
    TodoStep,
    WebResult,
)
from midstream.protocol.records.run import Failure


@frozen(kw_only=True)
class MessageDraft:
    """Words of the agent. Text comes by `OutputAppended`, whole here only where the provider does not stream."""

    type: Literal["agentMessage", "reasoning"]
    text: str = ""


@frozen(kw_only=True)
class PlanDraft:
    """A proposed plan."""

    type: Literal["plan"] = "plan"
    markdown: str = ""


@frozen(kw_only=True)
class TodoDraft:
    """The todo list as it now stands."""

    type: Literal["todo"] = "todo"
    steps: tuple[TodoStep, ...]


@frozen(kw_only=True)
class CommandDraft:
    """A command; its output comes by `OutputAppended`, or whole here."""

    type: Literal["command"] = "command"
    command: str
    cwd: str
    output: str = ""
    exit_code: int | None = None


@frozen(kw_only=True)
class FileChangeDraft:
    """Files changed; paths relative to the workspace where they lie in it."""

    type: Literal["fileChange"] = "fileChange"
    changes: tuple[ChangedFile, ...]


@frozen(kw_only=True)
class ToolDraft:
    """Any other tool call."""

    type: Literal["tool"] = "tool"
    name: str
    server: str | None = None
    input: object
    output: str | None = None


@frozen(kw_only=True)
class WebSearchDraft:
    """A search of the web."""

    type: Literal["webSearch"] = "webSearch"
    query: str
    results: tuple[WebResult, ...] | None = None


@frozen(kw_only=True)
class SubagentDraft:
    """Work given to a subagent, whose items name it as their parent.

    `folder` is its own, and `native_ref` its own conversation, where it has one.
    """

    type: Literal["subagent"] = "subagent"
    title: str
    prompt: str
    result: str | None = None
    folder: str | None = None
    native_ref: str | None = None


@frozen(kw_only=True)
class NoticeDraft:
    """Something the provider wants the user to know."""

    type: Literal["notice", "error"]
    message: str
    failure: Failure | None = None


Draft: TypeAlias = (
    MessageDraft
    | PlanDraft
    | TodoDraft
    | CommandDraft
    | FileChangeDraft
    | ToolDraft
    | WebSearchDraft
    | SubagentDraft
    | NoticeDraft
)
