"""What Codex asks of the user, and the answer that it gets; pure.

Amendments of its own rules that Codex offers to make are never among the options: they would stay for good.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, TypeAlias

from attrs import frozen

from midstream.protocol.base import JsonObject
from midstream.protocol.records.request import Decision, RequestDetail, RequestKind, ToolCall
from midstream.server.providers.adapter import Reply
from midstream.server.providers.codex.items import plain_command, proposed_changes
from midstream.server.providers.codex.protocol import Change
from midstream.server.providers.codex.questions import asked_questions, given_answers, schema_content, schema_questions
from midstream.server.providers.connection import Request
from midstream.server.providers.events import NativeOption, RequestAsked
from midstream.server.providers.reading import member, text_of

Shape: TypeAlias = Literal["command", "fileChange", "permissions", "questions", "elicitation"]

_SHAPES: Final[Mapping[str, Shape]] = {
    "item/commandExecution/requestApproval": "command",
    "item/fileChange/requestApproval": "fileChange",
    "item/permissions/requestApproval": "permissions",
    "item/tool/requestUserInput": "questions",
    "mcpServer/elicitation/request": "elicitation",
}
_LABELS: Final[Mapping[Decision, str]] = {
    "accept": "Allow",
    "acceptForSession": "Allow for this session",
    "decline": "Decline",
    "cancel": "Decline and stop",
}


@frozen
class Approval:
    """A request of Codex that waits for its answer."""

    request: Request
    shape: Shape

    @property
    def params(self) -> JsonObject:
        """What it asks."""
        return self.request.params


def parse_approval(request: Request) -> Approval | None:
    """Read a request; None where it is not one for the user."""
    shape = _SHAPES.get(request.method)
    return None if shape is None else Approval(request, shape)


def request_asked(
    ref: str, asked: Approval, target_ref: str | None, changes: tuple[Change, ...], workspace: Path
) -> RequestAsked:
    """Return the request that the user is to see; `changes` are those of the patch that it is about."""
    params = asked.params
    questions = None
    match asked.shape:
        case "questions":
            questions = asked_questions(params)
        case "elicitation":
            questions = schema_questions(params)
        case "command" | "fileChange" | "permissions":
            pass
    return RequestAsked(
        ref=ref,
        target_ref=target_ref,
        kind="userInput" if questions else _kind(asked),
        prompt=_prompt(asked),
        detail=_detail(asked, changes, workspace),
        options=() if questions else _options(asked),
        accepts_message=False,
        questions=questions,
    )


def _kind(asked: Approval) -> RequestKind:
    match asked.shape:
        case "command" | "fileChange" as kind:
            return kind
        case "permissions":
            return "permission"
        case "questions":
            return "userInput"
        case "elicitation":
            return "tool"


def _prompt(asked: Approval) -> str:
    params = asked.params
    match asked.shape:
        case "command":
            return text_of(params, "reason") or f"Run {plain_command(text_of(params, 'command') or 'a command')}"
        case "fileChange":
            return text_of(params, "reason") or "Change files"
        case "permissions":
            return text_of(params, "reason") or "Codex asks for more permissions."
        case "questions":
            return "Codex asks a question."
        case "elicitation":
            server = text_of(params, "serverName") or "An MCP server"
            return text_of(params, "message", "description") or f"{server} asks."


def _detail(asked: Approval, changes: tuple[Change, ...], workspace: Path) -> RequestDetail:
    params = asked.params
    match asked.shape:
        case "command":
            command = text_of(params, "command")
            return RequestDetail(
                command=None if command is None else plain_command(command),
                cwd=text_of(params, "cwd"),
                reason=_wants(params) or text_of(params, "reason"),
            )
        case "fileChange":
            return RequestDetail(changes=proposed_changes(changes, workspace), reason=text_of(params, "reason"))
        case "permissions":
            tool = ToolCall(name="request_permissions", input=params.get("permissions"))
            return RequestDetail(tool=tool, cwd=text_of(params, "cwd"), reason=text_of(params, "reason"))
        case "questions":
            return RequestDetail()
        case "elicitation":
            meta = member(params, "_meta")
            name = text_of(meta, "tool_name") or "elicitation"
            tool = ToolCall(name=name, server=text_of(params, "serverName"), input=meta.get("tool_params"))
            return RequestDetail(tool=tool, reason=text_of(params, "url"))


def _wants(params: JsonObject) -> str | None:
    """Return in words what a command needs beyond its sandbox."""
    network = member(params, "networkApprovalContext")
    if host := text_of(network, "host"):
        return f"It wants to reach {host}."
    more = params.get("additionalPermissions")
    return f"It wants more permissions: {more}." if isinstance(more, dict) else None


def _options(asked: Approval) -> tuple[NativeOption, ...]:
    return tuple(
        NativeOption(option_id=decision, decision=decision, label=_LABELS[decision]) for decision in _offered(asked)
    )


def _offered(asked: Approval) -> tuple[Decision, ...]:
    """Return the decisions that Codex takes; a plain refusal it takes always."""
    lasting: tuple[Decision, ...] = ("acceptForSession",) if _may_last(asked) else ()
    match asked.shape:
        case "permissions":
            return ("accept", *lasting, "decline")
        case _:
            return ("accept", *lasting, "decline", "cancel")


def _may_last(asked: Approval) -> bool:
    if asked.shape == "elicitation":
        persist = member(asked.params, "_meta").get("persist")
        return persist == "session" or (isinstance(persist, list) and "session" in persist)
    available = asked.params.get("availableDecisions")
    return "acceptForSession" in available if isinstance(available, list) else True


def answer(asked: Approval, reply: Reply) -> JsonObject:
    """Return the result for Codex: what was decided, or less."""
    decision = reply.decision
    if decision == "acceptForSession" and not _may_last(asked):
        decision = "accept"
    accepted = decision in ("accept", "acceptForSession")
    match asked.shape:
        case "command" | "fileChange":
            return {"decision": decision}
        case "permissions":
            granted = asked.params.get("permissions") if accepted else {}
            return {"permissions": granted, "scope": "session" if decision == "acceptForSession" else "turn"}
        case "questions":
            return {"answers": given_answers(reply.answers or ()) if accepted else {}}
        case "elicitation":
            return _elicited(asked, decision, reply)


def _elicited(asked: Approval, decision: Decision, reply: Reply) -> JsonObject:
    match decision:
        case "accept" | "acceptForSession":
            content = schema_content(asked.params, reply.answers or ())
            meta = {"persist": "session"} if decision == "acceptForSession" else None
            return {"action": "accept", "content": content, "_meta": meta}
        case refused:
            return {"action": refused, "content": None, "_meta": None}


def refusal(asked: Approval) -> JsonObject:
    """Return the answer where nobody can be asked."""
    return answer(asked, Reply(decision="decline", option_id=None, answers=None, message=None))
