"""Permissions, modes, capabilities, failures and prompt blocks of the ACP driver: pure."""

from pathlib import Path
from typing import Any

import pytest

from midstream.protocol.records.config import ProviderConfig
from midstream.protocol.records.request import Answer, Decision, ProposedChange
from midstream.protocol.records.run import FailureClass
from midstream.protocol.records.thread import RuntimeMode
from midstream.server.providers.acp.blocks import prompt_blocks
from midstream.server.providers.acp.capabilities import capabilities, parse_agent
from midstream.server.providers.acp.driver import AcpDriver
from midstream.server.providers.acp.failures import rpc_failure
from midstream.server.providers.acp.modes import category, mode_for, models, parse_choices
from midstream.server.providers.acp.permissions import answer, parse_permission, request_asked
from midstream.server.providers.acp.tools import begin
from midstream.server.providers.adapter import AttachmentBlock, ContextBlock, ImageBlock, Reply, TurnInput
from midstream.server.providers.events import NativeOption
from midstream.server.providers.failures import gone
from support.turns import options_in

WORKSPACE = Path("/w")


def option(option_id: str, kind: str) -> dict[str, str]:
    return {"optionId": option_id, "name": option_id.upper(), "kind": kind}


def selected(option_id: str) -> dict[str, str]:
    return {"outcome": "selected", "optionId": option_id}


def reply(decision: Decision, option_id: str | None = None, *values: str) -> Reply:
    answers = (Answer(question_id="answer", values=values),) if values else None
    return Reply(decision=decision, option_id=option_id, answers=answers, message=None)


ALL = [option(*pair) for pair in (
    ("n2", "reject_always"), ("y2", "allow_always"), ("y1", "allow_once"), ("y3", "allow_once"),
    ("n1", "reject_once"), ("odd", "allow_some"),
)]  # fmt: skip


@pytest.mark.parametrize(
    ("kinds", "given", "chosen"),
    [
        (ALL, reply("accept"), "y1"),
        (ALL, reply("accept", "y3"), "y3"),
        (ALL, reply("accept", "y2"), "y1"),
        (ALL, reply("acceptForSession"), "y2"),
        (ALL, reply("decline"), "n1"),
        (ALL, reply("decline", "n2"), "n2"),
        (ALL, reply("decline", "y1"), "n1"),
        (ALL, reply("cancel", "y1"), None),
        ([option("y1", "allow_once")], reply("acceptForSession"), "y1"),
        ([option("y2", "allow_always")], reply("accept"), None),
        ([option("y1", "allow_once")], reply("decline"), None),
        ([], reply("accept"), None),
    ],
)
def test_what_was_decided_or_less_is_answered(kinds: list[dict[str, str]], given: Reply, chosen: str | None) -> None:
    outcome = answer(parse_permission({"options": kinds}), given)["outcome"]
    assert outcome == ({"outcome": "cancelled"} if chosen is None else selected(chosen))


def test_a_request_shows_the_agents_own_labels_and_what_would_change() -> None:
    content = [{"type": "diff", "path": "/w/x", "oldText": None, "newText": "a\n"}]
    call = {"toolCallId": "c", "title": "Edit x", "kind": "edit", "content": content}
    asked = parse_permission({"toolCall": call, "options": ALL})
    assert asked.call is not None
    request = request_asked("r", asked, begin(asked.call, WORKSPACE), WORKSPACE)
    assert (request.kind, request.prompt, request.target_ref) == ("fileChange", "Edit x", "c")
    assert request.options[1] == NativeOption(option_id="y2", decision="acceptForSession", label="Y2")
    assert len(request.options) == 5
    assert not request.accepts_message
    unified = "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n"
    assert request.detail.changes == (ProposedChange(path="x", kind="add", diff=unified),)


@pytest.mark.parametrize(
    ("given", "result"),
    [
        (reply("accept", None, "Y1"), {"outcome": selected("y1"), "_meta": {"midstream/answer": "Y1"}}),
        (reply("accept", None, "blue"), {"outcome": selected("n1"), "_meta": {"midstream/answer": "blue"}}),
        (reply("decline"), {"outcome": selected("n1")}),
        (reply("cancel", None, "Y1"), {"outcome": {"outcome": "cancelled"}}),
    ],
)
def test_a_question_is_asked_as_one_and_answered_in_words(given: Reply, result: dict[str, Any]) -> None:
    kinds = [option("n1", "reject_once"), option("y1", "allow_once")]
    meta = {"midstream/question": {"text": "Which?", "freeText": True}}
    asked = parse_permission({"options": kinds, "_meta": meta})
    request = request_asked("r", asked, None, WORKSPACE)
    assert request.kind == "userInput"
    assert request.questions is not None
    assert [label.label for label in request.questions[0].options] == ["N1", "Y1"]
    assert answer(asked, given) == result


GEMINI = ["default", "autoEdit", "yolo", "plan"]
CLAUDE = ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"]
CODEX = ["read-only", "auto", "full-access"]
OURS = ["approvalRequired", "autoAcceptEdits", "fullAccess", "readOnly"]


@pytest.mark.parametrize(
    ("agent_modes", "wanted", "mode"),
    [
        *((OURS, mode, mode) for mode in OURS),
        (GEMINI, "autoAcceptEdits", "autoEdit"), (GEMINI, "fullAccess", "yolo"), (GEMINI, "readOnly", "plan"),
        (CLAUDE, "approvalRequired", "default"), (CLAUDE, "fullAccess", "bypassPermissions"),
        (CODEX, "approvalRequired", "read-only"), (CODEX, "autoAcceptEdits", "read-only"),
        (CODEX, "readOnly", "read-only"), (CODEX, "fullAccess", "full-access"),
        (["default", "yolo"], "readOnly", "default"), (["yolo", "plan"], "approvalRequired", "plan"),
        (["default"], "fullAccess", "default"), (["yolo"], "approvalRequired", None),
        (["auto"], "autoAcceptEdits", None),
    ],
)  # fmt: skip
def test_a_runtime_mode_is_the_agents_own_or_a_narrower_one(
    agent_modes: list[str], wanted: RuntimeMode, mode: str | None
) -> None:
    assert mode_for(agent_modes, wanted) == mode


def test_choices_are_read_from_config_options_first_also_where_they_are_grouped() -> None:
    groups = [{"group": "g", "options": [{"value": "m1", "name": "One"}, {"value": "m2"}]}]
    opened: dict[str, Any] = {
        "configOptions": [{"id": "pick", "category": "model", "currentValue": "m2", "options": groups}, {"odd": 1}],
        "models": {"currentModelId": "ignored", "availableModels": [{"modelId": "ignored"}]},
        "modes": {"currentModeId": "default", "availableModes": [{"id": "default", "name": "Ask"}]},
    }
    choices = parse_choices(opened)
    assert [(model.id, model.label) for model in models(choices)] == [("m1", "One"), ("m2", "m2")]
    model, mode = category(choices, "model"), category(choices, "mode")
    assert model is not None
    assert mode is not None
    assert (model.setter, model.id, model.current) == ("config", "pick", "m2")
    assert (mode.setter, mode.current) == ("mode", "default")


def test_what_is_not_announced_is_not_supported() -> None:
    nothing = capabilities(parse_agent({}), models=False)
    assert not any((nothing.resume, nothing.fork, nothing.fork_at_turn, nothing.steer, nothing.images))
    assert nothing.handoff.channel == "inlinePreamble"
    announced = {
        "loadSession": True,
        "sessionCapabilities": {"fork": {}, "resume": None},
        "promptCapabilities": {"embeddedContext": True, "image": True},
        "_meta": {"midstream": {"forkAtTurn": True, "steer": True, "questions": True, "turnStarted": True}},
    }
    all_of_it = capabilities(parse_agent({"agentCapabilities": announced}), models=True)
    assert all_of_it.resume
    assert all_of_it.fork_at_turn
    assert all_of_it.questions
    assert all_of_it.native_ids == "strong"
    assert all_of_it.handoff.channel == "embeddedResource"
    assert not parse_agent({"agentCapabilities": announced}).resume


@pytest.mark.parametrize(
    ("error", "class_"),
    [
        ({"code": -32603, "message": "no", "data": {"class": "permission_error"}}, "permission_error"),
        ({"code": -32603, "message": "no", "data": {"class": "invented"}}, "provider_error"),
        ({"code": -32000, "message": "Authentication required"}, "authentication"),
        ({"code": -32603, "message": "Internal error", "data": {"details": "429 Too Many Requests"}}, "usage_limit"),
        ({"code": -32603, "message": "You have hit your usage limit"}, "usage_limit"),
        ({"code": -32603, "message": "Prompt is too long: 210000 tokens"}, "context_overflow"),
        ({"code": -32603, "message": "exceeds the maximum context length"}, "context_overflow"),
        ({"message": None}, "provider_error"),
    ],
)
def test_an_error_has_the_class_that_its_data_code_or_words_give(error: dict[str, Any], class_: FailureClass) -> None:
    assert rpc_failure(error).class_ == class_


def test_the_failure_of_a_dead_agent_tells_its_status_and_last_words() -> None:
    assert gone(-9, "").message == "The agent's process ended with exit status -9."
    assert gone(3, "no disk").message == "The agent's process ended with exit status 3: no disk"


def test_the_users_text_comes_last_and_unchanged() -> None:
    words = "  first\r\nlast \n"
    turn = TurnInput(
        context=(
            ContextBlock(handoff_id="h1", channel="embeddedResource", text="# one"),
            ContextBlock(handoff_id="h2", channel="inlinePreamble", text="# two"),
        ),
        attachments=(AttachmentBlock(uri="file:///x", text="x"), ImageBlock(mime_type="image/png", base64="AAAA")),
        text=words,
    )
    able = parse_agent({"agentCapabilities": {"promptCapabilities": {"embeddedContext": True, "image": True}}})
    handoff, second, file, image, own = prompt_blocks(turn, able)
    resource = {"uri": "midstream://handoff/h1", "mimeType": "text/markdown", "text": "# one"}
    assert handoff == {"type": "resource", "resource": resource}
    assert second == {"type": "text", "text": "# two"}
    assert file["type"] == "resource"
    assert image == {"type": "image", "mimeType": "image/png", "data": "AAAA"}
    assert own == {"type": "text", "text": words}
    plain = prompt_blocks(turn, parse_agent({}))
    assert [block["type"] for block in plain[1:]] == ["text"] * 4
    assert plain[2]["text"] == "file:///x\nx"
    assert plain[-1]["text"] == words


def test_a_conversation_is_not_resumed_in_another_workspace(tmp_path: Path) -> None:
    driver = AcpDriver("a", ProviderConfig(driver="acp", command=("a",)))
    (link := tmp_path / "link").symlink_to(tmp_path)
    here = options_in(tmp_path)
    assert driver.incompatible(here, options_in(link, "fullAccess", model="m")) is None
    reason = driver.incompatible(here, options_in(tmp_path.parent))
    assert reason is not None
    assert reason.code == "incompatible_settings"
