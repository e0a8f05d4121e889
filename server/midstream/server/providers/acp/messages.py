"""The parts of the Agent Client Protocol that we read, as records: what does not fit is taken as absent."""

from collections.abc import Iterator
from typing import Literal, TypeAlias

from attrs import frozen

from midstream.protocol.base import JsonObject
from midstream.server.providers.reading import block_text, count_of, member, members, text_of

TURN_STARTED = "midstream/turnStarted"
TURN_ID = "midstream/turnId"
SUBAGENT = "midstream/subagent"
PARENT = "midstream/parent"
COMPACTION = "midstream/compaction"
STEER_TAKEN = "midstream/steerTaken"

ToolStatus: TypeAlias = Literal["pending", "in_progress", "completed", "failed"]


@frozen(kw_only=True)
class Chunk:
    """A piece of a message."""

    role: Literal["agentMessage", "reasoning"]
    text: str
    message_id: str | None
    parent: str | None


@frozen(kw_only=True)
class FileDiff:
    """One file's text before and after; a null before is a new file."""

    path: str
    old: str | None
    new: str


@frozen(kw_only=True)
class Subagent:
    """What our own agents tell of a subagent."""

    title: str
    prompt: str
    folder: str | None


@frozen(kw_only=True)
class ToolCallNews:
    """What one message says of a tool call: a null part is unchanged."""

    id: str
    title: str | None
    kind: str | None
    status: ToolStatus | None
    input: object
    output: object
    text: str | None
    diffs: tuple[FileDiff, ...] | None
    links: tuple[tuple[str | None, str], ...] | None
    locations: tuple[str, ...] | None
    subagent: Subagent | None
    parent: str | None


@frozen(kw_only=True)
class PlanNews:
    """The plan as it now stands: text and ACP's status of each step."""

    steps: tuple[tuple[str, str | None], ...]


@frozen(kw_only=True)
class UsageNews:
    """Tokens in the context window, and its size."""

    used: int
    size: int | None


@frozen(kw_only=True)
class ModeNews:
    """The mode that the session is in now."""

    mode_id: str


@frozen(kw_only=True)
class TurnStartedNews:
    """Our own agents' word that they took the turn."""

    turn_id: str | None


@frozen(kw_only=True)
class CompactionNews:
    """Our own agents' word that they compacted their history."""

    summary: str | None


@frozen(kw_only=True)
class SteerTakenNews:
    """Our own agents' word that steered text entered their history."""


Update: TypeAlias = (
    Chunk | ToolCallNews | PlanNews | UsageNews | ModeNews | TurnStartedNews | CompactionNews | SteerTakenNews
)


def parse_update(params: JsonObject) -> Update | None:
    """Read the params of ``session/update``; None where they say nothing to us."""
    update = member(params, "update")
    meta = member(update, "_meta")
    match update.get("sessionUpdate"):
        case "agent_message_chunk" | "agent_thought_chunk" as kind:
            return Chunk(
                role="agentMessage" if kind == "agent_message_chunk" else "reasoning",
                text=block_text(member(update, "content")),
                message_id=text_of(update, "messageId"),
                parent=text_of(meta, PARENT),
            )
        case "tool_call" | "tool_call_update":
            return parse_tool_call(update)
        case "plan":
            entries = members(update, "entries")
            return PlanNews(steps=tuple((text_of(e, "content") or "", text_of(e, "status")) for e in entries))
        case "usage_update" if (used := count_of(update, "used")) is not None:
            return UsageNews(used=used, size=count_of(update, "size"))
        case "current_mode_update" if mode_id := text_of(update, "currentModeId", "modeId"):
            return ModeNews(mode_id=mode_id)
        case "session_info_update" if TURN_STARTED in meta:
            return TurnStartedNews(turn_id=text_of(meta, TURN_ID) or text_of(member(meta, TURN_STARTED), "turnId"))
        case "session_info_update" if STEER_TAKEN in meta:
            return SteerTakenNews()
        case "session_info_update" if COMPACTION in meta:
            return CompactionNews(summary=text_of(meta, COMPACTION) or text_of(member(meta, COMPACTION), "summary"))
        case _:
            return None


def parse_tool_call(call: JsonObject) -> ToolCallNews | None:
    """Read a tool call as an update or a permission request tells it; None where it has no id."""
    call_id = text_of(call, "toolCallId")
    if call_id is None:
        return None
    meta = member(call, "_meta")
    content = members(call, "content") if isinstance(call.get("content"), list) else None
    return ToolCallNews(
        id=call_id,
        title=text_of(call, "title"),
        kind=text_of(call, "kind"),
        status=_tool_status(call.get("status")),
        input=call.get("rawInput"),
        output=call.get("rawOutput"),
        text=None if content is None else "\n".join(_content_texts(content)),
        diffs=None if content is None else tuple(_diffs(content)),
        links=None if content is None else tuple(_links(content)),
        locations=tuple(_paths(call)) if isinstance(call.get("locations"), list) else None,
        subagent=_subagent(meta),
        parent=text_of(meta, PARENT),
    )


def _tool_status(status: object) -> ToolStatus | None:
    match status:
        case "pending" | "in_progress" | "completed" | "failed":
            return status
        case _:
            return None


def _content_texts(content: tuple[JsonObject, ...]) -> Iterator[str]:
    for part in content:
        if part.get("type") == "content" and (text := block_text(member(part, "content"))):
            yield text


def _diffs(content: tuple[JsonObject, ...]) -> Iterator[FileDiff]:
    for part in content:
        if part.get("type") == "diff" and (path := text_of(part, "path")):
            yield FileDiff(path=path, old=text_of(part, "oldText"), new=text_of(part, "newText") or "")


def _links(content: tuple[JsonObject, ...]) -> Iterator[tuple[str | None, str]]:
    for part in content:
        block = member(part, "content")
        if block.get("type") == "resource_link" and (uri := text_of(block, "uri")):
            yield text_of(block, "title", "name"), uri


def _paths(call: JsonObject) -> Iterator[str]:
    return (path for place in members(call, "locations") if (path := text_of(place, "path")))


def _subagent(meta: JsonObject) -> Subagent | None:
    told = member(meta, SUBAGENT)
    if not told:
        return None
    return Subagent(
        title=text_of(told, "title") or "",
        prompt=text_of(told, "prompt") or "",
        folder=text_of(told, "dir"),
    )
