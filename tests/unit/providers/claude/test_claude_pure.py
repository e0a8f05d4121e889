"""The Claude driver's pure parts: how it is started, what it asks, what its tools show, how it fails."""

import sys
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import (
    AssistantMessage,
    PermissionResultAllow,
    PermissionUpdate,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TaskNotificationMessage,
    TextBlock,
    ToolPermissionContext,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
)

from midstream.protocol.records.config import ProviderConfig
from midstream.protocol.records.request import Answer, Decision
from midstream.protocol.records.thread import RuntimeMode
from midstream.server.providers.adapter import ContextBlock, ImageBlock, McpServer, Reply, ThreadOptions, TurnInput
from midstream.server.providers.claude.approvals import Verdict, answer, ask_of, request_asked, verdict
from midstream.server.providers.claude.driver import ClaudeDriver
from midstream.server.providers.claude.failures import result_failure, was_aborted
from midstream.server.providers.claude.input import turn_message
from midstream.server.providers.claude.launch import arguments, environment
from midstream.server.providers.claude.todos import Todos
from midstream.server.providers.claude.tools import Call, draft, outcome
from midstream.server.providers.claude.updates import Translator
from midstream.server.providers.claude.usage import Spent
from midstream.server.providers.drafts import CommandDraft, FileChangeDraft, NoticeDraft, ToolDraft, WebSearchDraft
from midstream.server.providers.events import ItemChanged, OutputAppended
from support.turns import last_of_each, of, options_in

WORKSPACE = Path("/work")


def ask(name: str, **given: Any) -> Any:
    """What Claude Code asks, with a rule that it suggests to write into the workspace's settings."""
    rule = PermissionUpdate(type="addRules", behavior="allow", destination="localSettings")
    return ask_of(name, given, ToolPermissionContext(tool_use_id="call_1", suggestions=[rule]))


def reply(decision: Decision, **more: Any) -> Reply:
    """A user's answer."""
    return Reply(decision=decision, option_id=None, answers=more.get("answers"), message=more.get("message"))


def result(**more: Any) -> ResultMessage:
    """A turn's result."""
    told = {"subtype": "success", "is_error": False, "duration_ms": 1, "duration_api_ms": 1, "num_turns": 1}
    return ResultMessage(**{**told, "session_id": "s", **more})


@pytest.mark.parametrize(
    ("mode", "permission_mode", "sources"),
    [
        ("readOnly", "default", ""),
        ("approvalRequired", "default", "user"),
        ("autoAcceptEdits", "acceptEdits", "user"),
        ("fullAccess", "acceptEdits", "user"),
    ],
)
def test_each_mode_has_its_permission_mode_and_settings_that_count(
    mode: RuntimeMode, permission_mode: str, sources: str
) -> None:
    words = arguments(options_in(WORKSPACE, mode), None, "user")
    assert f"--permission-mode={permission_mode}" in words
    assert f"--setting-sources={sources}" in words
    assert not [word for word in words if "bypass" in word or "dangerously" in word]


def test_a_model_an_effort_a_plan_and_mcp_servers_stand_in_the_arguments() -> None:
    server = McpServer(name="reader", command="read", args=("--it",), env={"A": "b"})
    options = ThreadOptions(
        workspace=WORKSPACE,
        model="opus",
        options={"effort": "high", "plan": True},
        runtime_mode="fullAccess",
        mcp_servers=(server,),
    )
    words = arguments(options, "sonnet", "user")
    assert {"--model=opus", "--effort=high", "--permission-mode=plan"} <= set(words)
    assert '"reader": {"type": "stdio", "command": "read", "args": ["--it"], "env": {"A": "b"}}' in words[-1]
    assert "--model=sonnet" in arguments(options_in(WORKSPACE), "sonnet", "user")


def test_nothing_that_steers_a_claude_code_is_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CLAUDECODE", "CLAUDE_CONFIG_DIR", "ANTHROPIC_API_KEY", "MCP_TIMEOUT", "AI_AGENT"):
        monkeypatch.setenv(name, "inherited")
    monkeypatch.setenv("LANG", "C")
    made = environment({"ANTHROPIC_API_KEY": "configured"})
    assert "inherited" not in made.values()
    assert (made["ANTHROPIC_API_KEY"], made["LANG"]) == ("configured", "C")


def test_a_turn_is_one_message_with_the_users_words_last_and_unchanged() -> None:
    handoff = ContextBlock(handoff_id="h", channel="separateBlock", text="# Handoff\n")
    image = ImageBlock(mime_type="image/png", base64="AAAA")
    message = turn_message(TurnInput(context=(handoff,), attachments=(image,), text="/help @x\n"), "id-1")
    first, second, last = message["message"]["content"]  # type: ignore[index]
    assert first == {"type": "text", "text": "# Handoff\n"}
    assert second["source"] == {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    assert last == {"type": "text", "text": "/help @x\n"}
    assert (message["uuid"], message["client_composed"]) == ("id-1", True)


@pytest.mark.parametrize(
    ("name", "mode", "planning", "expected"),
    [
        ("Bash", "readOnly", False, "deny"),
        ("Write", "readOnly", False, "deny"),
        ("Read", "readOnly", False, "ask"),
        ("mcp__reader__search", "readOnly", False, "ask"),
        ("Bash", "approvalRequired", False, "ask"),
        ("Bash", "autoAcceptEdits", False, "ask"),
        ("Bash", "fullAccess", False, "allow"),
        ("Bash", "fullAccess", True, "deny"),
        ("Edit", "fullAccess", True, "deny"),
        ("AskUserQuestion", "fullAccess", False, "ask"),
        ("ExitPlanMode", "fullAccess", True, "ask"),
        ("ExitPlanMode", "readOnly", False, "ask"),
    ],
)
def test_a_mode_answers_by_itself_what_it_may(name: str, mode: RuntimeMode, planning: bool, expected: Verdict) -> None:
    assert verdict(ask(name), mode, planning=planning) == expected


def test_what_is_accepted_for_the_session_is_written_into_no_settings() -> None:
    given = answer(ask("Bash", command="ls"), reply("acceptForSession"))
    assert isinstance(given, PermissionResultAllow)
    assert given.updated_permissions is not None
    assert [update.destination for update in given.updated_permissions] == ["session"]
    once = answer(ask("Bash", command="ls"), reply("accept"))
    assert isinstance(once, PermissionResultAllow)
    assert once.updated_permissions is None


def test_a_refusal_carries_the_users_words_and_one_that_cancels_stops_the_turn() -> None:
    declined = answer(ask("Bash"), reply("decline", message="use rg"))
    assert (declined.behavior, declined.message, declined.interrupt) == ("deny", "use rg", False)  # type: ignore[union-attr]
    assert answer(ask("Bash"), reply("cancel")).interrupt  # type: ignore[union-attr]


def test_questions_are_asked_as_ours_and_answered_by_their_words() -> None:
    question = {"question": "Which?", "header": "H", "multiSelect": True, "options": [{"label": "A"}, {"label": "B"}]}
    asked = ask("AskUserQuestion", questions=[question])
    request = request_asked("r", asked, None, WORKSPACE)
    assert request.questions is not None
    (one,) = request.questions
    assert (request.kind, one.text, one.multiple, [option.label for option in one.options]) == (
        "userInput", "Which?", True, ["A", "B"],
    )  # fmt: skip
    answers = (Answer(question_id=one.id, values=("A", "B")),)
    given = answer(asked, reply("accept", answers=answers))
    assert isinstance(given, PermissionResultAllow)
    assert given.updated_input == {"questions": [question], "answers": {"Which?": "A, B"}}


@pytest.mark.parametrize(
    ("text", "failed", "detail", "output", "code"),
    [
        ("out", False, {"stdout": "out"}, "out", 0),
        ("Exit code 3\nout", True, "Error", "out", 3),
        ("Nobody can be asked now.", True, None, "Nobody can be asked now.", None),
        ("started", False, {"backgroundTaskId": "b1"}, "started", None),
    ],
)
def test_a_command_shows_its_output_and_exit_code(
    text: str, failed: bool, detail: object, output: str, code: int | None
) -> None:
    call = Call(id="c", name="Bash", input={"command": "x"})
    shown = draft(call, WORKSPACE, outcome(text, failed, detail))
    assert isinstance(shown, CommandDraft)
    assert (shown.command, shown.cwd, shown.output, shown.exit_code) == ("x", "/work", output, code)


def test_a_file_change_shows_the_patch_that_was_made() -> None:
    call = Call(id="c", name="Edit", input={"file_path": "/work/a.txt", "old_string": "b", "new_string": "c"})
    hunk = {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": [" a", "-b", "+c"]}
    shown = draft(call, WORKSPACE, outcome("done", False, {"structuredPatch": [hunk]}))
    assert isinstance(shown, FileChangeDraft)
    (change,) = shown.changes
    assert (change.path, change.kind) == ("a.txt", "modify")
    assert change.diff == "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"


def test_tools_of_mcp_servers_and_searches_of_the_web_have_shapes_of_their_own() -> None:
    tool = draft(Call(id="c", name="mcp__files__read__it", input={"a": 1}), WORKSPACE, outcome("got", False, None))
    assert tool == ToolDraft(name="read__it", server="files", input={"a": 1}, output="got")
    hits = {"results": [{"content": [{"title": "T", "url": "https://t"}]}, "words"]}
    search = draft(Call(id="c", name="WebSearch", input={"query": "q"}), WORKSPACE, outcome("", False, hits))
    assert isinstance(search, WebSearchDraft)
    assert search.results is not None
    assert [(hit.title, hit.url) for hit in search.results] == [("T", "https://t")]


@pytest.mark.parametrize(
    ("told", "error", "class_"),
    [
        ({"result": "API Error: 429", "api_error_status": 429}, "rate_limit", "usage_limit"),
        ({"result": "credit", "api_error_status": None}, "billing_error", "usage_limit"),
        ({"result": "no", "api_error_status": 401}, "authentication_failed", "authentication"),
        ({"result": "Prompt is too long", "api_error_status": 400}, "invalid_request", "context_overflow"),
        ({"result": "bad", "api_error_status": 400}, "unknown", "validation_error"),
        ({"result": "overloaded", "api_error_status": 529}, "server_error", "provider_error"),
        ({"result": "API Error: Connection error.", "api_error_status": None}, "unknown", "transport_error"),
    ],
)
def test_a_failed_result_has_a_class(told: dict[str, Any], error: str, class_: str) -> None:
    failed = result_failure(result(is_error=True, **told), error, 1_928_030_706)
    assert failed is not None
    assert failed.class_ == class_
    assert failed.reset_at == ("2031-02-05T04:05:06.000Z" if class_ == "usage_limit" else None)


def test_a_result_that_completed_is_no_failure_and_one_that_was_stopped_is_known() -> None:
    assert result_failure(result(result="fine"), None, None) is None
    assert was_aborted(result(terminal_reason="aborted_tools"))
    assert not was_aborted(result(terminal_reason="completed"))


def streamed(**event: Any) -> StreamEvent:
    """An event of the model's stream."""
    return StreamEvent(uuid="u", session_id="s", event=event)


def test_streamed_words_are_one_item_and_a_call_is_announced_once_whoever_tells_it_first() -> None:
    translator = Translator("turn", WORKSPACE, Todos())
    call = Call(id="c1", name="Bash", input={"command": "ls"})
    told = [
        *translator.translate(streamed(type="content_block_start", content_block={"type": "text"})),
        *translator.translate(streamed(type="content_block_delta", delta={"type": "text_delta", "text": "hel"})),
        *translator.translate(streamed(type="content_block_delta", delta={"type": "text_delta", "text": "lo"})),
        *translator.translate(AssistantMessage(content=[TextBlock("hello")], model="m")),
        *translator.announce(call),
        *translator.translate(AssistantMessage(content=[ToolUseBlock("c1", "Bash", {"command": "ls"})], model="m")),
        *translator.translate(UserMessage(content=[ToolResultBlock("c1", "out")], tool_use_result={"stdout": "out"})),
    ]
    assert "".join(event.text for event in of(OutputAppended, told)) == "hello"
    assert [event.status for event in of(ItemChanged, told)] == ["running", "completed", "running", "completed"]
    assert len(last_of_each(told)) == 2
    assert translator.finish("completed") == ()


async def test_where_the_sdk_is_missing_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "claude_agent_sdk", None)
    provider = await ClaudeDriver("claude", ProviderConfig(driver="claude")).probe()
    assert (provider.installed, provider.authenticated) == (False, None)
    assert provider.problem is not None
    assert provider.problem.message == "The Claude Agent SDK is not installed."
    assert provider.problem.action.startswith("Run: pip install 'midstream[claude]'")


def test_a_turns_usage_is_its_own_and_that_of_all_its_results() -> None:
    spent = Spent()
    spent.hear({"type": "message_start", "message": {"usage": {"input_tokens": 5, "cache_read_input_tokens": 70}}})
    first = spent.usage(result(usage={"input_tokens": 10, "output_tokens": 2}, total_cost_usd=0.5), None)
    assert (first.input_tokens, first.output_tokens, first.context_tokens, first.cost_usd) == (10, 2, 75, 0.5)
    told = result(usage={"input_tokens": 1, "cache_read_input_tokens": 3}, total_cost_usd=0.75)
    second = spent.usage(told, None)
    assert (second.input_tokens, second.cached_input_tokens, second.cost_usd) == (4, 3, 0.25)
    both = spent.usage(result(usage={"input_tokens": 1}, total_cost_usd=1.0), second)
    assert (both.input_tokens, both.cost_usd) == (5, 0.5)


def test_a_command_in_the_background_runs_until_claude_is_told_of_its_end() -> None:
    translator = Translator("turn", WORKSPACE, Todos())
    translator.announce(Call(id="c1", name="Bash", input={"command": "make"}))
    launched = UserMessage(
        content=[ToolResultBlock("c1", "It runs.")], tool_use_result={"stdout": "", "backgroundTaskId": "b1"}
    )
    (going_on,) = of(ItemChanged, [*translator.translate(launched)])
    told = TaskNotificationMessage(
        subtype="task_notification", data={}, task_id="b1", status="failed", output_file="f",
        summary='Background command "make" failed (exit code 2)', uuid="u", session_id="s", tool_use_id="c1",
    )  # fmt: skip
    (ended,) = of(ItemChanged, [*translator.translate(told)])
    assert (going_on.status, ended.status) == ("running", "failed")
    assert isinstance(ended.draft, CommandDraft)
    assert (ended.draft.output, ended.draft.exit_code) == (f"It runs.\n{told.summary}", 2)
    assert translator.translate(told) == ()


def test_an_api_that_is_tried_again_is_noted() -> None:
    retried = SystemMessage(subtype="api_retry", data={"attempt": 2, "error_status": 529})
    (noted,) = of(ItemChanged, [*Translator("turn", WORKSPACE, Todos()).translate(retried)])
    assert noted.draft == NoticeDraft(
        type="notice", message="The model answered with status 529; Claude Code tries again (attempt 2)."
    )
