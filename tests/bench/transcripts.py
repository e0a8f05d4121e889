"""Native sessions of Codex and Claude Code as runs and items: a rough reader, for measuring handoffs on real ones."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from midstream.protocol.records.item import (
    AgentMessageItem,
    ChangedFile,
    CommandItem,
    FileChangeItem,
    Item,
    PlanItem,
    QuestionItem,
    SubagentItem,
    TodoItem,
    TodoStep,
    ToolItem,
    UserMessageItem,
)
from midstream.protocol.records.request import Answer, Question
from midstream.protocol.records.run import Run
from midstream.server.graph.texts import KEPT, SHOWN
from support import records

NOT_SAID = re.compile(
    r"\s*(<[a-z_-]+[ >]|# AGENTS\.md instructions|Caveat: The messages below|This session is being continued from"
    r"|\[Request interrupted by user|Stop hook feedback|Base directory for this skill)"
)
"""What stands in the user's role without being the user's."""
EXIT = re.compile(r'Process exited with code (-?\d+)|^Exit code:? (-?\d+)|"exit_code":\s*(-?\d+)', re.MULTILINE)
SESSION = re.compile(r"Process running with session ID (\d+)")
REJECTED = re.compile(r"the user said:\s*(.+)", re.DOTALL)
PATCHED = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
KINDS: dict[str, Any] = {"Add": "add", "Update": "modify", "Delete": "delete"}
STEPS: dict[str, Any] = {"in_progress": "running", "completed": "completed"}
EDITS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})


@attrs.define
class Conversation:
    """A session as the store would hold it: long fields shortened, items in order, runs by ordinal."""

    workspace: str = ""
    runs: list[Run] = attrs.Factory(list)
    items: list[Item] = attrs.Factory(list)

    def say(self, text: str, *, steer: bool = False) -> None:
        """Add words of the user, which begin a run unless they steer one."""
        if not steer or not self.runs:
            self.runs.append(records.run(len(self.runs) + 1))
        self.add(UserMessageItem, text=shown(text), intent="steer" if steer else "start")

    def add(self, kind: Any, **fields: Any) -> int:
        """Add an item of the current run and return its place."""
        if not self.runs:
            self.runs.append(records.run(1))
        self.items.append(records.item(kind, len(self.items) + 1, len(self.runs), **fields))
        return len(self.items) - 1

    def change(self, place: int, **fields: Any) -> None:
        """Change an item."""
        self.items[place] = attrs.evolve(self.items[place], **fields)

    def interrupt(self) -> None:
        """Note that the current run was interrupted."""
        if self.runs:
            self.runs[-1] = attrs.evolve(self.runs[-1], status="interrupted")


def read(path: Path) -> Conversation:
    """Return the conversation of a session's file."""
    lines = list(_lines(path))
    codex = any(line.get("type") in ("session_meta", "event_msg") for line in lines[:20])
    told = _Codex().read(lines) if codex else _Claude().read(lines)
    places = (line.get("payload", line) for line in lines)
    told.workspace = next((str(place["cwd"]) for place in places if isinstance(place, dict) and place.get("cwd")), "")
    return told


def shown(text: str) -> str:
    """Return a text as a record shows it."""
    return text if len(text) <= SHOWN else text[:KEPT] + text[-KEPT:]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    for raw in path.read_text(errors="replace").split("\n"):
        rest = raw.strip()
        while rest:  # two objects may stand on one line
            try:
                value, end = decoder.raw_decode(rest)
            except ValueError:
                break
            if isinstance(value, dict):
                yield value
            rest = rest[end:].lstrip()


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(str(block.get("text") or "") for block in blocks if isinstance(block, dict))


def _exit_code(output: str) -> int | None:
    found = EXIT.search(output)
    return int(next(filter(None, found.groups()))) if found else None


class _Codex:
    def __init__(self) -> None:
        self.told = Conversation()
        self._calls: dict[str, int] = {}
        self._running: dict[str, int] = {}
        self._turn_open = False

    def read(self, lines: list[dict[str, Any]]) -> Conversation:
        for line in lines:
            payload = line.get("payload")
            if isinstance(payload, dict):
                self._take(str(line.get("type")), payload)
        return self.told

    def _take(self, type_: str, payload: dict[str, Any]) -> None:
        match type_, payload.get("type"):
            case "event_msg", "user_message":
                self.told.say(str(payload.get("message") or ""), steer=self._turn_open)
                self._turn_open = True
            case "event_msg", "agent_message":
                self.told.add(AgentMessageItem, text=shown(str(payload.get("message") or "")))
            case "event_msg", "task_complete":
                self._turn_open = False
            case "event_msg", "turn_aborted":
                self._turn_open = False
                self.told.interrupt()
            case "event_msg", "patch_apply_end" if payload.get("success"):
                pass
            case "response_item", "function_call" | "custom_tool_call":
                self._call(payload)
            case "response_item", "function_call_output" | "custom_tool_call_output":
                output = payload.get("output")
                self._end(str(payload.get("call_id")), output if isinstance(output, str) else json.dumps(output))
            case _:
                pass

    def _call(self, payload: dict[str, Any]) -> None:
        name, raw = payload.get("name"), str(payload.get("arguments") or payload.get("input") or "")
        given = _object(raw)
        if "*** Begin Patch" in raw:
            patch = raw if payload.get("input") else str(given.get("input") or given.get("command") or "")
            changes = tuple(_patched(patch))
            place = self.told.add(FileChangeItem, changes=changes, status="failed")
        elif name == "update_plan":
            steps = tuple(
                TodoStep(text=str(step.get("step")), status=STEPS.get(str(step.get("status")), "pending"))
                for step in given.get("plan") or ()
                if isinstance(step, dict)
            )
            place = self.told.add(TodoItem, steps=steps)
        elif name == "write_stdin":
            place = self._running.get(str(given.get("session_id")), -1)
        elif name in ("exec_command", "shell", "shell_command"):
            command = given.get("cmd") or given.get("command") or ""
            command = " ".join(command) if isinstance(command, list) else str(command)
            place = self.told.add(CommandItem, command=shown(command), exit_code=None, status="interrupted")
        else:
            place = self.told.add(ToolItem, name=str(name), input=given, status="interrupted")
        self._calls[str(payload.get("call_id"))] = place

    def _end(self, call_id: str, output: str) -> None:
        place = self._calls.get(call_id, -1)
        if place < 0:
            return
        item = self.told.items[place]
        code, running = _exit_code(output), SESSION.search(output)
        if running:
            self._running[running[1]] = place
        match item:
            case CommandItem():
                body = output.partition("Output:\n")[2] or output
                self.told.change(
                    place,
                    output=shown(item.output + body),
                    exit_code=code,
                    status="completed" if code == 0 else "running" if running else "failed",
                )
            case FileChangeItem():
                self.told.change(place, status="failed" if code or "verification failed" in output else "completed")
            case ToolItem():
                self.told.change(place, output=shown(output), status="completed")
            case _:
                pass


class _Claude:
    def __init__(self) -> None:
        self.told = Conversation()
        self._calls: dict[str, tuple[str, dict[str, Any], int]] = {}
        self._queued: list[str] = []
        self._tasks: dict[str, TodoStep] = {}

    def read(self, lines: list[dict[str, Any]]) -> Conversation:
        for line in lines:
            message = line.get("message")
            if line.get("isSidechain") or line.get("isMeta") or line.get("isCompactSummary"):
                continue
            match line.get("type"):
                case "user" if isinstance(message, dict):
                    self._user(message.get("content"))
                case "assistant" if isinstance(message, dict):
                    self._assistant(message.get("content"))
                case "queue-operation":
                    self._queue(line)
                case _:
                    pass
        return self.told

    def _queue(self, line: dict[str, Any]) -> None:
        match line.get("operation"):
            case "enqueue":
                self._queued.append(str(line.get("content")))
            case "remove" if self._queued:
                words = self._queued.pop(0)
                if not words.lstrip().startswith(("<", "/")):
                    self.told.say(words, steer=True)
            case "dequeue" if self._queued:
                self._queued.pop(0)
            case "popAll":
                self._queued.clear()
            case _:
                pass

    def _user(self, content: Any) -> None:
        if "[Request interrupted by user" in json.dumps(content):
            self.told.interrupt()
        results = (
            [b for b in content if isinstance(b, dict) and b.get("type") == "tool_result"]
            if isinstance(content, list)
            else []
        )
        for result in results:
            self._result(result)
        said = _text([b for b in content if b not in results]) if isinstance(content, list) else _text(content)
        if said.strip() and not NOT_SAID.match(said):
            self.told.say(said, steer=bool(results))

    def _assistant(self, content: Any) -> None:
        for block in content if isinstance(content, list) else []:
            match block.get("type"):
                case "text" if str(block.get("text")).strip():
                    self.told.add(AgentMessageItem, text=shown(str(block["text"])))
                case "tool_use":
                    self._call(block)
                case _:
                    pass

    def _call(self, block: dict[str, Any]) -> None:
        name, given = str(block.get("name")), block.get("input")
        given = given if isinstance(given, dict) else {}
        match name:
            case "Bash":
                place = self.told.add(
                    CommandItem, command=shown(str(given.get("command"))), exit_code=None, status="interrupted"
                )
            case "TodoWrite" if isinstance(given.get("todos"), list):
                steps = (todo for todo in given["todos"] if isinstance(todo, dict))
                place = self.told.add(TodoItem, steps=tuple(_step(todo, "content") for todo in steps))
            case "ExitPlanMode":
                place = self.told.add(PlanItem, markdown=shown(str(given.get("plan") or "")))
            case "Task" | "Agent":
                place = self.told.add(
                    SubagentItem, title=str(given.get("description")), prompt=shown(str(given.get("prompt")))
                )
            case _ if name in EDITS:
                place = self.told.add(FileChangeItem, changes=(_edited(name, given),), status="failed")
            case "AskUserQuestion":
                asked = given.get("questions") or ()
                questions = tuple(
                    Question(id=str(n), text=str(q.get("question")), options=(), multiple=False, free_text=True)
                    for n, q in enumerate(asked)
                    if isinstance(q, dict)
                )
                place = self.told.add(QuestionItem, questions=questions)
            case _:
                place = self.told.add(ToolItem, name=name, input=given, status="interrupted")
        self._calls[str(block.get("id"))] = (name, given, place)

    def _result(self, result: dict[str, Any]) -> None:
        name, given, place = self._calls.get(str(result.get("tool_use_id")), ("", {}, -1))
        if place < 0:
            return
        output, failed = _text(result.get("content")), bool(result.get("is_error"))
        match self.told.items[place]:
            case CommandItem():
                code = _exit_code(output[:60]) if failed else 0
                self.told.change(
                    place, output=shown(output), exit_code=code, status="failed" if failed else "completed"
                )
            case FileChangeItem():
                self.told.change(place, status="failed" if failed else "completed")
            case ToolItem():
                self.told.change(place, output=shown(output), status="failed" if failed else "completed")
            case SubagentItem():
                self.told.change(place, result=shown(output))
            case QuestionItem() as item:
                answers = tuple(Answer(question_id=question.id, values=(output,)) for question in item.questions[:1])
                self.told.change(place, answers=answers)
            case _:
                pass
        self._task(name, given, output)
        rejected = REJECTED.search(output) if failed else None
        if rejected:
            self.told.say(rejected[1], steer=True)

    def _task(self, name: str, given: dict[str, Any], output: str) -> None:
        number = re.search(r"#(\d+)", output)
        if name == "TaskCreate" and number:
            self._tasks[number[1]] = TodoStep(text=str(given.get("subject")), status="pending")
        elif name == "TaskUpdate" and str(given.get("taskId")) in self._tasks:
            key = str(given["taskId"])
            status = STEPS.get(str(given.get("status")), "pending")
            self._tasks[key] = attrs.evolve(self._tasks[key], status=status)
        else:
            return
        self.told.add(TodoItem, steps=tuple(self._tasks.values()))


def _step(todo: dict[str, Any], key: str) -> TodoStep:
    return TodoStep(text=str(todo.get(key)), status=STEPS.get(str(todo.get("status")), "pending"))


def _object(raw: str) -> dict[str, Any]:
    try:
        value = json.loads(raw)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _patched(patch: str) -> Iterator[ChangedFile]:
    found = list(PATCHED.finditer(patch))
    for here, after in zip(found, [*found[1:], None], strict=True):
        diff = patch[here.end() : after.start() if after else len(patch)]
        yield ChangedFile(path=here[2].strip(), kind=KINDS[here[1]], diff=shown(diff))


def _edited(name: str, given: dict[str, Any]) -> ChangedFile:
    path = str(given.get("file_path") or given.get("notebook_path"))
    old, new = str(given.get("old_string") or ""), str(given.get("new_string") or given.get("content") or "")
    lines = [*(f"-{line}" for line in old.split("\n") if old), *(f"+{line}" for line in new.split("\n") if new)]
    return ChangedFile(path=path, kind="add" if name == "Write" else "modify", diff=shown("\n".join(lines)))
