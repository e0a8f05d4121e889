"""How others hand over, for comparison: each takes a conversation's items and fills the same budget."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

import tiktoken
from attrs import frozen

from midstream.protocol.records.item import AgentMessageItem, CommandItem, FileChangeItem, Item, UserMessageItem
from midstream.server.handoff.tokens import VOCABULARY, countable, estimate_tokens

DIGEST: Final = 500
"""Characters of a message in the digest."""
ENCODING: Final = tiktoken.get_encoding(VOCABULARY)


@frozen
class Told:
    """An item as the baselines see it."""

    kind: str
    text: str


def told(items: Iterable[Item]) -> list[Told]:
    """Return what the baselines choose from."""
    found: list[Told] = []
    for item in items:
        match item:
            case UserMessageItem(text=text):
                found.append(Told("user", text))
            case AgentMessageItem(text=text):
                found.append(Told("agent", text))
            case CommandItem():
                found.append(Told("command", f"Command: {item.command}\n{item.output}"))
            case FileChangeItem(status="completed"):
                found.extend(Told("file", f"File change: {change.path}") for change in item.changes)
            case _:
                pass
    return found


def last_items(items: list[Told], budget: int) -> str:
    """Whole items, newest first."""
    return _whole(items, reversed(range(len(items))), budget, estimate_tokens)


def head_and_tail(items: list[Told], budget: int) -> str:
    """The beginning and the end of all text."""
    ids = ENCODING.encode_ordinary("\n".join(item.text for item in items))
    half = countable(budget) // 2
    return ENCODING.decode(ids[:half], errors="ignore") + ENCODING.decode(ids[-half:], errors="ignore")


def whole_items(items: list[Told], budget: int) -> str:
    """Last user, last agent, first user, then newest first; whole items only, a byte counted as a token."""
    users = [place for place, item in enumerate(items) if item.kind == "user"]
    agents = [place for place, item in enumerate(items) if item.kind == "agent"]
    order = [*users[-1:], *agents[-1:], *users[:1], *reversed(range(len(items)))]
    return _whole(items, order, budget, lambda text: len(text.encode()) + 160)


def digest(items: list[Told], budget: int) -> str:
    """The first characters of every message and file, the end of it all kept."""
    text = "\n".join(item.text[:DIGEST] for item in items if item.kind != "command")
    return ENCODING.decode(ENCODING.encode_ordinary(text)[-countable(budget) :], errors="ignore")


BASELINES: Final[Mapping[str, Callable[[list[Told], int], str]]] = {
    "last_items": last_items,
    "head_and_tail": head_and_tail,
    "whole_items": whole_items,
    "digest": digest,
}


def _whole(items: list[Told], order: Iterable[int], budget: int, size: Callable[[str], int]) -> str:
    taken: set[int] = set()
    for place in order:
        cost = size(items[place].text)
        if place not in taken and cost <= budget:
            taken.add(place)
            budget -= cost
    return "\n".join(items[place].text for place in sorted(taken))
