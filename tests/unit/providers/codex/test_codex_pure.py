"""The Codex driver's pure parts: parts of a handoff, items, requests and their answers, failures, settings."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.protocol.records.config import ProviderConfig
from midstream.protocol.records.item import WebResult
from midstream.protocol.records.request import Answer, Decision
from midstream.protocol.records.thread import RuntimeMode
from midstream.server.providers.adapter import ContextBlock, ImageBlock, Reply, ThreadOptions, TurnInput
from midstream.server.providers.codex.approvals import answer, parse_approval, request_asked
from midstream.server.providers.codex.driver import CodexDriver
from midstream.server.providers.codex.failures import reset_at, turn_failure
from midstream.server.providers.codex.input import PART_BYTES, additional_context, turn_input
from midstream.server.providers.codex.items import draft, plain_command, status
from midstream.server.providers.codex.policy import POLICIES, turn_policy
from midstream.server.providers.codex.protocol import parse_item
from midstream.server.providers.codex.updates import Translator
from midstream.server.providers.connection import Notification, Request
from midstream.server.providers.drafts import (
    CommandDraft,
    FileChangeDraft,
    MessageDraft,
    PlanDraft,
    SubagentDraft,
    ToolDraft,
    WebSearchDraft,
)
from midstream.server.providers.events import ItemChanged, OutputAppended, UsageReported

WORKSPACE = Path("/project")
NARROWEST_FIRST: tuple[RuntimeMode, ...] = ("readOnly", "approvalRequired", "autoAcceptEdits", "fullAccess")


def handed_over(context: dict[str, Any]) -> str:
    """The text that the model gets: the parts in the order of their names, which is how Codex keeps them."""
    return "".join(context[name]["value"] for name in sorted(context))


def block(text: str, channel: Any = "nativeData", name: str = "hof_1") -> ContextBlock:
    return ContextBlock(handoff_id=name, channel=channel, text=text)


@given(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=3000), max_size=6))
def test_the_parts_of_a_handoff_are_small_and_together_its_very_bytes(lines: list[str]) -> None:
    text = "\n".join(lines)
    context = additional_context(TurnInput(context=(block(text),), attachments=(), text="hi"))
    assert handed_over(context) == text
    for part in context.values():
        assert isinstance(part, dict)
        assert part["kind"] == "untrusted"
        assert 0 < len(part["value"].encode()) <= PART_BYTES


@pytest.mark.parametrize("character", ["x", "\u00e9", "\u20ac", "\U0001f600"])
def test_a_line_longer_than_a_part_is_cut_between_characters(character: str) -> None:
    text = f"- short\n{character * 20_000}\n- end"
    context = additional_context(TurnInput(context=(block(text),), attachments=(), text="hi"))
    assert handed_over(context) == text
    assert all(len(part["value"].encode()) <= PART_BYTES for part in context.values())  # type: ignore[index,call-overload]


def test_handoffs_keep_their_order_whatever_their_ids_are() -> None:
    blocks = (block("first\n" * 2000, name="hof_9"), block("second", name="hof_1"))
    context = additional_context(TurnInput(context=blocks, attachments=(), text="hi"))
    assert handed_over(context) == "first\n" * 2000 + "second"


def test_without_the_context_channel_a_handoff_is_a_part_of_its_own_before_the_users_text() -> None:
    image = ImageBlock(mime_type="image/png", base64="AAAA")
    turn = TurnInput(context=(block("# Handoff", "separateBlock"),), attachments=(image,), text=" as typed ")
    assert additional_context(turn) == {}
    first, second, third = turn_input(turn)
    assert (first["text"], second["url"], third["text"]) == ("# Handoff", "data:image/png;base64,AAAA", " as typed ")


@pytest.mark.parametrize(
    ("command", "plain"),
    [
        ("/bin/bash -lc 'echo hi > a'", "echo hi > a"),
        ("/usr/bin/zsh -c ls", "ls"),
        ("python -c pass", "python -c pass"),
        ("bash -lc 'unclosed", "bash -lc 'unclosed"),
        ("make test", "make test"),
    ],
)
def test_a_command_is_shown_without_the_shell_around_it(command: str, plain: str) -> None:
    assert plain_command(command) == plain


def test_a_moved_file_is_a_rename_with_both_names_in_its_diff() -> None:
    change = {
        "path": "/project/a.txt",
        "kind": {"type": "update", "move_path": "/project/b.txt"},
        "diff": "@@ -1 +1 @@\n-ho\n+hu\n\n\nMoved to: /project/b.txt",
    }
    said = draft_of({"type": "fileChange", "id": "p1", "status": "completed", "changes": [change]})
    assert isinstance(said, FileChangeDraft)
    (moved,) = said.changes
    assert (moved.kind, moved.old_path, moved.path) == ("rename", "a.txt", "b.txt")
    assert moved.diff == "--- a/a.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-ho\n+hu\n"


def test_a_file_outside_the_workspace_keeps_its_whole_path() -> None:
    change = {"path": "/elsewhere/a.txt", "kind": {"type": "delete"}, "diff": "gone\n"}
    said = draft_of({"type": "fileChange", "id": "p1", "status": "completed", "changes": [change]})
    assert isinstance(said, FileChangeDraft)
    assert (said.changes[0].path, said.changes[0].kind) == ("/elsewhere/a.txt", "delete")
    assert said.changes[0].diff == "--- a//elsewhere/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"


def draft_of(item: dict[str, Any]) -> object:
    parsed = parse_item(item)
    assert parsed is not None
    return draft(parsed, WORKSPACE)


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (
            {"type": "reasoning", "summary": ["one", "two"], "content": ["three"]},
            MessageDraft(type="reasoning", text="one\n\ntwo\n\nthree"),
        ),
        ({"type": "plan", "text": "# Plan"}, PlanDraft(markdown="# Plan")),
        (
            {"type": "webSearch", "query": "cats", "results": [{"title": "Cats", "url": "http://c"}, {"no": "url"}]},
            WebSearchDraft(query="cats", results=(WebResult(title="Cats", url="http://c"),)),
        ),
        (
            {"type": "mcpToolCall", "server": "s", "tool": "t", "arguments": {"a": 1}, "error": {"message": "broke"}},
            ToolDraft(name="t", server="s", input={"a": 1}, output="broke"),
        ),
        (
            {"type": "dynamicToolCall", "tool": "t", "contentItems": [{"type": "inputText", "text": "found"}]},
            ToolDraft(name="t", input=None, output="found"),
        ),
        ({"type": "imageView", "path": "/a.png"}, ToolDraft(name="imageView", input={"path": "/a.png"})),
        ({"type": "collabAgentToolCall", "tool": "wait"}, ToolDraft(name="wait", input={})),
        (
            {"type": "subAgentActivity", "kind": "started", "agentThreadId": "t2", "agentPath": "/root/helper"},
            SubagentDraft(title="/root/helper", prompt="", native_ref="t2"),
        ),
        (
            {"type": "commandExecution", "command": "ls", "cwd": "/project", "exitCode": -1, "aggregatedOutput": "no"},
            CommandDraft(command="ls", cwd="/project", output="no", exit_code=-1),
        ),
        ({"type": "hookPrompt"}, None),
    ],
)
def test_each_kind_of_item_becomes_one_of_ours(item: dict[str, Any], said: object) -> None:
    assert draft_of({"id": "i1", **item}) == said


@pytest.mark.parametrize(
    ("told", "ours"), [("completed", "completed"), ("failed", "failed"), ("declined", "cancelled"), ("?", "completed")]
)
def test_the_status_of_a_command_is_ours(told: str, ours: str) -> None:
    item = parse_item({"type": "commandExecution", "id": "c1", "status": told})
    assert item is not None
    assert status(item) == ours


def translator() -> Translator:
    return Translator("root", "turn", WORKSPACE, None)


def told(method: str, thread: str = "root", **params: Any) -> Notification:
    return Notification(method, {"threadId": thread, **params}, 0)


def test_parts_of_a_thought_are_told_apart_and_its_end_repeats_nothing() -> None:
    told_of = translator()
    events = [
        event
        for one in (
            told("item/started", item={"type": "reasoning", "id": "r1"}),
            told("item/reasoning/summaryPartAdded", itemId="r1", summaryIndex=0),
            told("item/reasoning/summaryTextDelta", itemId="r1", delta="one"),
            told("item/reasoning/summaryPartAdded", itemId="r1", summaryIndex=1),
            told("item/reasoning/summaryTextDelta", itemId="r1", delta="two"),
        )
        for event in told_of.translate(one)
    ]
    assert "".join(event.text for event in events if isinstance(event, OutputAppended)) == "one\n\ntwo"
    (end,) = told_of.finish("interrupted")
    assert isinstance(end, ItemChanged)
    assert (end.draft, end.status) == (MessageDraft(type="reasoning"), "interrupted")


def test_the_items_of_a_thread_that_nobody_began_in_this_turn_are_left_out() -> None:
    assert translator().translate(told("item/started", thread="stranger", item={"type": "plan", "id": "p1"})) == ()


def test_a_child_of_a_child_is_below_it() -> None:
    told_of = translator()
    for parent, child in (("root", "child"), ("child", "grandchild")):
        call = {"type": "collabAgentToolCall", "id": "s1", "tool": "spawnAgent", "receiverThreadIds": [child]}
        told_of.translate(told("item/completed", thread=parent, item=call))
    (event,) = told_of.translate(told("item/started", thread="grandchild", item={"type": "plan", "id": "p1"}))
    assert isinstance(event, ItemChanged)
    assert (event.ref, event.parent_ref) == ("grandchild/p1", "child/s1")


def test_usage_after_a_resume_counts_from_the_first_request_of_the_turn() -> None:
    last = {"inputTokens": 100, "outputTokens": 10, "cachedInputTokens": 50, "totalTokens": 110}
    whole = {"inputTokens": 1100, "outputTokens": 110, "cachedInputTokens": 550, "totalTokens": 1210}
    usage = {"total": whole, "last": last, "modelContextWindow": 1000}
    (event,) = translator().translate(told("thread/tokenUsage/updated", tokenUsage=usage))
    assert isinstance(event, UsageReported)
    said = event.usage
    assert (said.input_tokens, said.output_tokens, said.cached_input_tokens) == (100, 10, 50)
    assert (said.context_tokens, said.context_window) == (110, 1000)


def asked(method: str, **params: Any) -> Any:
    approval = parse_approval(Request(7, method, {"threadId": "root", "itemId": "i1", **params}, 0))
    assert approval is not None
    return approval


def reply(decision: Decision, **values: str) -> Reply:
    answers = tuple(Answer(question_id=name, values=(value,)) for name, value in values.items())
    return Reply(decision=decision, option_id=None, answers=answers or None, message=None)


COMMAND = "item/commandExecution/requestApproval"


def test_amendments_of_codexs_own_rules_are_not_among_the_options() -> None:
    amendment = {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["rm"]}}
    approval = asked(COMMAND, command="rm x", availableDecisions=["accept", amendment, "cancel"])
    request = request_asked("r1", approval, "i1", (), WORKSPACE)
    assert [option.decision for option in request.options] == ["accept", "decline", "cancel"]


def test_an_acceptance_for_the_session_that_codex_does_not_offer_is_one_for_now() -> None:
    narrow = asked(COMMAND, command="rm x", availableDecisions=["accept", "cancel"])
    wide = asked(COMMAND, command="rm x", availableDecisions=["accept", "acceptForSession", "cancel"])
    assert answer(narrow, reply("acceptForSession")) == {"decision": "accept"}
    assert answer(wide, reply("acceptForSession")) == {"decision": "acceptForSession"}


@pytest.mark.parametrize(
    ("decision", "scope", "granted"),
    [
        ("accept", "turn", True),
        ("acceptForSession", "session", True),
        ("decline", "turn", False),
        ("cancel", "turn", False),
    ],
)
def test_permissions_are_granted_as_asked_or_not_at_all(decision: Decision, scope: str, granted: bool) -> None:
    wanted = {"network": {"enabled": True}, "fileSystem": None}
    approval = asked("item/permissions/requestApproval", permissions=wanted, reason="why", cwd="/project")
    request = request_asked("r1", approval, None, (), WORKSPACE)
    assert (request.kind, request.prompt) == ("permission", "why")
    assert answer(approval, reply(decision)) == {"permissions": wanted if granted else {}, "scope": scope}


def test_what_an_mcp_server_wants_to_know_becomes_questions_and_typed_answers() -> None:
    properties = {
        "name": {"type": "string", "description": "Your name"},
        "age": {"type": "integer"},
        "sure": {"type": "boolean"},
        "colour": {"type": "string", "enum": ["red", "blue"]},
    }
    approval = asked("mcpServer/elicitation/request", message="Who?", requestedSchema={"properties": properties})
    request = request_asked("r1", approval, None, (), WORKSPACE)
    assert request.questions is not None
    shown = {one.id: (one.text, [o.label for o in one.options], one.free_text) for one in request.questions}
    assert shown["name"] == ("Your name", [], True)
    assert shown["sure"] == ("sure", ["true", "false"], False)
    assert shown["colour"] == ("colour", ["red", "blue"], False)
    given = answer(approval, reply("accept", name="Ada", age="36", sure="true", colour="red"))
    assert given == {
        "action": "accept",
        "content": {"name": "Ada", "age": 36, "sure": True, "colour": "red"},
        "_meta": None,
    }
    assert answer(approval, reply("decline")) == {"action": "decline", "content": None, "_meta": None}


@pytest.mark.parametrize(
    ("info", "class_"),
    [
        ("usageLimitExceeded", "usage_limit"),
        ("contextWindowExceeded", "context_overflow"),
        ({"responseStreamDisconnected": {"httpStatusCode": 401}}, "authentication"),
        ({"responseStreamDisconnected": {"httpStatusCode": None}}, "transport_error"),
        ({"somethingNew": 7}, "provider_error"),
        (None, "provider_error"),
    ],
)
def test_an_error_of_codex_has_a_class(info: object, class_: str) -> None:
    assert turn_failure({"message": "broke", "codexErrorInfo": info}, {}).class_ == class_


def test_the_quota_comes_back_when_the_last_exhausted_window_does() -> None:
    full, open_ = {"usedPercent": 100, "resetsAt": 1_800_000_000}, {"usedPercent": 99, "resetsAt": 1_900_000_000}
    assert reset_at({"primary": full, "secondary": open_}) == "2027-01-15T08:00:00.000Z"
    assert reset_at({"primary": full, "secondary": {**full, "resetsAt": 1_800_086_400}}) == "2027-01-16T08:00:00.000Z"
    assert reset_at({"primary": open_}) is None
    assert reset_at({}) is None


def test_a_narrower_mode_never_allows_what_a_wider_one_asks_for() -> None:
    sandboxes = ("read-only", "workspace-write", "danger-full-access")
    widths = [sandboxes.index(POLICIES[mode].sandbox) for mode in NARROWEST_FIRST]
    assert widths == sorted(widths)
    assert [mode for mode in NARROWEST_FIRST if POLICIES[mode].sandbox == "danger-full-access"] == ["fullAccess"]
    assert turn_policy("readOnly", {"type": "dangerFullAccess"})["sandboxPolicy"] == {"type": "readOnly"}


@pytest.mark.parametrize(
    ("change", "stale"),
    [
        ({"model": "another"}, False),
        ({"options": {"effort": "high"}}, False),
        ({"runtime_mode": "readOnly"}, False),
        ({"workspace": Path("/elsewhere")}, True),
        ({"options": {"modelProvider": "another"}}, True),
    ],
)
def test_only_another_workspace_or_model_provider_makes_a_conversation_stale(
    change: dict[str, Any], stale: bool
) -> None:
    before: dict[str, Any] = {"workspace": WORKSPACE, "model": None, "options": None, "runtime_mode": "fullAccess"}
    driver = CodexDriver("codex", ProviderConfig(driver="codex"))
    reason = driver.incompatible(ThreadOptions(**before), ThreadOptions(**{**before, **change}))
    assert (reason is not None) == stale
    assert reason is None or reason.code == "incompatible_settings"
