"""What a Claude Code can do: the same for each that the SDK works with. It needs no SDK to be told."""

from typing import Final

from midstream.protocol.records.provider import Capabilities, HandoffCapability

CAPABILITIES: Final = Capabilities(
    resume=True,
    fork=True,
    fork_at_turn=True,
    rollback=True,
    steer=True,
    interrupt=True,
    approvals=True,
    questions=True,
    plans=True,
    todos=True,
    subagents=True,
    images=True,
    mcp_servers=True,
    models=True,
    summarize=True,
    handoff=HandoffCapability(channel="separateBlock", delta=True, full=True, context_window=None),
    native_ids="strong",
)
