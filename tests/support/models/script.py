"""What the model of the tests does next: it obeys the rehearsal agent's directives, whatever wire it is reached by.

A model is asked anew after each tool that it called, with the whole conversation. Its place in the user's
directives stands in the ids of its calls: ``call_<place>_<step>_<length of the conversation>``.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from attrs import frozen

from midstream.server.rehearsal.directives import (
    Append,
    Ask,
    CallTool,
    Delete,
    Directive,
    Done,
    Run,
    Subagent,
    Todo,
    Write,
    parse,
)

Role: TypeAlias = Literal["user", "agent", "data", "harness"]
USES_TOOL = (Append, Ask, CallTool, Delete, Done, Run, Subagent, Todo, Write)
CALL_ID = re.compile(r"call_(\d+)_(\d+)_\d+")


@frozen
class Said:
    """Words in the conversation; `data` is context that has no authority, `harness` what the agent's program added."""

    role: Role
    text: str


@frozen
class Returned:
    """What a tool answered to a call of ours."""

    call_id: str
    output: str


Entry: TypeAlias = Said | Returned


@frozen
class Step:
    """What to do now; `place` is that of the directive, `number` counts its calls, `results` are their answers."""

    directive: Directive
    place: int
    number: int
    results: tuple[str, ...]
    call_id: str


def next_steps(conversation: Sequence[Entry], *, subagents_are_awaited: bool = True) -> tuple[Step, ...]:
    """Return what to do until a tool must answer: the last step uses one, or the turn is over.

    Where subagents are awaited, each has a second step: one call begins it, and another waits for it.
    """
    newest = max((at for at, entry in enumerate(conversation) if _is_user(entry)), default=-1)
    orders = parse(conversation[newest].text) if newest >= 0 else ()  # type: ignore[union-attr]
    results: dict[int, list[str]] = {}
    for entry in conversation[newest + 1 :]:
        if isinstance(entry, Returned) and (found := CALL_ID.fullmatch(entry.call_id)):
            results.setdefault(int(found[1]), []).append(entry.output)
    last = max(results, default=-1)
    begun = last >= 0 and isinstance(orders[last], Subagent) and len(results[last]) == 1
    resumed = begun and subagents_are_awaited
    steps: list[Step] = []
    for place in range(last if resumed else last + 1, len(orders)):
        had = tuple(results.get(place, ()))
        call_id = f"call_{place}_{len(had)}_{len(conversation)}"
        steps.append(Step(orders[place], place, len(had), had, call_id))
        if isinstance(orders[place], USES_TOOL):
            break
    return tuple(steps)


def _is_user(entry: Entry) -> bool:
    return isinstance(entry, Said) and entry.role == "user"


def orders_of(conversation: Sequence[Entry]) -> tuple[Directive, ...]:
    """Return the directives of the newest message."""
    texts = [entry.text for entry in conversation if isinstance(entry, Said) and entry.role == "user"]
    return parse(texts[-1]) if texts else ()


def todo_steps(orders: Iterable[Directive]) -> list[tuple[str, bool]]:
    """Return the todo list after these directives: each entry and whether it is done."""
    entries: dict[str, bool] = {}
    for order in orders:
        match order:
            case Todo(entries=names):
                entries = dict.fromkeys(names, False)
            case Done(entry=name):
                entries[name] = True
            case _:
                pass
    return list(entries.items())


def recalled(conversation: Sequence[Entry]) -> list[dict[str, str]]:
    """Return all that was said, as the directive `recall` answers it."""
    return [{"role": entry.role, "text": entry.text} for entry in conversation if isinstance(entry, Said)]
