"""One turn in flight: what comes for it, in order, as provider events.

Claude Code took a turn once it told the user's message back, by the id that we gave it. A turn is over with its
result once Claude Code is idle and nothing it began runs in the background: it is told of what ends there, and speaks.
"""

import asyncio
from pathlib import Path
from typing import Final, TypeAlias
from uuid import uuid4

from attrs import frozen
from claude_agent_sdk import (
    AssistantMessage,
    Message,
    PermissionResult,
    RateLimitEvent,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TaskNotificationMessage,
    UserMessage,
)

from midstream.protocol.base import JsonObject
from midstream.protocol.records.run import Failure, Usage
from midstream.protocol.records.thread import RuntimeMode
from midstream.server.providers.adapter import Reply
from midstream.server.providers.claude.approvals import Ask, request_asked
from midstream.server.providers.claude.asking import Pending, Questions, Withdrawn
from midstream.server.providers.claude.failures import result_failure, was_aborted
from midstream.server.providers.claude.process import ClaudeProcess, Gone
from midstream.server.providers.claude.todos import Todos
from midstream.server.providers.claude.updates import Translator
from midstream.server.providers.claude.usage import Spent
from midstream.server.providers.events import (
    Events,
    SteerTaken,
    TurnEnded,
    UsageReported,
)
from midstream.server.providers.reading import members, text_of
from midstream.server.providers.running import HoldingTurn, Status
from midstream.server.providers.weight import weight


@frozen
class Over:
    """Claude Code has ended the turn: the last that comes for it."""

    result: ResultMessage


Inner: TypeAlias = Message | Gone | Pending | Withdrawn | Over


class ClaudeTurn(HoldingTurn[Inner]):
    """A turn from its message to its end; `taken` once Claude Code has it."""

    def __init__(self, workspace: Path, mode: RuntimeMode, todos: Todos, *, planning: bool) -> None:
        super().__init__()
        self.id: str = str(uuid4())
        self.taken = False
        self._process: ClaudeProcess | None = None
        self._spent = Spent()
        self._begun: Final = asyncio.Event()
        self._has_result: Final = asyncio.Event()
        self._workspace = workspace
        self._translator = Translator(self.id, workspace, todos)
        self._questions = Questions(self.id, mode, self._translator.declined, planning=planning)
        self._steers: set[str] = set()
        self._result: ResultMessage | None = None
        self._idle = True
        self._in_background = False
        self._error: str | None = None
        self._resets_at: int | None = None
        self._usage: Usage | None = None

    @property
    def planning(self) -> bool:
        """Whether a plan is to be made now."""
        return self._questions.planning

    @property
    def steerable(self) -> bool:
        """Whether more words of the user's can belong to it."""
        return self.taken and not self.cancelled and not self.ended.is_set()

    async def send(self, process: ClaudeProcess, message: JsonObject, spent: Spent) -> None:
        """Send its message, unless it was cancelled before; `spent` is what the process told so far."""
        if self.cancelled:
            return
        self._process, self._spent, self.sent = process, spent, True
        await process.send(message)

    async def stop(self) -> None:
        """Interrupt it, once it can be; and end the Claude Code that would go on, with steered words or in the back."""
        assert self._process is not None
        await self._begun.wait()
        if not self.ended.is_set():
            await self._process.interrupt()
        await self._has_result.wait()
        if self._steers or self._in_background:
            await self._process.kill()

    async def deliver(self, message: Message | Gone) -> None:
        """Take a message from the reader, which waits here while the mailbox is full."""
        match message:
            case Gone():
                for event in (self._begun, self._has_result, self.ended):
                    event.set()
                self._mailbox.put_at_once(message)
                return
            case UserMessage(uuid=self.id):
                self.taken = True
                self._begun.set()
            case ResultMessage() if self._is_ours(message):
                self._result = message
                self._has_result.set()
            case SystemMessage(subtype="session_state_changed", data=data):
                self._idle = text_of(data, "state") == "idle"
            case SystemMessage(subtype="background_tasks_changed", data=data):
                self._in_background = any(task.get("ambient") is not True for task in members(data, "tasks"))
            case TaskNotificationMessage():
                self._idle = False  # Claude is told of it now
            case _:
                pass
        await self._mailbox.put(message, weight(message))
        resting = self._idle and not self._in_background
        if self._result is not None and resting and not self.ended.is_set():
            self.ended.set()
            self._mailbox.put_at_once(Over(self._result))

    def _is_ours(self, result: ResultMessage) -> bool:
        return self.taken or self.id in (result.user_message_uuids or ())

    async def abandon(self) -> None:
        """Take no more events out."""
        await super().abandon()
        self._questions.withdraw_all()

    async def _drop(self, message: Inner) -> None:
        if isinstance(message, Pending):
            message.refuse()

    def new_steer(self) -> str:
        """Return the id to give to steered words, by which we see them taken."""
        message_id = str(uuid4())
        self._steers.add(message_id)
        return message_id

    async def permit(self, ask: Ask) -> PermissionResult:
        """Return what may be done: what the mode says of it, or the user."""
        return await self._questions.permit(ask, lambda one: self._mailbox.put(one, 0), self._mailbox.put_at_once)

    def respond(self, request_ref: str, reply: Reply) -> bool:
        """Answer a question; False where Claude Code does not wait for it."""
        return self._questions.respond(request_ref, reply)

    async def _handle(self, message: Inner) -> Events:
        match message:
            case Gone(failure=failure):
                return self._finish("failed", failure, lost=self._result is None)
            case Over(result=result):
                return self._end(result)
            case Pending():
                return self._after_acceptance(self._asked(message))
            case Withdrawn(ref=ref):
                return self._questions.withdraw(ref)
            case UserMessage(uuid=self.id):
                return self._accept()
            case UserMessage(uuid=str(message_id)) if message_id in self._steers:
                self._steers.remove(message_id)
                return (SteerTaken(),)
            case ResultMessage() if self._is_ours(message):
                return self._resulted(message)
            case _:
                return self._after_acceptance(self._told(message))

    def _told(self, message: Message) -> Events:
        match message:
            case StreamEvent(event=event, parent_tool_use_id=None):
                self._spent.hear(event)
            case AssistantMessage(error=str(error), parent_tool_use_id=None):
                self._error = error
            case RateLimitEvent(rate_limit_info=info):
                self._resets_at = info.resets_at
            case _:
                pass
        return self._translator.translate(message)

    def _resulted(self, result: ResultMessage) -> Events:
        self._usage = self._spent.usage(result, self._usage)
        return *self._accept(), UsageReported(usage=self._usage)

    def _end(self, result: ResultMessage) -> Events:
        if was_aborted(result):
            return self._finish("interrupted")
        why = result_failure(result, self._error, self._resets_at)
        return self._finish("completed") if why is None else self._finish("failed", why)

    def _asked(self, pending: Pending) -> Events:
        if not self._questions.show(pending):
            return ()
        call = pending.ask.call
        announced = self._translator.announce(call)
        target = call.id if self._translator.shows(call.id) else None
        asked = request_asked(pending.ref, pending.ask, target, self._workspace)
        return *announced, *self._translator.waiting(call.id), asked

    def _finish(self, status: Status, why: Failure | None = None, *, lost: bool = False) -> Events:
        """Return the end of the turn; one that failed as we stopped it was interrupted.

        What was open as the process was lost stays so: Claude Code keeps what it has ended.
        """
        self.over = True
        if self.cancelled and status == "failed":
            status, why = "interrupted", None
        withdrawn = self._questions.withdraw_all()
        left_open = () if lost else self._translator.finish(status)
        last = (*withdrawn, *left_open) if self._accepted else ()
        return *last, TurnEnded(status=status, failure=why, lost=lost)
