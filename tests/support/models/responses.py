"""OpenAI's Responses over server-sent events: a request's input as a conversation, and steps as output items.

The tools are those that Codex offers.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import datetime
from typing import Any

from midstream.server.rehearsal.directives import (
    Append,
    Ask,
    CallTool,
    Delete,
    Directive,
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

TOKENS_A_REQUEST = 100
HARNESS = re.compile(r"<[a-z_]+>|# AGENTS\.md")
"""How the messages begin that Codex itself puts in the user's role."""
USAGE = {
    "input_tokens": TOKENS_A_REQUEST,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 10,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": TOKENS_A_REQUEST + 10,
}


def conversation(body: Json) -> list[Entry]:
    """Return what a request's input tells; the parts of one message are told as one text."""
    return list(_entries(body["input"]))


def _entries(items: Sequence[Json]) -> Iterator[Entry]:
    for item in items:
        match item:
            case {"type": "message", "role": "user", "content": content}:
                text = "\n".join(part["text"] for part in content if "text" in part)
                yield Said("harness" if HARNESS.match(text) else "user", text)
            case {"type": "message", "role": "assistant", "content": content}:
                yield Said("agent", "".join(part["text"] for part in content))
            case {"type": "function_call_output" | "custom_tool_call_output", "call_id": call_id, "output": output}:
                yield Returned(call_id, output if isinstance(output, str) else json.dumps(output))
            case {"type": "function_call_output", "output": str(output)}:
                yield Said("data", output)
            case _:
                pass


async def answer(body: Json, response: Response) -> None:
    """Answer a request for a response."""
    said = conversation(body)
    steps = next_steps(said)
    for step in steps:
        if isinstance(step.directive, Fail):
            await _fail(step.directive, response)
            return
    await response.begin_events()
    await response.event({"type": "response.created", "response": {"id": f"resp_{len(said)}"}})
    spoke = False
    number = 0
    for step in steps:
        async for item in _output(step, said, body, response):
            await response.event({"type": "response.output_item.done", "output_index": number, "item": item})
            number, spoke = number + 1, True
    if not spoke:
        item = _message(f"msg_{len(said)}_end", "Done.")
        await response.event({"type": "response.output_item.done", "output_index": number, "item": item})
    await response.event({"type": "response.completed", "response": {"id": f"resp_{len(said)}", "usage": USAGE}})


async def _output(step: Step, said: Sequence[Entry], body: Json, response: Response) -> AsyncIterator[Json]:
    ref = f"{len(said)}_{step.place}"
    match step.directive:
        case Say(text=text):
            yield await _spoken(f"msg_{ref}", [text], response)
        case Stream(chunks=chunks, chunk_bytes=size):
            yield await _spoken(f"msg_{ref}", ["x" * size] * chunks, response)
        case Recall():
            yield await _spoken(f"msg_{ref}", [json.dumps(recalled(said))], response)
        case Think(text=text):
            yield await _thought(f"rs_{ref}", text, response)
        case Sleep(milliseconds=milliseconds):
            await asyncio.sleep(milliseconds / 1000)
        case directive:
            call = _call(directive, step, said, body)
            yield await _spoken(f"msg_{ref}", ["Noted."], response) if call is None else call


async def _spoken(item_id: str, pieces: Sequence[str], response: Response) -> Json:
    await response.event({"type": "response.output_item.added", "output_index": 0, "item": _message(item_id, "")})
    for number, piece in enumerate(pieces):
        if number > 0:
            await response.between_pieces()
        place = {"item_id": item_id, "output_index": 0, "content_index": 0}
        await response.event({"type": "response.output_text.delta", **place, "delta": piece})
    return _message(item_id, "".join(pieces))


def _message(item_id: str, text: str) -> Json:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": item_id, "role": "assistant", "status": "completed", "content": content}


async def _thought(item_id: str, text: str, response: Response) -> Json:
    item: Json = {"type": "reasoning", "id": item_id, "summary": [], "content": [], "encrypted_content": "sealed"}
    part = {"item_id": item_id, "output_index": 0, "summary_index": 0}
    await response.event({"type": "response.output_item.added", "output_index": 0, "item": item})
    await response.event({"type": "response.reasoning_summary_part.added", **part, "part": {"type": "summary_text"}})
    await response.event({"type": "response.reasoning_summary_text.delta", **part, "delta": text})
    return {**item, "summary": [{"type": "summary_text", "text": text}]}


def _call(directive: Directive, step: Step, said: Sequence[Entry], body: Json) -> Json | None:
    """Return the call that does what a directive says, None where it says nothing."""
    match directive:
        case Run(command=command):
            return _function(step, "exec_command", {"cmd": command})
        case Write(path=path, text=text):
            return _patch(step, f"*** Add File: {path}\n+{text}\n")
        case Append(path=path, text=text):
            return _function(step, "exec_command", {"cmd": f"printf '%s\\n' '{text}' >> '{path}'"})
        case Delete(path=path):
            return _patch(step, f"*** Delete File: {path}\n")
        case Todo() | Done():
            orders = orders_of(said)[: step.place + 1]
            plan = [{"step": name, "status": "completed" if done else "pending"} for name, done in todo_steps(orders)]
            return _function(step, "update_plan", {"plan": plan})
        case Ask(question=question):
            options = [{"label": label, "description": label} for label in ("Yes", "No")]
            asked = {"id": "q1", "header": "Question", "question": question, "options": options}
            return _function(step, "request_user_input", {"questions": [asked]})
        case Subagent(prompt=prompt) if step.number == 0:
            return _function(step, "spawn_agent", {"message": prompt}, "multi_agent_v1")
        case Subagent():
            child = json.loads(step.results[0])["agent_id"]
            return _function(step, "wait_agent", {"targets": [child], "timeout_ms": 10_000}, "multi_agent_v1")
        case CallTool(tool=tool, arguments=arguments):
            return _function(step, tool, arguments, _namespace_of(tool, body))
        case _:
            return None


def _namespace_of(tool: str, body: Json) -> str | None:
    for one in body.get("tools", []):
        if tool in [inner.get("name") for inner in one.get("tools", [])]:
            name: str = one["name"]
            return name
    return None


def _function(step: Step, name: str, arguments: dict[str, Any], namespace: str | None = None) -> Json:
    place = {} if namespace is None else {"namespace": namespace}
    ids = {"id": f"fc_{step.call_id}", "call_id": step.call_id}
    return {"type": "function_call", **ids, "name": name, **place, "arguments": json.dumps(arguments)}


def _patch(step: Step, hunk: str) -> Json:
    ids = {"id": f"ctc_{step.call_id}", "call_id": step.call_id}
    return {
        "type": "custom_tool_call",
        **ids,
        "name": "apply_patch",
        "input": f"*** Begin Patch\n{hunk}*** End Patch\n",
    }


async def _fail(fail: Fail, response: Response) -> None:
    match fail.failure_class:
        case "usage_limit":
            resets = fail.reset_at or "2030-01-01T00:00:00.000Z"
            at = int(datetime.fromisoformat(resets).timestamp())
            headers = {
                "x-codex-primary-used-percent": "100",
                "x-codex-primary-window-minutes": "300",
                "x-codex-primary-reset-at": str(at),
            }
            error = {"type": "usage_limit_reached", "message": fail.message, "plan_type": "pro", "resets_at": at}
            await response.json(429, {"error": error}, headers)
        case "authentication":
            await response.json(401, {"error": {"message": fail.message}})
        case "context_overflow":
            await response.begin_events()
            failed = {"code": "context_length_exceeded", "message": fail.message}
            whole = {"id": "resp_failed", "status": "failed", "error": failed}
            await response.event({"type": "response.failed", "response": whole})
        case "transport_error":
            await response.begin_events()
        case _:
            await response.json(400, {"error": {"message": fail.message, "type": "invalid_request_error"}})
