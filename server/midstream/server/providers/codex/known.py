"""Which notifications and items of Codex we know: the others go to the diagnostics log; pure."""

from collections.abc import Iterator
from typing import Final

from midstream.server.providers.codex.protocol import Delegation, parse_item
from midstream.server.providers.connection import Notification
from midstream.server.providers.reading import member

USED: Final = frozenset(
    {
        "error",
        "guardianWarning",
        "item/agentMessage/delta",
        "item/commandExecution/outputDelta",
        "item/completed",
        "item/fileChange/patchUpdated",
        "item/plan/delta",
        "item/reasoning/summaryPartAdded",
        "item/reasoning/summaryTextDelta",
        "item/reasoning/textDelta",
        "item/started",
        "model/rerouted",
        "serverRequest/resolved",
        "thread/tokenUsage/updated",
        "turn/completed",
        "turn/plan/updated",
        "turn/started",
        "warning",
    }
)
IGNORED: Final = frozenset(
    {
        "account/updated",
        "configWarning",
        "deprecationNotice",
        "hook/completed",
        "hook/started",
        "item/commandExecution/terminalInteraction",
        "item/fileChange/outputDelta",
        "item/mcpToolCall/progress",
        "mcpServer/startupStatus/updated",
        "remoteControl/status/changed",
        "skills/changed",
        "thread/closed",
        "thread/compacted",
        "thread/name/updated",
        "thread/readState/changed",
        "thread/reverted",
        "thread/settings/updated",
        "thread/started",
        "thread/status/changed",
        "turn/diff/updated",
    }
)
"""What we know and do not need."""


def is_known(told: Notification) -> bool:
    """Return whether we know what a notification, and the item in it, says."""
    if told.method in ("item/started", "item/completed"):
        return parse_item(member(told.params, "item")) is not None
    return told.method in USED


def children_of(told: Notification) -> Iterator[str]:
    """Yield the threads of subagents that an item tells of."""
    item = parse_item(member(told.params, "item")) if told.method in ("item/started", "item/completed") else None
    if isinstance(item, Delegation):
        yield from item.child_threads
