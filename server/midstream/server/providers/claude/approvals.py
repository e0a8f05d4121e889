"""What Claude Code asks before it uses a tool, what a runtime mode answers by itself, and the user's answer; pure."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Literal, TypeAlias

from attrs import frozen
from claude_agent_sdk import (
    PermissionResult,
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionUpdate,
    ToolPermissionContext,
)

from midstream.protocol.records.request import (
    Decision,
    ProposedChange,
    Question,
    QuestionOption,
    RequestDetail,
    RequestKind,
)
from midstream.protocol.records.request import ToolCall as AskedTool
from midstream.protocol.records.thread import RuntimeMode
from midstream.server.providers.adapter import Reply
from midstream.server.providers.claude.tools import WRITERS, Call, changed_file, tool_name
from midstream.server.providers.events import NativeOption, RequestAsked
from midstream.server.providers.reading import members, text_of

Verdict: TypeAlias = Literal["ask", "allow", "deny"]
QUESTIONS: Final = "AskUserQuestion"
PLAN: Final = "ExitPlanMode"
PLANNING_BEGINS: Final = "EnterPlanMode"
DECLINED: Final = "The user declined this."
READ_ONLY: Final = "Nothing may be changed in this conversation: it is read-only. Go on without it."
PLANNING: Final = "Nothing may be changed before the user has accepted a plan. Go on planning."
NOBODY: Final = "Nobody can be asked now."
_LABELS: Final[Mapping[Decision, str]] = {
    "accept": "Allow",
    "acceptForSession": "Allow for this session",
    "decline": "Decline",
    "cancel": "Decline and stop",
}
_READERS: Final = frozenset({"Read", "Glob", "Grep", "LS", "NotebookRead"})
_ELSEWHERE: Final = ("mcp__", "Web")
"""How the tools begin that change nothing here, as far as anybody knows: the user is asked."""


@frozen
class Ask:
    """A tool that Claude Code asks leave for, and the rules that it suggests for later."""

    call: Call
    reason: str | None
    suggestions: tuple[PermissionUpdate, ...] = ()


def ask_of(name: str, given: dict[str, object], context: ToolPermissionContext) -> Ask:
    """Read what Claude Code asks."""
    call = Call(id=context.tool_use_id or "", name=name, input=given)
    reason = context.decision_reason or context.blocked_path
    return Ask(call, reason, tuple(_of_session(context.suggestions)))


def _of_session(suggestions: list[PermissionUpdate]) -> Iterator[PermissionUpdate]:
    """Yield what is suggested as it would hold for the session alone: elsewhere it would be written to settings."""
    for one in suggestions:
        yield PermissionUpdate(
            type=one.type,
            rules=one.rules,
            behavior=one.behavior,
            mode=one.mode,
            directories=one.directories,
            destination="session",
        )


def verdict(ask: Ask, mode: RuntimeMode, *, planning: bool) -> Verdict:
    """Return what a mode answers to it; the user's questions and plans are the user's in every mode."""
    name = ask.call.name
    if name in (QUESTIONS, PLAN):
        return "ask"
    if planning or mode == "readOnly":
        return "ask" if name in _READERS or name.startswith(_ELSEWHERE) else "deny"
    return "allow" if mode == "fullAccess" else "ask"


def refusal(*, planning: bool) -> PermissionResultDeny:
    """Return the answer to what a mode forbids."""
    return deny(PLANNING if planning else READ_ONLY)


def deny(message: str) -> PermissionResultDeny:
    """Return a refusal; the model reads the message."""
    return PermissionResultDeny(message=message)


def request_asked(ref: str, ask: Ask, target_ref: str | None, workspace: Path) -> RequestAsked:
    """Return the request that the user is to see."""
    questions = asked_questions(ask.call) if ask.call.name == QUESTIONS else None
    return RequestAsked(
        ref=ref,
        target_ref=target_ref,
        kind="userInput" if questions else _kind(ask.call.name),
        prompt=_prompt(ask),
        detail=_detail(ask, workspace),
        options=() if questions else tuple(_options(ask)),
        accepts_message=questions is None,
        questions=questions,
    )


def _kind(name: str) -> RequestKind:
    if name == "Bash":
        return "command"
    if name in WRITERS:
        return "fileChange"
    return "fileRead" if name in _READERS else "tool"


def _prompt(ask: Ask) -> str:
    given = ask.call.input
    match ask.call.name:
        case "Bash":
            return text_of(given, "description") or f"Run {text_of(given, 'command')}"
        case name if name in WRITERS:
            return f"Change {text_of(given, 'file_path', 'notebook_path')}"
        case name if name == QUESTIONS:
            return "Claude asks a question."
        case name if name == PLAN:
            return "Claude proposes a plan. Go on with it?"
        case name:
            return f"Use {name}"


def _detail(ask: Ask, workspace: Path) -> RequestDetail:
    call = ask.call
    match call.name:
        case "Bash":
            command = text_of(call.input, "command")
            return RequestDetail(command=command, cwd=str(workspace), reason=ask.reason)
        case name if name in WRITERS:
            file = changed_file(call, workspace)
            change = ProposedChange(path=file.path, kind=file.kind, old_path=None, diff=file.diff)
            return RequestDetail(changes=(change,), reason=ask.reason)
        case name if name == QUESTIONS:
            return RequestDetail()
        case name:
            server, tool = tool_name(name)
            return RequestDetail(tool=AskedTool(name=tool, server=server, input=call.input), reason=ask.reason)


def _options(ask: Ask) -> Iterator[NativeOption]:
    lasting: tuple[Decision, ...] = ("acceptForSession",) if ask.suggestions else ()
    offered: tuple[Decision, ...] = ("accept", *lasting, "decline", "cancel")
    for decision in offered:
        yield NativeOption(option_id=decision, decision=decision, label=_LABELS[decision])


def asked_questions(call: Call) -> tuple[Question, ...]:
    """Read the questions of ``AskUserQuestion``; Claude Code knows an answer by its question's words."""
    return tuple(
        Question(
            id=text,
            header=text_of(one, "header"),
            text=text,
            options=tuple(
                QuestionOption(label=label, description=text_of(option, "description"))
                for option in members(one, "options")
                if (label := text_of(option, "label")) is not None
            ),
            multiple=one.get("multiSelect") is True,
            free_text=True,
        )
        for one in members(call.input, "questions")
        if (text := text_of(one, "question")) is not None
    )


def answer(ask: Ask, reply: Reply) -> PermissionResult:
    """Return the answer for Claude Code: what was decided, or less."""
    match reply.decision:
        case "accept" | "acceptForSession" if ask.call.name == QUESTIONS:
            given = {one.question_id: ", ".join(one.values) for one in reply.answers or ()}
            return PermissionResultAllow(updated_input={**ask.call.input, "answers": given})
        case "accept":
            return PermissionResultAllow()
        case "acceptForSession":
            return PermissionResultAllow(updated_permissions=list(ask.suggestions))
        case "decline":
            return PermissionResultDeny(message=reply.message or DECLINED)
        case "cancel":
            return PermissionResultDeny(message=reply.message or DECLINED, interrupt=True)
