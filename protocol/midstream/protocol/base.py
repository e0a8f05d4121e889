"""What every record is made of: names of ids and times, and how optional fields are marked.

A field written ``name?`` in PROTOCOL.md is made with `optional` and left out of the wire form while it
is None; a field written ``| null`` is always present.
"""

from typing import Any, Final, Literal, TypeAlias

import attrs

JsonObject: TypeAlias = dict[str, object]
Time: TypeAlias = str
"""RFC 3339, UTC, milliseconds: ``2026-12-01T16:00:00.000Z``."""

ThreadId: TypeAlias = str
RunId: TypeAlias = str
ItemId: TypeAlias = str
ProviderThreadId: TypeAlias = str
ProviderSessionId: TypeAlias = str
TransferId: TypeAlias = str
HandoffId: TypeAlias = str
CheckpointId: TypeAlias = str
RequestId: TypeAlias = str
ProviderKind: TypeAlias = str
ReasonCode: TypeAlias = Literal[
    "first_use",
    "already_covered",
    "missed_runs",
    "missing_items",
    "delta_chain_too_long",
    "too_many_missed_runs",
    "too_many_handoffs",
    "incompatible_settings",
    "resume_failed",
    "divergent",
    "clean_context",
    "over_budget",
    "delivery_uncertain",
    "native_fork",
    "portable_fork",
    "merge_back",
    "no_handoff_capability",
    "workspace_moved",
]

LARGEST_INTEGER: Final = 2**53
"""Up to here a client that knows doubles alone reads every integer exactly."""

OPTIONAL: Final = "midstream.optional"


def optional() -> Any:
    """Return the default of a field that is absent from the wire while it is None: Any, as attrs.field itself."""
    return attrs.field(default=None, metadata={OPTIONAL: True})


@attrs.frozen(kw_only=True)
class Position:
    """A place in a document, as LSP counts: zero-based line and UTF-16 character."""

    line: int
    character: int


@attrs.frozen(kw_only=True)
class Range:
    """A half-open stretch of a document, as LSP's Range."""

    start: Position
    end: Position


@attrs.frozen(kw_only=True)
class RunRange:
    """A closed range of run ordinals."""

    from_: int
    to: int


@attrs.frozen(kw_only=True)
class Reason:
    """Why a plan or a record is as it is: a code, and words for the user."""

    code: ReasonCode
    message: str
