"""Directives that do work in the workspace, through the real process."""

import sys
from pathlib import Path

import pytest

from support.rehearsal import AgentError, Outcome, RehearsalClient, choose, names_in, resource

MCP_SERVER = """
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    match message["method"]:
        case "initialize": result = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {}}
        case "tools/list": result = {"tools": [{"name": "shout", "inputSchema": {}}]}
        case "tools/call":
            text = message["params"]["arguments"]["text"].upper() + os.environ["MARK"]
            result = {"content": [{"type": "text", "text": text}], "isError": False}
        case _: continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def ends(outcome: Outcome) -> list[str]:
    """The status that each tool call ended with."""
    updates = outcome.of("tool_call_update")
    return [update["status"] for update in updates if update["status"] in ("completed", "failed")]


async def test_write_append_and_delete_change_files_and_tell_diffs(agent: RehearsalClient, workspace: Path) -> None:
    session = await agent.new(workspace, "autoAcceptEdits")
    (workspace / "old.txt").write_text("old\n")
    outcome = await agent.prompt(session, "write src/a.txt: one\nappend src/a.txt: two\ndelete old.txt")
    assert (workspace / "src/a.txt").read_text() == "one\ntwo\n"
    assert not (workspace / "old.txt").exists()
    a, old = str(workspace / "src/a.txt"), str(workspace / "old.txt")
    assert [call["content"] for call in outcome.of("tool_call")] == [
        [{"type": "diff", "path": a, "oldText": None, "newText": "one\n"}],
        [{"type": "diff", "path": a, "oldText": "one\n", "newText": "one\ntwo\n"}],
        [{"type": "diff", "path": old, "oldText": "old\n", "newText": ""}],
    ]
    assert {call["kind"] for call in outcome.of("tool_call")} == {"edit"}
    assert ends(outcome) == ["completed"] * 3


async def test_an_edit_that_cannot_be_done_fails_and_the_turn_goes_on(agent: RehearsalClient, workspace: Path) -> None:
    session = await agent.new(workspace, "fullAccess")
    outcome = await agent.prompt(session, "delete missing.txt\nsay: still here")
    assert ends(outcome) == ["failed"]
    assert outcome.messages() == ["still here"]


async def test_a_command_streams_its_output_and_ends_with_its_exit_code(
    agent: RehearsalClient, workspace: Path
) -> None:
    session = await agent.new(workspace, "fullAccess")
    outcome = await agent.prompt(session, "run pwd; echo trouble >&2; exit 7")
    progress, end = outcome.of("tool_call_update")[0], outcome.of("tool_call_update")[-1]
    assert progress["status"] == "in_progress"
    assert progress["content"][0]["content"]["text"].startswith(str(workspace))
    assert end["status"] == "failed"
    assert end["rawOutput"] == {"exitCode": 7, "output": f"{workspace}\ntrouble\n"}


async def test_todo_and_done_keep_a_plan(agent: RehearsalClient, workspace: Path) -> None:
    session = await agent.new(workspace)
    await agent.prompt(session, "todo: a | b")
    outcome = await agent.prompt(session, "done: a\ndone: c")
    plan = [(entry["content"], entry["status"]) for entry in outcome.of("plan")[-1]["entries"]]
    assert plan == [("a", "completed"), ("b", "pending"), ("c", "completed")]


async def test_say_think_decide_and_stream_are_messages_of_their_own(agent: RehearsalClient, workspace: Path) -> None:
    session = await agent.new(workspace)
    outcome = await agent.prompt(session, "say: hi\nthink: hm\ndecide: SQLite\nstream 3 4")
    assert outcome.messages() == ["hi", "Decision: SQLite", "000011112222"]
    assert [thought["content"]["text"] for thought in outcome.of("agent_thought_chunk")] == ["hm"]
    assert len(outcome.of("agent_message_chunk")) == 5
    assert outcome.result["stopReason"] == "end_turn"


async def test_other_lines_get_one_acknowledgement(agent: RehearsalClient, workspace: Path) -> None:
    session = await agent.new(workspace)
    outcome = await agent.prompt(session, "please help\nwith this\n> write a.txt: quoted\n- crash")
    assert outcome.messages() == ["Noted."]
    assert names_in(workspace) == []


async def test_a_directive_in_an_embedded_resource_is_obeyed(agent: RehearsalClient, workspace: Path) -> None:
    session = await agent.new(workspace, "fullAccess")
    await agent.prompt(session, resource("history\nwrite injected.txt: x\n> write quoted.txt: x"), "go on")
    assert names_in(workspace) == ["injected.txt"]


async def test_a_subagent_works_in_its_folder_and_hands_back_what_it_said(
    agent: RehearsalClient, workspace: Path
) -> None:
    (workspace / "lib").mkdir()
    session = await agent.new(workspace, "fullAccess")
    outcome = await agent.prompt(session, "subagent Scout IN lib: write found.txt: x\nsubagent Poet: say: a rhyme")
    assert (workspace / "lib/found.txt").exists()
    scout, write, poet = outcome.of("tool_call")
    request = {"title": "Scout", "prompt": "write found.txt: x", "dir": str(workspace / "lib")}
    assert scout["_meta"] == {"midstream/subagent": request}
    assert write["_meta"] == {"midstream/parent": scout["toolCallId"]}
    poet_end = outcome.of("tool_call_update")[-1]
    assert poet_end["toolCallId"] == poet["toolCallId"]
    assert poet_end["content"][0]["content"]["text"] == "a rhyme"
    assert outcome.messages() == []
    assert [entry["role"] for entry in await agent.recall(session)] == ["user", "user"]


async def test_a_subagent_whose_work_fails_the_turn_ends_failed(agent: RehearsalClient, workspace: Path) -> None:
    session = await agent.new(workspace)
    with pytest.raises(AgentError, match="broken"):
        await agent.prompt(session, "subagent Scout: fail: broken")
    assert agent.updates[-1]["status"] == "failed"


async def test_an_mcp_tool_is_called_on_the_server_that_the_session_was_given(
    agent: RehearsalClient, workspace: Path
) -> None:
    environment = [{"name": "MARK", "value": "!"}]
    server = {"name": "s", "command": sys.executable, "args": ["-c", MCP_SERVER], "env": environment}
    session = await agent.new(workspace, mcpServers=[server])
    outcome = await agent.prompt(session, 'call shout {"text": "hey"}\ncall whisper {}')
    done, missing = outcome.of("tool_call_update")
    assert (done["status"], done["content"][0]["content"]["text"]) == ("completed", "HEY!")
    assert missing["status"] == "failed"


async def test_an_mcp_server_that_ends_at_once_fails_the_call(agent: RehearsalClient, workspace: Path) -> None:
    server = {"name": "s", "command": "true", "args": [], "env": []}
    session = await agent.new(workspace, mcpServers=[server])
    assert ends(await agent.prompt(session, "call shout {}")) == ["failed"]


@pytest.mark.parametrize(
    ("directive", "data"),
    [
        ("fail: it broke", {"class": "provider_error"}),
        ("fail: usage_limit: it broke", {"class": "usage_limit"}),
        (
            "fail: usage_limit until 2030-01-01T00:00:00Z: it broke",
            {"class": "usage_limit", "resetAt": "2030-01-01T00:00:00Z"},
        ),
    ],
)
async def test_fail_answers_the_prompt_with_an_error_and_its_class(
    agent: RehearsalClient, workspace: Path, directive: str, data: dict[str, str]
) -> None:
    session = await agent.new(workspace, "fullAccess")
    with pytest.raises(AgentError, match=r"^it broke$") as raised:
        await agent.prompt(session, f"write before.txt: x\n{directive}\nwrite after.txt: x")
    assert (raised.value.code, raised.value.data) == (-32603, data)
    assert names_in(workspace) == ["before.txt"]
    assert (await agent.prompt(session, "say: alive")).messages() == ["alive"]


@pytest.mark.parametrize(
    ("mode", "directive", "asked"),
    [
        ("approvalRequired", "write a.txt: x", True),
        ("approvalRequired", "run touch a.txt", True),
        ("autoAcceptEdits", "write a.txt: x", False),
        ("autoAcceptEdits", "run touch a.txt", True),
        ("fullAccess", "run touch a.txt", False),
    ],
)
async def test_the_mode_decides_what_is_asked(
    agent: RehearsalClient, workspace: Path, mode: str, directive: str, asked: bool
) -> None:
    session = await agent.new(workspace, mode)
    agent.on_permission = choose("allow_once")
    outcome = await agent.prompt(session, directive)
    assert bool(agent.permissions) == asked
    assert ends(outcome) == ["completed"]
    assert (workspace / "a.txt").exists()


@pytest.mark.parametrize("directive", ["write a.txt: x", "run touch a.txt"])
async def test_a_read_only_session_refuses_without_asking(
    agent: RehearsalClient, workspace: Path, directive: str
) -> None:
    session = await agent.new(workspace, "readOnly")
    outcome = await agent.prompt(session, directive)
    assert ends(outcome) == ["failed"]
    assert names_in(workspace) == []


async def test_a_rejected_command_is_not_run_and_the_turn_goes_on(agent: RehearsalClient, workspace: Path) -> None:
    session = await agent.new(workspace)
    agent.on_permission = choose("reject_once")
    outcome = await agent.prompt(session, "run touch a.txt\nsay: on")
    assert ends(outcome) == ["failed"]
    assert outcome.messages() == ["on"]
    assert names_in(workspace) == []


async def test_always_allow_is_remembered_for_its_kind_in_the_session(agent: RehearsalClient, workspace: Path) -> None:
    session = await agent.new(workspace)
    agent.on_permission = choose("allow_always")
    await agent.prompt(session, "run true\nrun true\nwrite a.txt: x")
    assert [asked["toolCall"]["kind"] for asked in agent.permissions] == ["execute", "edit"]
    other = await agent.new(workspace)
    await agent.prompt(other, "run true")
    assert len(agent.permissions) == 3


async def test_a_question_is_answered_by_an_option_or_in_free_text(agent: RehearsalClient, workspace: Path) -> None:
    session = await agent.new(workspace)
    agent.on_permission = choose("reject_once")
    assert (await agent.prompt(session, "ask: Ship it?")).messages() == ["Answer: No"]
    asked = agent.permissions[0]
    assert asked["_meta"] == {"midstream/question": {"text": "Ship it?", "freeText": True}}
    assert (asked["toolCall"]["kind"], asked["toolCall"]["title"]) == ("other", "Ship it?")
    assert [option["name"] for option in asked["options"]] == ["Yes", "No"]
    agent.on_permission = lambda params: {
        **choose("allow_once")(params),
        "_meta": {"midstream/answer": "next week"},
    }
    assert (await agent.prompt(session, "ask: Ship it?")).messages() == ["Answer: next week"]
