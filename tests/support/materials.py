"""What a handoff is made from, with defaults."""

from typing import Any

from midstream.protocol.records.item import UserMessageItem
from midstream.server.handoff.material import Material
from support.records import run, thread


def material(*items: Any, **fields: Any) -> Material:
    """A full summary of runs 1 to 9, answered by codex, for claude; the standing messages are those among the items."""
    runs = tuple(run(ordinal) for ordinal in range(1, 10))
    defaults: dict[str, Any] = {
        "thread": thread(),
        "strategy": "full_thread_summary",
        "runs": runs,
        "items": tuple(items),
        "standing": tuple(item for item in items if isinstance(item, UserMessageItem)),
        "target": "claude",
        "providers_of_runs": {each.ordinal: each.provider for each in runs},
    }
    return Material(**defaults | fields)
