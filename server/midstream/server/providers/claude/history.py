"""Where a turn ends in what Claude Code keeps of a conversation: one JSON object a line, in the order they came.

The SDK reads the same files, but only those of the daemon's own environment.
"""

from collections.abc import Iterator
from pathlib import Path

from midstream.protocol.base import JsonObject
from midstream.server.providers.connection import parse_line
from midstream.server.providers.reading import member, members, text_of


def turn_end(config_folder: Path, ref: str, turn_ref: str) -> str | None:
    """Return the id of a turn's last entry, None where the conversation has no such turn.

    Raises:
        OSError: the file cannot be read.
    """
    end = None
    for entry in _entries(config_folder, ref):
        entry_id = text_of(entry, "uuid")
        if entry_id == turn_ref:
            end = entry_id
        elif end is not None and _is_prompt(entry):
            break
        elif end is not None and entry_id is not None:
            end = entry_id
    return end


def _entries(config_folder: Path, ref: str) -> Iterator[JsonObject]:
    """Yield what was said in a conversation, but for what its subagents said."""
    for file in (config_folder / "projects").glob(f"*/{ref}.jsonl"):
        with file.open("rb") as lines:
            for line in lines:
                entry = parse_line(line)
                if entry.get("type") in ("user", "assistant") and entry.get("isSidechain") is not True:
                    yield entry


def _is_prompt(entry: JsonObject) -> bool:
    """Return whether an entry is the user's own message, and not a tool's result or a note of Claude Code's."""
    if entry.get("type") != "user" or entry.get("isMeta") is True:
        return False
    blocks = members(member(entry, "message"), "content")
    return not any(block.get("type") == "tool_result" for block in blocks)
