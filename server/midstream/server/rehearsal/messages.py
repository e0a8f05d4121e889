"""The ACP shapes that the agent sends, as plain dicts, since importing ``acp.schema`` takes over a second."""

from collections.abc import Iterable
from pathlib import Path

from midstream.server.rehearsal.directives import JsonObject

PARENT = "midstream/parent"


def text_block(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def text_content(text: str) -> JsonObject:
    """A tool call's content that is text."""
    return {"type": "content", "content": text_block(text)}


def diff_content(path: Path, old_text: str | None, new_text: str) -> JsonObject:
    """A tool call's content that is a change of one file; ``old_text`` is null for a new file."""
    return {"type": "diff", "path": str(path), "oldText": old_text, "newText": new_text}


def chunk(kind: str, message_id: str, block: object) -> JsonObject:
    """A ``user_message_chunk``, ``agent_message_chunk`` or ``agent_thought_chunk``."""
    return {"sessionUpdate": kind, "messageId": message_id, "content": block}


def session_info(meta: JsonObject) -> JsonObject:
    """The update that carries our extensions' news."""
    return {"sessionUpdate": "session_info_update", "_meta": meta}


def plan(entries: Iterable[JsonObject]) -> JsonObject:
    return {"sessionUpdate": "plan", "entries": list(entries)}


def plan_entry(content: str, status: str) -> JsonObject:
    return {"content": content, "priority": "medium", "status": status}


def usage(used: int, size: int) -> JsonObject:
    return {"sessionUpdate": "usage_update", "used": used, "size": size}


def options(*choices: tuple[str, str, str]) -> list[JsonObject]:
    """Permission options from ``(optionId, name, kind)``."""
    return [{"optionId": option_id, "name": name, "kind": kind} for option_id, name, kind in choices]


def block_text(block: JsonObject) -> str:
    """What a prompt's content block says to the agent, exactly as received."""
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "resource", "resource": {"text": str(text)}}:
            return text
        case {"type": "resource", "resource": {"uri": str(uri)}} | {"type": "resource_link", "uri": str(uri)}:
            return f"[{uri}]"
        case {"type": str(kind), "mimeType": str(mime_type)}:
            return f"[{kind} {mime_type}]"
        case _:
            return ""
