"""Anthropic's Messages over server-sent events: a request's messages as a conversation, and steps as content blocks.

The tools are those that Claude Code offers.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from attrs import frozen

from midstream.server.rehearsal.directives import (
    Append,
    Ask,
    CallTool,
    Delete,
    Done,
    Fail,
    Recall,
    Run,
    Say,
    Sleep,
    Stream,
    Subagent,
    Think,
    Todo,
    Write,
)
from support.models.http import Json, Response
from support.models.script import Entry, Returned, Said, Step, next_steps, orders_of, recalled, todo_steps

HARNESS = re.compile(
    r"<[a-z-]+>|\[Request interrupted|\[SYSTEM NOTIFICATION|\[Image: source"
    r"|Continue from where you left off|This session is being"
)
"""How the texts begin that Claude Code itself puts in the user's role."""
STEERED = re.compile(r"The user sent a new message while you were working:\n(.*?)\n\nThis is how", re.DOTALL)
"""How Claude Code tells what the user said in the middle of a turn: with the result of a tool."""
NOTIFIED = re.compile(r"<task-notification|<system-reminder>\n\[SYSTEM NOTIFICATION")
"""How Claude Code tells that what ran in the background has ended."""
INPUT_TOKENS = 100


def conversation(body: Json) -> list[Entry]:
    """Return what a request's messages tell; each text block of a user's message is an entry of its own."""
    return [entry for message in body["messages"] for entry in _entries(message)]


def _entries(message: Json) -> Iterator[Entry]:
    for block in _blocks(message["content"]):
        match block, message["role"]:
            case {"type": "text", "text": text}, "user":
                yield Said("harness" if HARNESS.match(text) else "user", text)
            case {"type": "text", "text": text}, "assistant":
                yield Said("agent", text)
            case {"type": "text", "text": text}, _:
                yield Said("harness", text)
            case {"type": "tool_result", "tool_use_id": call_id, "content": content}, _:
                output = "".join(part.get("text", "") for part in _blocks(content))
                yield Returned(call_id, output)
                yield from (Said("user", steered) for steered in STEERED.findall(output))
            case _:
                pass


def _blocks(content: str | list[Json]) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


@frozen
class Block:
    """A content block: how it begins, and the deltas that fill it."""

    begin: Json
    deltas: tuple[Json, ...]


async def answer(body: Json, response: Response) -> None:
    """Answer a request for a message."""
    said = conversation(body)
    told_of_a_task = isinstance(said[-1], Said) and bool(NOTIFIED.match(said[-1].text))
    steps = () if told_of_a_task else next_steps(said, subagents_are_awaited=False)
    for step in steps:
        if isinstance(step.directive, Fail):
            await _fail(step.directive, response)
            return
    await response.begin_events()
    usage = {"input_tokens": INPUT_TOKENS, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    head = {"id": f"msg_{len(said)}", "type": "message", "role": "assistant", "model": body["model"], "content": []}
    begun = {**head, "stop_reason": None, "stop_sequence": None, "usage": {**usage, "output_tokens": 1}}
    await response.event({"type": "message_start", "message": begun})
    number, stop = 0, "end_turn"
    for step in steps:
        if isinstance(step.directive, Sleep):
            await asyncio.sleep(step.directive.milliseconds / 1000)
        for block in _output(step, said, body):
            await _send(number, block, response)
            stop = "tool_use" if block.begin["type"] == "tool_use" else stop
            number += 1
    if number == 0:
        await _send(0, _text(["Done."]), response)
    ended = {"stop_reason": stop, "stop_sequence": None}
    await response.event({"type": "message_delta", "delta": ended, "usage": {**usage, "output_tokens": 10}})
    await response.event({"type": "message_stop"})


async def _send(number: int, block: Block, response: Response) -> None:
    await response.event({"type": "content_block_start", "index": number, "content_block": block.begin})
    for place, delta in enumerate(block.deltas):
        if place > 0:
            await response.between_pieces()
        await response.event({"type": "content_block_delta", "index": number, "delta": delta})
    await response.event({"type": "content_block_stop", "index": number})


def _output(step: Step, said: Sequence[Entry], body: Json) -> Iterator[Block]:
    """Yield what does as a directive says."""
    match step.directive:
        case Say(text=text):
            yield _text([text])
        case Stream(chunks=chunks, chunk_bytes=size):
            yield _text(["x" * size] * chunks)
        case Recall():
            yield _text([json.dumps(recalled(said))])
        case Think(text=text):
            sealed = {"type": "signature_delta", "signature": "c2ln"}
            begin = {"type": "thinking", "thinking": "", "signature": ""}
            yield Block(begin, ({"type": "thinking_delta", "thinking": text}, sealed))
        case Run(command=command):
            yield _call(step, "Bash", {"command": command, "description": "Run it"})
        case Write(path=path, text=text):
            yield _call(step, "Write", {"file_path": path, "content": f"{text}\n"})
        case Append(path=path, text=text):
            yield _call(step, "Bash", {"command": f"printf '%s\\n' '{text}' >> '{path}'", "description": "Append"})
        case Delete(path=path):
            yield _call(step, "Bash", {"command": f"rm '{path}'", "description": "Delete"})
        case Todo(entries=entries):
            for place, entry in enumerate(entries):
                yield _call(step, "TaskCreate", {"subject": entry, "description": entry}, place)
        case Done(entry=entry):
            names = [name for name, _ in todo_steps(orders_of(said)[: step.place + 1])]
            yield _call(step, "TaskUpdate", {"taskId": str(names.index(entry) + 1), "status": "completed"})
        case Ask(question=question):
            options = [{"label": label, "description": label} for label in ("Yes", "No")]
            asked = {"question": question, "header": "Question", "options": options, "multiSelect": False}
            yield _call(step, "AskUserQuestion", {"questions": [asked]})
        case Subagent(title=title, prompt=prompt):
            told = {"description": title, "prompt": prompt, "subagent_type": "general-purpose"}
            yield _call(step, "Agent", told)
        case CallTool(tool=tool, arguments=arguments):
            yield _call(step, _full_name(tool, body), arguments)
        case Sleep():
            pass
        case _:
            yield _text(["Noted."])


def _full_name(tool: str, body: Json) -> str:
    names: list[str] = [one["name"] for one in body.get("tools", [])]
    return next((name for name in names if name.split("__")[-1] == tool), tool)


def _text(pieces: Sequence[str]) -> Block:
    return Block({"type": "text", "text": ""}, tuple({"type": "text_delta", "text": piece} for piece in pieces))


def _call(step: Step, name: str, arguments: Json, place: int = 0) -> Block:
    begin = {"type": "tool_use", "id": f"{step.call_id}{place}", "name": name, "input": {}}
    return Block(begin, ({"type": "input_json_delta", "partial_json": json.dumps(arguments)},))


async def _fail(fail: Fail, response: Response) -> None:
    match fail.failure_class:
        case "usage_limit":
            resets = fail.reset_at or "2030-01-01T00:00:00.000Z"
            at = int(datetime.fromisoformat(resets).timestamp())
            limit = "anthropic-ratelimit-unified"
            headers = {f"{limit}-status": "rejected", f"{limit}-reset": str(at), "x-should-retry": "false"}
            await response.json(429, _error("rate_limit_error", fail.message), headers)
        case "authentication":
            await response.json(401, _error("authentication_error", fail.message))
        case "context_overflow":
            words = f"prompt is too long: 200001 tokens > 200000 maximum ({fail.message})"
            await response.json(400, _error("invalid_request_error", words))
        case "transport_error":
            await response.begin_events()
        case _:
            await response.json(400, _error("invalid_request_error", fail.message))


def _error(kind: str, message: str) -> Json:
    return {"type": "error", "error": {"type": kind, "message": message}}
