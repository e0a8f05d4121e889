"""Reading JSON that others wrote: what is not there, or is of another type, is taken as absent."""

import shlex

from midstream.protocol.base import LARGEST_INTEGER, JsonObject


def member(value: object, name: str) -> JsonObject:
    """Return the object that is a member of an object, empty where there is none."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def members(value: object, name: str) -> tuple[JsonObject, ...]:
    """Return the objects in a list that is a member of an object."""
    found = value.get(name) if isinstance(value, dict) else None
    return tuple(one for one in found if isinstance(one, dict)) if isinstance(found, list) else ()


def text_of(value: object, *names: str) -> str | None:
    """Return the first of an object's members that is a string."""
    if not isinstance(value, dict):
        return None
    for name in names:  # called for every chunk: a generator would cost more than the rest
        found = value.get(name)
        if isinstance(found, str):
            return found
    return None


def count_of(value: object, *names: str) -> int | None:
    """Return the first of an object's members that is a whole number from 0 to what a record holds."""
    if not isinstance(value, dict):
        return None
    numbers = (value.get(name) for name in names)
    whole = (n for n in numbers if isinstance(n, int) and not isinstance(n, bool))
    return next((n for n in whole if 0 <= n <= LARGEST_INTEGER), None)


def block_text(block: JsonObject) -> str:
    """Return a content block's text, or words for what is none."""
    match block:
        case {"type": "text", "text": str(text)} | {"type": "resource", "resource": {"text": str(text)}}:
            return text
        case {"type": "resource_link", "uri": str(uri)} | {"type": "resource", "resource": {"uri": str(uri)}}:
            return f"[{uri}]"
        case {"type": str(kind), "mimeType": str(mime_type)}:
            return f"[{kind} {mime_type}]"
        case _:
            return ""


def command_text(command: object) -> str | None:
    """Return a command line that is told as a string or as words."""
    match command:
        case str():
            return command
        case [*words] if words and all(isinstance(word, str) for word in words):
            return shlex.join(str(word) for word in words)
        case _:
            return None
