"""A native conversation as a sequence of records, and what the agent sees of it; pure."""

from collections.abc import Iterable
from typing import TypeAlias

import attrs
from attrs import frozen

from midstream.server.rehearsal import messages
from midstream.server.rehearsal.directives import JsonObject
from midstream.server.rehearsal.messages import block_text, chunk


@frozen
class TurnStarted:
    turn_id: str


@frozen
class UserBlock:
    """A content block in the user's role, as it came."""

    turn_id: str
    block: JsonObject


@frozen
class AgentUpdate:
    """A ``session/update`` that the agent sent and that belongs to its history."""

    turn_id: str
    update: JsonObject


@frozen
class Compacted:
    turn_id: str
    summary: str


@frozen
class Rewound:
    """All after ``to_turn`` is gone; all of it when that is null."""

    to_turn: str | None


Record: TypeAlias = TurnStarted | UserBlock | AgentUpdate | Compacted | Rewound


@frozen
class Entry:
    """One thing the agent sees in its conversation; role is ``user``, ``agent`` or ``summary``."""

    role: str
    text: str
    turn_id: str
    message_id: str | None = None


def turn_ids(records: Iterable[Record]) -> tuple[str, ...]:
    return tuple(record.turn_id for record in records if isinstance(record, TurnStarted))


def until_turn(records: tuple[Record, ...], to_turn: str | None) -> tuple[Record, ...]:
    """The records up to the end of a turn; raises ``ValueError`` for a turn that is not in them."""
    turns = turn_ids(records)
    kept = set() if to_turn is None else set(turns[: turns.index(to_turn) + 1])
    return tuple(record for record in records if not isinstance(record, Rewound) and record.turn_id in kept)


def with_record(records: tuple[Record, ...], record: Record) -> tuple[Record, ...]:
    """The history after one more record: a rewind takes away, any other adds."""
    return until_turn(records, record.to_turn) if isinstance(record, Rewound) else (*records, record)


def visible(records: Iterable[Record]) -> tuple[Entry, ...]:
    """What the agent sees, in order: since its last compaction, a summary stands for the turns before."""
    entries: list[Entry] = []
    for record in records:
        match record:
            case UserBlock(turn_id, block):
                entries.append(Entry("user", block_text(block), turn_id))
            case AgentUpdate(turn_id, {"sessionUpdate": "agent_message_chunk"} as update):
                _add_chunk(entries, turn_id, update)
            case Compacted(turn_id, summary):
                own_turn = [entry for entry in entries if entry.turn_id == turn_id and entry.role != "summary"]
                entries = [Entry("summary", summary, turn_id), *own_turn]
            case AgentUpdate() | TurnStarted() | Rewound():
                pass
    return tuple(entries)


def _add_chunk(entries: list[Entry], turn_id: str, update: JsonObject) -> None:
    match update:
        case {"_meta": {messages.PARENT: _}}:
            return  # what a subagent says is not in its parent's conversation
        case {"messageId": str(message_id), "content": dict(block)}:
            last = entries[-1] if entries else None
            if last is not None and last.message_id == message_id:
                entries[-1] = attrs.evolve(last, text=last.text + block_text(block))
            else:
                entries.append(Entry("agent", block_text(block), turn_id, message_id))
        case _:
            pass


def tokens(records: Iterable[Record]) -> int:
    """A simple count of what the agent sees: four characters a token."""
    return sum(len(entry.text) for entry in visible(records)) // 4


def replay(records: Iterable[Record]) -> tuple[JsonObject, ...]:
    """The updates that tell the whole conversation again, as ``session/load`` does."""
    updates: list[JsonObject] = []
    for record in records:
        match record:
            case UserBlock(turn_id, block):
                updates.append(chunk("user_message_chunk", turn_id, block))
            case AgentUpdate(_, update):
                updates.append(update)
            case TurnStarted() | Compacted() | Rewound():
                pass
    return tuple(updates)


def plan_entries(records: Iterable[Record]) -> tuple[JsonObject, ...]:
    """The todo list as it last stood."""
    latest: tuple[JsonObject, ...] = ()
    for record in records:
        match record:
            case AgentUpdate(_, {"sessionUpdate": "plan", "entries": list(entries)}):
                latest = tuple(entries)
            case _:
                pass
    return latest
