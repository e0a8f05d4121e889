"""Every flag: what it takes away, or makes the agent do."""

from pathlib import Path
from typing import Any

import pytest

from support.rehearsal import AgentError, AgentGoneError, RehearsalClient, Start, names_in, place, resource


@pytest.mark.parametrize(
    ("flag", "method"),
    [
        ("--no-load", "session/load"),
        ("--no-resume", "session/resume"),
        ("--no-fork", "session/fork"),
        ("--no-list", "session/list"),
        ("--no-close", "session/close"),
        ("--no-modes", "session/set_mode"),
        ("--no-fork-at-turn", "_midstream/fork_at_turn"),
        ("--no-rewind", "_midstream/rewind"),
        ("--no-steer", "_midstream/steer"),
    ],
)
async def test_a_method_that_a_flag_takes_away_is_not_found(start: Start, flag: str, method: str) -> None:
    with pytest.raises(AgentError) as without:
        await (await start(flag)).request(method)
    assert without.value.code == -32601
    if method != "session/list":
        with pytest.raises(AgentError) as with_it:
            await (await start()).request(method)
        assert with_it.value.code == -32602


ANNOUNCEMENTS = {
    "--no-load": ("loadSession",),
    "--no-resume": ("sessionCapabilities", "resume"),
    "--no-fork": ("sessionCapabilities", "fork"),
    "--no-list": ("sessionCapabilities", "list"),
    "--no-close": ("sessionCapabilities", "close"),
    "--no-image": ("promptCapabilities", "image"),
    "--no-embedded-context": ("promptCapabilities", "embeddedContext"),
    "--no-fork-at-turn": ("_meta", "midstream", "forkAtTurn"),
    "--no-rewind": ("_meta", "midstream", "rewind"),
    "--no-steer": ("_meta", "midstream", "steer"),
    "--no-questions": ("_meta", "midstream", "questions"),
    "--no-turn-started": ("_meta", "midstream", "turnStarted"),
    "--no-throw-away": ("_meta", "midstream", "throwAway"),
}


async def announced(agent: RehearsalClient) -> dict[str, bool]:
    """Which abilities ``initialize`` tells of, by the flag that takes each away."""
    capabilities = (await agent.initialize())["agentCapabilities"]
    told: dict[str, bool] = {}
    for flag, path in ANNOUNCEMENTS.items():
        value = capabilities
        for key in path:
            value = value.get(key, False)
        told[flag] = value is not False
    return told


@pytest.mark.parametrize("flag", ANNOUNCEMENTS)
async def test_a_flag_takes_exactly_its_own_announcement_away(start: Start, flag: str) -> None:
    assert await announced(await start(flag)) == {**dict.fromkeys(ANNOUNCEMENTS, True), flag: False}


@pytest.mark.parametrize(
    ("flag", "block"),
    [
        ("--no-embedded-context", resource("say: x")),
        ("--no-image", {"type": "image", "mimeType": "image/png", "data": "AA=="}),
    ],
)
async def test_a_block_that_a_flag_takes_away_is_refused(
    start: Start, workspace: Path, flag: str, block: dict[str, Any]
) -> None:
    agent = await start(flag)
    session = await agent.new(workspace)
    with pytest.raises(AgentError) as refused:
        await agent.prompt(session, block)
    assert refused.value.code == -32602
    assert [entry["text"] for entry in await agent.recall(session)] == ["recall"]


async def test_without_modes_none_are_listed(start: Start, workspace: Path) -> None:
    agent = await start("--no-modes")
    assert "modes" not in await agent.request("session/new", cwd=str(workspace), mcpServers=[])


async def test_without_questions_one_is_only_said(start: Start, workspace: Path) -> None:
    agent = await start("--no-questions")
    outcome = await agent.prompt(await agent.new(workspace), "ask: Ship it?")
    assert outcome.messages() == ["Question: Ship it?"]
    assert agent.permissions == []


async def test_without_mcp_the_servers_that_are_given_are_not_started(start: Start, workspace: Path) -> None:
    agent = await start("--no-mcp")
    server = {"name": "s", "command": "touch", "args": [str(workspace / "started")], "env": []}
    outcome = await agent.prompt(await agent.new(workspace, mcpServers=[server]), "call x {}")
    assert outcome.of("tool_call_update")[-1]["status"] == "failed"
    assert names_in(workspace) == []


async def test_without_turn_started_a_turn_is_named_only_by_its_result(start: Start, workspace: Path) -> None:
    agent = await start("--no-turn-started")
    outcome = await agent.prompt(await agent.new(workspace), "say: x")
    assert outcome.meta("midstream/turnStarted") == []
    assert outcome.result["_meta"]["midstream/turnId"]


async def test_an_enforced_window_refuses_a_prompt_that_overflows_it(start: Start, workspace: Path) -> None:
    agent = await start("--context-window", "100", "--enforce-window")
    session = await agent.new(workspace)
    with pytest.raises(AgentError) as overflow:
        await agent.prompt(session, "x" * 500)
    assert overflow.value.data == {"class": "context_overflow"}
    outcome = await agent.prompt(session, "say: x")
    assert outcome.of("usage_update")[0]["size"] == 100


@pytest.mark.parametrize("method", ["session/resume", "session/load"])
async def test_a_refused_resume_answers_an_error(start: Start, workspace: Path, method: str) -> None:
    agent = await start("--refuse-resume")
    session = await agent.new(workspace)
    with pytest.raises(AgentError, match="cannot be resumed"):
        await agent.request(method, **place(session, workspace))


async def test_models_are_listed_and_chosen(start: Start, workspace: Path) -> None:
    agent = await start("--models", "small,large")
    created = await agent.request("session/new", cwd=str(workspace), mcpServers=[])
    (option,) = created["configOptions"]
    assert (option["category"], option["currentValue"]) == ("model", "small")
    session = created["sessionId"]
    chosen = await agent.request("session/set_config_option", sessionId=session, configId="model", value="large")
    assert chosen["configOptions"][0]["currentValue"] == "large"
    await agent.request("session/set_model", sessionId=session, modelId="small")
    with pytest.raises(AgentError):
        await agent.request("session/set_model", sessionId=session, modelId="huge")


@pytest.mark.parametrize("phase", ["initialize", "new", "resume", "prompt"])
async def test_an_agent_dies_in_the_phase_that_it_is_told_to(start: Start, workspace: Path, phase: str) -> None:
    healthy = await start()
    session = await healthy.new(workspace)
    agent = await start("--crash-on", phase)
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "initialize": ("initialize", {"protocolVersion": 1}),
        "new": ("session/new", {"cwd": str(workspace), "mcpServers": []}),
        "resume": ("session/resume", place(session, workspace)),
        "prompt": ("session/prompt", {"sessionId": session, "prompt": []}),
    }
    method, params = calls[phase]
    with pytest.raises(AgentGoneError):
        await agent.request(method, **params)
    assert await agent.exit_code() == 3


async def test_the_session_log_holds_the_bytes_that_came_in(start: Start, tmp_path: Path) -> None:
    log = tmp_path / "in.log"
    agent = await start("--session-log", str(log), "--start-delay", "1")
    agent.send_line(b'{"jsonrpc": "2.0",  "method": "x"}')
    await agent.end()
    assert log.read_bytes() == b'{"jsonrpc": "2.0",  "method": "x"}\n'
