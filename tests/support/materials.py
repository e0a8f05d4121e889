"""What a handoff is made from, with defaults."""

from typing import Any

from midstream.protocol.records.item import Item, UserMessageItem
from midstream.server.handoff.material import ItemFacts, Material
from midstream.server.handoff.redact import Redactor
from midstream.server.handoff.telling import facts_of
from support.records import run, thread


def material(*items: Any, **fields: Any) -> Material:
    """A full summary of runs 1 to 9, answered by codex, for claude; the standing messages are those among the items."""
    standing = fields.pop("standing", [item for item in items if isinstance(item, UserMessageItem)])
    runs = tuple(run(ordinal) for ordinal in range(1, 10))
    defaults: dict[str, Any] = {
        "thread": thread(),
        "strategy": "full_thread_summary",
        "runs": runs,
        "items": tuple(map(item_facts, items)),
        "standing": tuple(map(item_facts, standing)),
        "target": "claude",
        "providers_of_runs": {each.ordinal: each.provider for each in runs},
    }
    return Material(**defaults | fields)


def item_facts(item: Item) -> ItemFacts:
    """What a handoff knows of an item."""
    return ItemFacts(item.id, item.run_id, facts_of(item, Redactor()))
