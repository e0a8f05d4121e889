"""Every moment at which a daemon can be killed, made from the unions and contracts that say what it does."""

import inspect
from collections.abc import Iterator
from typing import Final, get_args

from midstream.server.graph.commands import Command
from midstream.server.graph.effects import Effect
from midstream.server.providers.adapter import Driver, Session
from midstream.server.runtime.attachments import AttachmentStore
from midstream.server.runtime.checkpointing import Checkpointer

COMMANDS: Final = tuple(command.__name__ for command in get_args(Command))
EFFECTS: Final = tuple(effect.__name__ for effect in get_args(Effect))


def actions(cls: type) -> tuple[str, ...]:
    """Return the methods by which a contract reaches outside: its coroutines, and the generator of a turn's events."""
    return tuple(
        name
        for name, member in vars(cls).items()
        if not name.startswith("_") and (inspect.iscoroutinefunction(member) or name == "run_turn")
    )


OUTSIDE: Final[dict[str, tuple[str, ...]]] = {
    "Driver": actions(Driver),
    "Session": actions(Session),
    "Checkpointer": actions(Checkpointer),
    "AttachmentStore": actions(AttachmentStore),
}
"""What acts outside the database, by the class that is watched."""


def all_points() -> Iterator[str]:
    """Yield the names of all points: before and after each commit, effect and action."""
    for moment in ("before", "after"):
        yield from (f"{moment} commit of {command}" for command in COMMANDS)
        yield from (f"{moment} effect {effect}" for effect in EFFECTS)
        yield from (f"{moment} {cls}.{name}" for cls, names in OUTSIDE.items() for name in names)
    yield "within AttachmentStore.stored"
