"""One turn: the directives of a prompt, and of text steered into it, obeyed one after another."""

import asyncio
import os
from collections import deque
from pathlib import Path
from typing import assert_never
from uuid import uuid4

import orjson
from attrs import frozen

from midstream.server.rehearsal import history, messages, summary
from midstream.server.rehearsal.command import run_command
from midstream.server.rehearsal.conversation import Conversation
from midstream.server.rehearsal.directives import (
    Append,
    Ask,
    CallTool,
    Compact,
    Crash,
    Decide,
    Delete,
    Directive,
    Done,
    Fail,
    JsonObject,
    Recall,
    Remark,
    Run,
    Say,
    Sleep,
    Stream,
    Subagent,
    Summary,
    SummaryBehaviour,
    Think,
    Todo,
    Write,
    parse,
    parse_line,
)
from midstream.server.rehearsal.edits import edit
from midstream.server.rehearsal.mcp import McpServers, result_text
from midstream.server.rehearsal.options import Options
from midstream.server.rehearsal.permissions import Permissions
from midstream.server.rehearsal.rpc import INTERNAL_ERROR, RpcError
from midstream.server.rehearsal.updates import TurnCancelledError, Updates

CRASH_STATUS = 3
_ANSWERS = (("answer-a", "Yes", "allow_once"), ("answer-b", "No", "reject_once"))


@frozen
class Place:
    """Where a directive is obeyed: the turn itself, or a subagent of it."""

    cwd: Path
    updates: Updates


class Turn:
    """A running turn; ``steer`` adds to it, ``cancel`` ends it, ``id`` names it for good."""

    def __init__(self, conversation: Conversation, permissions: Permissions, mcp: McpServers, options: Options) -> None:
        self.id = f"turn-{uuid4().hex[:12]}"
        self._conversation = conversation
        self._permissions = permissions
        self._mcp = mcp
        self._options = options
        self._summary_file = options.state_dir / "summary"
        self._steered: deque[str] = deque()
        self._acknowledged = False
        self._cancelled = False
        self._task: asyncio.Task[str] | None = None

    async def run(self, blocks: list[JsonObject], place: Place) -> str:
        """Take the prompt into the native history and obey it; returns the stop reason.

        Raises ``RpcError`` where a directive says ``fail``.
        """
        self._conversation.append(history.TurnStarted(self.id))
        for block in blocks:
            self._conversation.append(history.UserBlock(self.id, block))
        self._task = asyncio.create_task(self._obey_all(blocks, place))
        try:
            return await self._task
        except TurnCancelledError:
            return "cancelled"
        except asyncio.CancelledError:
            if not self._cancelled:
                raise
            return "cancelled"

    def steer(self, text: str) -> bool:
        """Have the text obeyed at the next directive boundary; false when none comes any more."""
        accepted = self._task is not None and not self._task.done()
        if accepted:
            self._steered.append(text)
        return accepted

    def cancel(self) -> None:
        if self._task is not None and not self._task.done():
            self._cancelled = True
            self._task.cancel()

    async def _obey_all(self, blocks: list[JsonObject], place: Place) -> str:
        if self._options.can("turn-started"):
            await place.updates.notify(messages.session_info({"midstream/turnStarted": {"turnId": self.id}}))
        texts = tuple(messages.block_text(block) for block in blocks)
        if summary.is_summary_request(texts):
            await self._summarise(texts, place.updates)
            return "end_turn"
        # A throw-away conversation obeys nothing.
        ahead = deque(() if self._conversation.throw_away else (d for text in texts for d in parse(text)))
        while True:
            while self._steered:
                ahead.extendleft(reversed(await self._take_steered(place.updates)))
            if not ahead:
                return "end_turn"
            await self._obey(ahead.popleft(), place)

    async def _take_steered(self, updates: Updates) -> tuple[Directive, ...]:
        text = self._steered.popleft()
        self._conversation.append(history.UserBlock(self.id, messages.text_block(text)))
        taken = {"turnId": self.id, "text": text}
        await updates.notify(messages.session_info({"midstream/steerTaken": taken}))
        return parse(text)

    async def _obey(self, directive: Directive, place: Place) -> None:
        updates = place.updates
        match directive:
            case Write() | Append() | Delete():
                await edit(directive, place.cwd, updates, self._permissions)
            case Run(command):
                await run_command(command, place.cwd, updates, self._permissions)
            case Todo(entries):
                await updates.tell(messages.plan(messages.plan_entry(entry, "pending") for entry in entries))
            case Done(entry):
                await updates.tell(messages.plan(self._plan_with_done(entry)))
            case Decide(text):
                await updates.say(f"Decision: {text}")
            case Ask(question):
                await self._ask(question, updates)
            case Subagent():
                await self._delegate(directive, place)
            case CallTool(tool, arguments):
                await self._call_tool(tool, arguments, updates)
            case Say(text):
                await updates.say(text)
            case Think(text):
                await updates.think(text)
            case Stream(chunks, chunk_bytes):
                await updates.stream(str(number % 10) * chunk_bytes for number in range(chunks))
            case Sleep(milliseconds):
                await asyncio.sleep(milliseconds / 1000)
            case Fail():
                raise _failure(directive)
            case Crash():
                os._exit(CRASH_STATUS)
            case Compact():
                await self._compact(updates)
            case Summary(behaviour):
                self._summary_file.write_text(behaviour.value)
            case Recall():
                seen = history.visible(self._conversation.records)
                recalled = [{"role": entry.role, "text": entry.text} for entry in seen]
                await updates.say(orjson.dumps(recalled).decode())
            case Remark():
                await self._acknowledge(updates)
            case _:
                assert_never(directive)

    async def _acknowledge(self, updates: Updates) -> None:
        if not self._acknowledged:
            self._acknowledged = True
            await updates.say("Noted.")

    async def _ask(self, question: str, updates: Updates) -> None:
        if not self._options.can("questions"):
            await updates.say(f"Question: {question}")
            return
        tool_call: JsonObject = {
            "toolCallId": f"question-{uuid4().hex[:12]}",
            "title": question,
            "kind": "other",
            "status": "pending",
        }
        option_id, meta = await updates.request_permission(
            tool_call,
            messages.options(*_ANSWERS),
            {"midstream/question": {"text": question, "freeText": True}},
        )
        names = {option_id: name for option_id, name, _ in _ANSWERS}
        answer = meta.get("midstream/answer") or names.get(option_id, option_id)
        await updates.say(f"Answer: {answer}")

    async def _delegate(self, directive: Subagent, place: Place) -> None:
        cwd = place.cwd / (directive.directory or "")
        request: JsonObject = {"title": directive.title, "prompt": directive.prompt, "dir": str(cwd)}
        async with place.updates.tool_call(
            directive.title, "think", request, meta={"midstream/subagent": request}
        ) as call:
            child = Place(cwd, place.updates.under(call.id))
            await self._obey(parse_line(directive.prompt), child)
            result = "\n".join(child.updates.said) or f"Done: {directive.prompt}"
            await call.finish("completed", [messages.text_content(result)])

    async def _call_tool(self, tool: str, arguments: JsonObject, updates: Updates) -> None:
        async with updates.tool_call(tool, "other", {"tool": tool, "arguments": arguments}) as call:
            result = await self._mcp.call(tool, arguments)
            status = "failed" if result.get("isError") else "completed"
            await call.finish(status, [messages.text_content(result_text(result))], result)

    async def _compact(self, updates: Updates) -> None:
        seen = history.visible(self._conversation.records)
        earlier = [entry for entry in seen if entry.turn_id != self.id]
        text = f"Summary of {len(earlier)} earlier entries."
        self._conversation.append(history.Compacted(self.id, text))
        await updates.notify(messages.session_info({"midstream/compaction": {"summary": text}}))

    async def _summarise(self, texts: tuple[str, ...], updates: Updates) -> None:
        stored = self._summary_file.read_text() if self._summary_file.exists() else SummaryBehaviour.GOOD
        answer = summary.summarise(SummaryBehaviour(stored), texts)
        if answer is None:
            await asyncio.Event().wait()  # hangs until it is cancelled, as told
        else:
            await updates.say(answer)

    def _plan_with_done(self, done: str) -> list[JsonObject]:
        entries = list(history.plan_entries(self._conversation.records))
        finished = messages.plan_entry(done, "completed")
        if not any(entry["content"] == done for entry in entries):
            return [*entries, finished]
        return [finished if entry["content"] == done else entry for entry in entries]


def _failure(directive: Fail) -> RpcError:
    data: JsonObject = {"class": directive.failure_class or "provider_error"}
    if directive.reset_at is not None:
        data["resetAt"] = directive.reset_at
    return RpcError(INTERNAL_ERROR, directive.message, data)
