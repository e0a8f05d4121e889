"""What an agent says of itself in its answer to ``initialize``; pure."""

from collections.abc import Mapping
from typing import Final

from attrs import frozen

from midstream.protocol.base import JsonObject
from midstream.protocol.records.provider import Capabilities, HandoffCapability
from midstream.server.providers.reading import count_of, member, text_of

INTRODUCTION: Final[Mapping[str, object]] = {
    "protocolVersion": 1,
    "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
    "clientInfo": {"name": "midstream", "title": "Midstream", "version": "0"},
}
"""What we say of ourselves. No files and no terminals: some agents cannot create a file where a client reads them."""


@frozen(kw_only=True)
class Agent:
    """What an agent announced; what is not announced is not supported.

    `load` replays a conversation, `resume` does not; the last seven are our own agents' extensions.
    """

    version: str | None
    load: bool
    resume: bool
    fork: bool
    close: bool
    delete: bool
    embedded_context: bool
    images: bool
    fork_at_turn: bool
    rewind: bool
    steer: bool
    questions: bool
    turn_started: bool
    throw_away: bool
    subagents: bool
    context_window: int | None


def parse_agent(initialized: JsonObject) -> Agent:
    """Read the result of ``initialize``."""
    announced = member(initialized, "agentCapabilities")
    sessions = member(announced, "sessionCapabilities")
    prompts = member(announced, "promptCapabilities")
    ours = member(member(announced, "_meta"), "midstream")
    return Agent(
        version=text_of(member(initialized, "agentInfo"), "version"),
        load=announced.get("loadSession") is True,
        resume=_announced(sessions, "resume"),
        fork=_announced(sessions, "fork"),
        close=_announced(sessions, "close"),
        delete=_announced(sessions, "delete"),
        embedded_context=prompts.get("embeddedContext") is True,
        images=prompts.get("image") is True,
        fork_at_turn=ours.get("forkAtTurn") is True,
        rewind=ours.get("rewind") is True,
        steer=ours.get("steer") is True,
        questions=ours.get("questions") is True,
        turn_started=ours.get("turnStarted") is True,
        throw_away=ours.get("throwAway") is True,
        subagents=bool(ours),
        context_window=count_of(ours, "contextWindow"),
    )


def _announced(capabilities: JsonObject, name: str) -> bool:
    return isinstance(capabilities.get(name), dict) or capabilities.get(name) is True


def capabilities(agent: Agent, models: bool) -> Capabilities:
    """Return what the runtime may count on; `models` tells whether a session offered a choice."""
    return Capabilities(
        resume=agent.resume or agent.load,
        fork=agent.fork,
        fork_at_turn=agent.fork_at_turn,
        rollback=agent.rewind,
        steer=agent.steer,
        interrupt=True,
        approvals=True,
        questions=agent.questions,
        plans=False,
        todos=True,
        subagents=agent.subagents,
        images=agent.images,
        mcp_servers=True,
        models=models,
        summarize=agent.throw_away,
        handoff=HandoffCapability(
            channel="embeddedResource" if agent.embedded_context else "inlinePreamble",
            delta=True,
            full=True,
            context_window=agent.context_window,
        ),
        native_ids="strong" if agent.turn_started else "weak",
    )
