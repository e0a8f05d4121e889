"""The parts of Codex's app-server protocol that we read, as records: what does not fit is taken as absent."""

from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from attrs import frozen

from midstream.protocol.base import JsonObject
from midstream.server.providers.reading import block_text, member, members, text_of

Status: TypeAlias = Literal["inProgress", "completed", "failed", "declined", "interrupted"]

# Collaboration tools that make a child's next turn ours: its items belong below the call.
_DELEGATING: Final = frozenset({"spawnAgent", "sendInput", "resumeAgent", "sendMessage", "followupTask"})


@frozen(kw_only=True)
class UserMessage:
    """Words of the user that entered the native conversation; `client_id` is the one that we sent them with."""

    id: str
    client_id: str | None


@frozen(kw_only=True)
class Message:
    """What the agent says or thinks aloud."""

    id: str
    role: Literal["agentMessage", "reasoning"]
    text: str


@frozen(kw_only=True)
class ProposedPlan:
    """A plan that the agent proposes."""

    id: str
    text: str


@frozen(kw_only=True)
class Command:
    """A command; `output` is both streams together, null until it ended."""

    id: str
    command: str
    cwd: str
    status: Status
    output: str | None
    exit_code: int | None


@frozen(kw_only=True)
class Change:
    """One file of a patch: an added or deleted file comes with its text, a changed one with hunks."""

    path: str
    kind: Literal["add", "delete", "update"]
    moved_to: str | None
    diff: str


@frozen(kw_only=True)
class Patch:
    """Files that the agent changes."""

    id: str
    changes: tuple[Change, ...]
    status: Status


@frozen(kw_only=True)
class ToolCall:
    """A call of any other tool."""

    id: str
    server: str | None
    name: str
    input: object
    output: str | None
    status: Status


@frozen(kw_only=True)
class WebSearch:
    """A search of the web, its hits as title and address."""

    id: str
    query: str
    hits: tuple[tuple[str | None, str], ...]


@frozen(kw_only=True)
class Delegation:
    """Work given to subagents; each has a thread of its own, in which its items happen."""

    id: str
    prompt: str
    name: str | None
    child_threads: tuple[str, ...]
    status: Status


@frozen(kw_only=True)
class Compaction:
    """Codex compacted its own history."""

    id: str


@frozen(kw_only=True)
class Silent:
    """An item that says nothing to a user."""

    id: str


Item: TypeAlias = (
    UserMessage | Message | ProposedPlan | Command | Patch | ToolCall | WebSearch | Delegation | Compaction | Silent
)


def parse_item(item: JsonObject) -> Item | None:
    """Read an item; None where it is of a type that we do not know, or has no id."""
    item_id = text_of(item, "id")
    if item_id is None:
        return None
    match item.get("type"):
        case "userMessage":
            return UserMessage(id=item_id, client_id=text_of(item, "clientId"))
        case "agentMessage":
            return Message(id=item_id, role="agentMessage", text=text_of(item, "text") or "")
        case "reasoning":
            texts = [*_texts(item, "summary"), *_texts(item, "content")]
            return Message(id=item_id, role="reasoning", text="\n\n".join(texts))
        case "plan":
            return ProposedPlan(id=item_id, text=text_of(item, "text") or "")
        case "commandExecution":
            return Command(
                id=item_id,
                command=text_of(item, "command") or "",
                cwd=text_of(item, "cwd") or "",
                status=_status(item),
                output=text_of(item, "aggregatedOutput"),
                exit_code=_exit_code(item),
            )
        case "fileChange":
            return Patch(id=item_id, changes=parse_changes(item), status=_status(item))
        case "mcpToolCall" | "dynamicToolCall":
            return _tool_call(item_id, item)
        case "webSearch":
            hits = tuple(
                (text_of(hit, "title"), url) for hit in members(item, "results") if (url := text_of(hit, "url"))
            )
            return WebSearch(id=item_id, query=text_of(item, "query") or "", hits=hits)
        case "collabAgentToolCall" | "subAgentActivity":
            return _delegation(item_id, item)
        case "contextCompaction":
            return Compaction(id=item_id)
        case "imageView" | "imageGeneration" | "sleep" as kind:
            given = {name: value for name, value in item.items() if name in ("path", "durationMs", "revisedPrompt")}
            return ToolCall(id=item_id, server=None, name=kind, input=given, output=None, status=_status(item))
        case "hookPrompt" | "functionCallOutput" | "enteredReviewMode" | "exitedReviewMode":
            return Silent(id=item_id)
        case _:
            return None


def _hits(item: JsonObject) -> Iterator[tuple[str | None, str]]:
    for hit in members(item, "results"):
        if url := text_of(hit, "url"):
            yield text_of(hit, "title"), url


def parse_changes(params: JsonObject) -> tuple[Change, ...]:
    """Read the changes of a patch."""
    return tuple(_changes(params))


def _changes(params: JsonObject) -> Iterator[Change]:
    for change in members(params, "changes"):
        kind = member(change, "kind")
        match change.get("path"), kind.get("type"):
            case str(path), "add" | "delete" | "update" as type_:
                moved_to = text_of(kind, "move_path")
                yield Change(path=path, kind=type_, moved_to=moved_to, diff=text_of(change, "diff") or "")
            case _:
                pass


def _tool_call(item_id: str, item: JsonObject) -> ToolCall:
    result = member(item, "result")
    parts = members(result, "content") or members(item, "contentItems")
    said = "\n".join(text for part in parts if (text := block_text(part) or text_of(part, "text")))
    return ToolCall(
        id=item_id,
        server=text_of(item, "server", "namespace"),
        name=text_of(item, "tool") or "tool",
        input=item.get("arguments"),
        output=text_of(member(item, "error"), "message") or said or None,
        status=_status(item),
    )


def _delegation(item_id: str, item: JsonObject) -> Item:
    """Read both ways in which Codex tells of subagents."""
    if item.get("type") == "subAgentActivity":
        child = text_of(item, "agentThreadId")
        if item.get("kind") != "started" or child is None:
            return Silent(id=item_id)
        return Delegation(
            id=item_id, prompt="", name=text_of(item, "agentPath"), child_threads=(child,), status="completed"
        )
    name, prompt = text_of(item, "tool") or "", text_of(item, "prompt") or ""
    told = item.get("receiverThreadIds")
    children = tuple(one for one in told if isinstance(one, str)) if isinstance(told, list) else ()
    if name in _DELEGATING:
        return Delegation(id=item_id, prompt=prompt, name=None, child_threads=children, status=_status(item))
    return ToolCall(id=item_id, server=None, name=name, input={}, output=None, status=_status(item))


def _status(item: JsonObject) -> Status:
    match item.get("status"):
        case "inProgress" | "completed" | "failed" | "declined" | "interrupted" as status:
            return status
        case _:
            return "completed"


def _exit_code(item: JsonObject) -> int | None:
    code = item.get("exitCode")
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def _texts(item: JsonObject, name: str) -> list[str]:
    found = item.get(name)
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []
