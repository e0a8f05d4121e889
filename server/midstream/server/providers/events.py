"""What happens in a turn. `ref` is the provider's own id of a thing, unique in its native conversation."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Literal, TypeAlias, TypeVar

from attrs import frozen

from midstream.protocol.records.item import (
    ItemStatus,
)
from midstream.protocol.records.request import Decision, Question, RequestDetail, RequestKind
from midstream.protocol.records.run import Failure, Usage
from midstream.server.providers.drafts import Draft


@frozen(kw_only=True)
class TurnAccepted:
    """The provider took the turn: from here on it counts as covered. Comes once, before any other event."""

    turn_ref: str | None


@frozen(kw_only=True)
class ItemChanged:
    """An item began, changed or ended: the first with a `ref` makes it, later ones replace what it says."""

    ref: str
    parent_ref: str | None
    draft: Draft
    status: ItemStatus


@frozen(kw_only=True)
class OutputAppended:
    """Text added to an item of this turn that was announced by `ItemChanged`."""

    ref: str
    field: Literal["text", "output", "markdown"]
    text: str


@frozen(kw_only=True)
class NativeOption:
    """A way to decide, with the provider's own id and label."""

    option_id: str
    decision: Decision
    label: str


@frozen(kw_only=True)
class RequestAsked:
    """The provider asks and waits; `ref` names the question in `Session.respond`."""

    ref: str
    target_ref: str | None
    kind: RequestKind
    prompt: str
    detail: RequestDetail
    options: tuple[NativeOption, ...]
    accepts_message: bool
    questions: tuple[Question, ...] | None = None


@frozen(kw_only=True)
class RequestWithdrawn:
    """The provider no longer waits for this answer."""

    ref: str


@frozen(kw_only=True)
class SteerTaken:
    """The earliest of the queued steered words entered the native conversation."""


@frozen(kw_only=True)
class UsageReported:
    """Usage of the turn so far."""

    usage: Usage


@frozen(kw_only=True)
class HistoryCompacted:
    """The provider compacted its own history."""

    summary: str | None


@frozen(kw_only=True)
class TurnEnded:
    """The root turn is over: the last event of a turn. A child's end never is one.

    `lost` where the process went with it that held the conversation, though the session itself may go on.
    """

    status: Literal["completed", "interrupted", "failed"]
    failure: Failure | None = None
    lost: bool = False


ProviderEvent: TypeAlias = (
    TurnAccepted
    | ItemChanged
    | OutputAppended
    | RequestAsked
    | RequestWithdrawn
    | SteerTaken
    | UsageReported
    | HistoryCompacted
    | TurnEnded
)

Events: TypeAlias = tuple[ProviderEvent, ...]
E = TypeVar("E")


def merged(events: Iterable[E]) -> Iterator[E | OutputAppended]:
    """Join text that follows text of the same field, all pieces at once: one after another costs their square."""
    for place, group in groupby(events, _text_place):
        if place is None:
            yield from group
        else:
            ref, field = place
            yield OutputAppended(ref=ref, field=field, text="".join(_text_of(event) for event in group))


def _text_place(event: object) -> tuple[str, Literal["text", "output", "markdown"]] | None:
    return (event.ref, event.field) if isinstance(event, OutputAppended) else None


def _text_of(event: object) -> str:
    assert isinstance(event, OutputAppended)
    return event.text
