"""Which facts an item gives: one rule for each type of item. Reasoning, protocol noise and diffs give none."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from midstream.protocol.records.item import (
    AgentMessageItem,
    ApprovalItem,
    ChangedFile,
    CheckpointItem,
    CommandItem,
    ErrorItem,
    FileChangeItem,
    Item,
    PlanItem,
    QuestionItem,
    SubagentItem,
    TodoItem,
    ToolItem,
    UserMessageItem,
    WebSearchItem,
)
from midstream.server.handoff.attachments import describe
from midstream.server.handoff.constraints import constraints
from midstream.server.handoff.decided import decisions
from midstream.server.handoff.facts import Change, Fact, Telling
from midstream.server.handoff.outcome import commanded, outcome, telling_lines
from midstream.server.handoff.pieces import Piece, cut
from midstream.server.handoff.redact import Redactor
from midstream.server.handoff.text import clip, one_line
from midstream.server.handoff.values import assigned

COMMAND_SHOWN: Final = 200
"""Bytes of a command that are told."""

INPUT_SHOWN: Final = 160
"""Bytes of a tool's input that are told."""

_STATUS: Final = {"add": "added", "modify": "modified", "delete": "deleted", "rename": "renamed"}
_STEPS: Final = {"completed": "[x]", "running": "[~]", "pending": "[ ]"}


def facts_of(item: Item, redactor: Redactor) -> tuple[Fact, ...]:
    """Return what a handoff may tell of a finished item."""
    return tuple(_Teller(item, redactor).facts())


class _Teller:
    """Makes the facts of one item; all foreign text goes through its redactor first."""

    def __init__(self, item: Item, redactor: Redactor) -> None:
        self._item = item
        self._redactor = redactor.also(shown_in_env_file(item))
        self._whole = redactor.whole_lines(item)

    def facts(self) -> Iterator[Fact]:
        item = self._item
        match item:
            case UserMessageItem():
                yield from self._asked(item)
            case AgentMessageItem(parent_item_id=None) if item.text.strip():
                text = self._field("text", item.text)
                yield Telling("conversation", "", item.status, cut(text))
                yield from self._decided(decisions(text))
            case PlanItem(parent_item_id=None):
                text = self._field("markdown", item.markdown)
                yield Telling("plan", "plan", "plan", cut(text))
                yield from self._decided(decisions(text))
            case TodoItem(parent_item_id=None):
                steps = (f"{_STEPS[step.status]} {self._line(step.text)}" for step in item.steps)
                yield Telling("plan", "todo", "todo", _rows(steps))
            case CommandItem():
                command = self._line(item.command)
                shown = clip(command, COMMAND_SHOWN)
                lines = telling_lines(item.status, item.exit_code, self._field("output", item.output))
                head = f"`{shown}`: {commanded(item.status, item.exit_code, command)}"
                yield Telling("commands", f"{item.cwd} {command}", head, _rows(lines))
            case ToolItem():
                yield self._called(item)
            case WebSearchItem():
                found = ", ".join(self._line(result.url) for result in item.results or ()) or outcome(item.status)
                query = self._line(item.query)
                yield Telling("commands", f"web {query}", f"searched the web for \u201c{query}\u201d: {found}")
            case SubagentItem():
                title = self._line(item.title)
                result = self._field("result", item.result or "")
                named = f"{title} ({item.provider})"
                yield Telling("subagents", named, f"{named}: {outcome(item.status)}", cut(result))
            case ApprovalItem() | QuestionItem():
                yield from self._answered(item)
            case FileChangeItem(status="completed"):
                yield from (self._changed(change) for change in item.changes)
            case CheckpointItem(status="completed"):
                for file in item.files:
                    old = None if file.old_path is None else self._line(file.old_path)
                    counts = (file.additions or 0, file.deletions or 0)
                    yield Change(self._line(file.path), file.status, old, *counts, True)
            case ErrorItem():
                yield Telling("failures", "", "error", cut(self._field("message", item.message)))
            case _:
                pass

    def _asked(self, item: UserMessageItem) -> Iterator[Fact]:
        text = self._field("text", item.text)
        described = (self._redactor.text(describe(attachment)) for attachment in item.attachments)
        fate = "undelivered" if item.status == "cancelled" else item.intent
        yield Telling("goals", "", fate, cut("\n".join((text, *described))))
        for constraint in constraints(text):
            yield Telling("constraints", constraint.casefold(), "", cut(constraint))

    def _decided(self, found: Iterable[str]) -> Iterator[Fact]:
        for decision in found:
            yield Telling("decisions", decision.casefold(), "", cut(decision))

    def _called(self, item: ToolItem) -> Telling:
        name = self._line(f"{item.server}/{item.name}" if item.server else item.name)
        # A secret of a tool's input may show as one only beside its name, which the JSON gives it.
        given = self._line(json.dumps(item.input, sort_keys=True, ensure_ascii=False, default=str))
        lines = telling_lines(item.status, None, self._field("output", item.output or ""))
        head = f"tool {name} {clip(given, INPUT_SHOWN)}: {outcome(item.status)}"
        return Telling("commands", f"{name} {given}"[:2_000], head, _rows(lines if item.status == "failed" else ()))

    def _answered(self, item: ApprovalItem | QuestionItem) -> Iterator[Fact]:
        match item:
            case ApprovalItem(decision=None):
                yield Telling("open", item.request_id, f"Never answered: {self._line(item.prompt)}")
            case ApprovalItem(decision="decline" | "cancel"):
                yield Telling("decisions", item.request_id, f"The user declined: {self._line(item.prompt)}")
            case QuestionItem(answers=None):
                asked = (self._line(question.text) for question in item.questions)
                yield Telling("open", item.request_id, "Never answered:", _rows(asked))
            case QuestionItem():
                texts = {question.id: question.text for question in item.questions}
                for answer in item.answers or ():
                    asked_for = self._line(texts.get(answer.question_id, ""))
                    given = self._line(", ".join(answer.values))
                    head = f"The user answered \u201c{asked_for}\u201d with: {given}"
                    yield Telling("decisions", f"{item.request_id} {answer.question_id}", head)
            case _:
                pass

    def _changed(self, change: ChangedFile) -> Change:
        signs = Counter(line[:1] for line in (change.diff or "").split("\n") if not line.startswith(("+++", "---")))
        old = None if change.old_path is None else self._line(change.old_path)
        return Change(self._line(change.path), _STATUS[change.kind], old, signs["+"], signs["-"], False)

    def _field(self, field: str, text: str) -> str:
        return self._redactor.text(self._whole(field, text))

    def _line(self, text: str) -> str:
        return one_line(self._redactor.text(text))


def shown_in_env_file(item: Item) -> frozenset[str]:
    """Return the secret-like values that an item shows of a file that sets variables."""
    match item:
        case CommandItem(command=command, output=output) if ".env" in command:
            return assigned(output)
        case ToolItem(input=given, output=str(output)) if ".env" in str(given):
            return assigned(output)
        case _:
            return frozenset()


def _rows(lines: Iterable[str]) -> tuple[Piece, ...]:
    return cut("\n".join(lines))
