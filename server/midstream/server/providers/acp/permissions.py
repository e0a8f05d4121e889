"""Permission requests: what is asked of the user, and the answer that the agent gets; pure.

Option ids are the agent's own and say nothing: an option is known by its kind, and kinds can repeat.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Literal, TypeAlias

from attrs import frozen

from midstream.protocol.base import JsonObject
from midstream.protocol.records.request import (
    Decision,
    ProposedChange,
    Question,
    QuestionOption,
    RequestDetail,
    RequestKind,
)
from midstream.protocol.records.request import ToolCall as AskedTool
from midstream.server.providers.acp.messages import ToolCallNews, parse_tool_call
from midstream.server.providers.acp.tools import ToolCall, command_of
from midstream.server.providers.adapter import Reply
from midstream.server.providers.events import NativeOption, RequestAsked
from midstream.server.providers.reading import member, members, text_of

QUESTION = "midstream/question"
ANSWER = "midstream/answer"
CANCELLED: Final[Mapping[str, object]] = {"outcome": {"outcome": "cancelled"}}

OptionKind: TypeAlias = Literal["allow_once", "allow_always", "reject_once", "reject_always"]

_DECISIONS: Mapping[OptionKind, Decision] = {
    "allow_once": "accept",
    "allow_always": "acceptForSession",
    "reject_once": "decline",
    "reject_always": "decline",
}
# What may stand in for a decision, best first: never more than what was decided.
_ACCEPTABLE: Mapping[Decision, tuple[OptionKind, ...]] = {
    "accept": ("allow_once",),
    "acceptForSession": ("allow_always", "allow_once"),
    "decline": ("reject_once", "reject_always"),
    "cancel": (),
}
_KINDS: Mapping[str, RequestKind] = {
    "execute": "command",
    "edit": "fileChange",
    "delete": "fileChange",
    "move": "fileChange",
    "read": "fileRead",
    "search": "tool",
    "fetch": "tool",
    "think": "tool",
    "other": "tool",
}


@frozen(kw_only=True)
class PermissionOption:
    """One way to answer."""

    id: str
    name: str
    kind: OptionKind


@frozen(kw_only=True)
class Permission:
    """The params of ``session/request_permission``; `question` is our own agents' extension."""

    call: ToolCallNews | None
    title: str | None
    options: tuple[PermissionOption, ...]
    question: Question | None


def parse_permission(params: JsonObject) -> Permission:
    """Read a permission request; options of a kind that we do not know are left out."""
    call = member(params, "toolCall")
    options = tuple(_options(params))
    return Permission(
        call=parse_tool_call(call),
        title=text_of(call, "title"),
        options=options,
        question=_question(member(member(params, "_meta"), QUESTION), options),
    )


def _options(params: JsonObject) -> Iterator[PermissionOption]:
    for option in members(params, "options"):
        match option:
            case {
                "optionId": str(option_id),
                "kind": "allow_once" | "allow_always" | "reject_once" | "reject_always" as kind,
            }:
                yield PermissionOption(id=option_id, name=text_of(option, "name") or option_id, kind=kind)
            case _:
                pass


def _question(told: JsonObject, options: tuple[PermissionOption, ...]) -> Question | None:
    text = text_of(told, "text")
    if text is None:
        return None
    labels = tuple(QuestionOption(label=option.name) for option in options)
    return Question(id="answer", text=text, options=labels, multiple=False, free_text=told.get("freeText") is True)


def request_asked(ref: str, asked: Permission, call: ToolCall | None, workspace: Path) -> RequestAsked:
    """Return the request that the user is to see; `call` is all that is known of the tool call."""
    if asked.question is not None:
        return RequestAsked(
            ref=ref,
            target_ref=None,
            kind="userInput",
            prompt=asked.question.text,
            detail=RequestDetail(),
            options=(),
            accepts_message=False,
            questions=(asked.question,),
        )
    title = asked.title or (call.title if call is not None else "")
    return RequestAsked(
        ref=ref,
        target_ref=None if call is None else call.id,
        kind="permission" if call is None else _request_kind(call),
        prompt=title or "The agent asks for permission.",
        detail=RequestDetail() if call is None else _detail(call, workspace),
        options=tuple(
            NativeOption(option_id=option.id, decision=_DECISIONS[option.kind], label=option.name)
            for option in asked.options
        ),
        accepts_message=False,
    )


def _request_kind(call: ToolCall) -> RequestKind:
    match call.shape:
        case "command" | "fileChange":
            return call.shape
        case _:
            return _KINDS.get(call.kind or "", "permission")


def _detail(call: ToolCall, workspace: Path) -> RequestDetail:
    match call.shape:
        case "command":
            cwd = text_of(call.input, "cwd", "workdir", "directory") or str(workspace)
            return RequestDetail(command=command_of(call), cwd=cwd, reason=text_of(call.input, "reason", "description"))
        case "fileChange":
            changes = tuple(
                ProposedChange(path=change.path, kind=change.kind, old_path=change.old_path, diff=change.diff)
                for change in call.changes
            )
            return RequestDetail(changes=changes)
        case _:
            tool = AskedTool(name=call.title or call.kind or "tool", input=call.input)
            return RequestDetail(tool=tool, reason=call.text or None)


def answer(asked: Permission, reply: Reply) -> JsonObject:
    """Return the result for the agent: what was decided or less, and `cancelled` where no option is that."""
    if asked.question is not None and reply.answers and reply.decision in ("accept", "acceptForSession"):
        return _question_answer(asked, reply.answers[0].values)
    acceptable = [option for kind in _ACCEPTABLE[reply.decision] for option in asked.options if option.kind == kind]
    chosen = next((option for option in acceptable if option.id == reply.option_id), None)
    if chosen is None and acceptable:
        chosen = acceptable[0]
    return dict(CANCELLED) if chosen is None else _selected(chosen)


def _question_answer(asked: Permission, values: tuple[str, ...]) -> JsonObject:
    words = ", ".join(values)
    named = [option for option in asked.options if option.name == words]
    chosen = next(iter(named or asked.options), None)
    return dict(CANCELLED) if chosen is None else {**_selected(chosen), "_meta": {ANSWER: words}}


def _selected(option: PermissionOption) -> JsonObject:
    return {"outcome": {"outcome": "selected", "optionId": option.id}}
