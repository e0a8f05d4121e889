"""Sessions on disk: list, load, resume, fork, rewind, close, across restarts."""

from pathlib import Path
from typing import Any

import pytest

from support.rehearsal import AgentError, RehearsalClient, Start, place, resource


def texts(entries: list[dict[str, Any]]) -> list[str]:
    return [entry["text"] for entry in entries]


async def two_turns(agent: RehearsalClient, workspace: Path) -> tuple[str, str, str]:
    """A session with two turns, and their ids."""
    session = await agent.new(workspace, "fullAccess")
    first = await agent.prompt(session, "say: one")
    second = await agent.prompt(session, "write two.txt: two")
    return session, first.result["_meta"]["midstream/turnId"], second.result["_meta"]["midstream/turnId"]


async def test_recall_lists_every_block_exactly_as_received(agent: RehearsalClient, workspace: Path) -> None:
    session = await agent.new(workspace)
    image = {"type": "image", "mimeType": "image/png", "data": "AA=="}
    await agent.prompt(session, resource("the handoff \n\n"), "say: hé\r\n", image)
    assert await agent.recall(session) == [
        {"role": "user", "text": "the handoff \n\n"},
        {"role": "user", "text": "say: hé\r\n"},
        {"role": "user", "text": "[image image/png]"},
        {"role": "agent", "text": "Noted."},
        {"role": "agent", "text": "hé"},
        {"role": "user", "text": "recall"},
    ]


async def test_load_replays_the_conversation_before_it_answers(start: Start, workspace: Path) -> None:
    agent = await start()
    session, _, _ = await two_turns(agent, workspace)
    await agent.end()
    again = await start()
    answer = await again.request("session/load", **place(session, workspace))
    assert answer["modes"]["currentModeId"] == "approvalRequired"
    assert [update["sessionUpdate"] for update in again.updates] == [
        "user_message_chunk",
        "agent_message_chunk",
        "user_message_chunk",
        "tool_call",
        "tool_call_update",
    ]
    assert texts(await again.recall(session)) == ["say: one", "one", "write two.txt: two", "recall"]


async def test_resume_replays_nothing_and_remembers_all(start: Start, workspace: Path) -> None:
    agent = await start()
    session, _, _ = await two_turns(agent, workspace)
    await agent.end()
    again = await start()
    await again.request("session/resume", **place(session, workspace))
    assert again.updates == []
    assert texts(await again.recall(session)) == ["say: one", "one", "write two.txt: two", "recall"]


async def test_list_tells_sessions_of_a_folder_and_agents_are_kept_apart(
    start: Start, workspace: Path, tmp_path: Path
) -> None:
    agent = await start()
    session, _, _ = await two_turns(agent, workspace)
    await agent.new(tmp_path)
    (listed,) = (await agent.request("session/list", cwd=str(workspace)))["sessions"]
    assert (listed["sessionId"], listed["cwd"], listed["title"]) == (session, str(workspace), "say: one")
    assert len((await agent.request("session/list"))["sessions"]) == 2
    other = await start("--name", "understudy")
    assert (await other.initialize())["agentInfo"]["name"] == "understudy"
    assert (await other.request("session/list"))["sessions"] == []


async def test_a_fork_goes_its_own_way(agent: RehearsalClient, workspace: Path) -> None:
    session, first, second = await two_turns(agent, workspace)
    fork = (await agent.request("session/fork", **place(session, workspace)))["sessionId"]
    turns = await agent.request("_midstream/turns", sessionId=fork)
    assert turns == {"turns": [first, second]}
    await agent.prompt(fork, "only in the fork")
    assert "only in the fork" not in texts(await agent.recall(session))
    assert "say: one" in texts(await agent.recall(fork))


async def test_a_fork_at_a_turn_has_that_turn_last(agent: RehearsalClient, workspace: Path) -> None:
    session, first, _ = await two_turns(agent, workspace)
    answer = await agent.request("_midstream/fork_at_turn", turnId=first, **place(session, workspace))
    assert texts(await agent.recall(answer["sessionId"])) == ["say: one", "one", "recall"]
    assert len((await agent.request("_midstream/turns", sessionId=session))["turns"]) == 2


async def test_a_rewind_lasts_across_a_restart(start: Start, workspace: Path) -> None:
    agent = await start()
    session, first, _ = await two_turns(agent, workspace)
    left = await agent.request("_midstream/rewind", sessionId=session, toTurn=first)
    assert left == {"turns": [first]}
    assert texts(await agent.recall(session)) == ["say: one", "one", "recall"]
    await agent.request("_midstream/rewind", sessionId=session, toTurn=None)
    await agent.end()
    again = await start()
    assert await again.request("_midstream/turns", sessionId=session) == {"turns": []}
    await again.request("session/resume", **place(session, workspace))
    assert texts(await again.recall(session)) == ["recall"]


async def test_a_rewind_to_before_a_compaction_brings_the_conversation_back(
    agent: RehearsalClient, workspace: Path
) -> None:
    session, first, _ = await two_turns(agent, workspace)
    await agent.prompt(session, "compact")
    await agent.request("_midstream/rewind", sessionId=session, toTurn=first)
    assert texts(await agent.recall(session)) == ["say: one", "one", "recall"]


async def test_unknown_turns_and_sessions_are_errors(agent: RehearsalClient, workspace: Path) -> None:
    session, _, _ = await two_turns(agent, workspace)
    with pytest.raises(AgentError) as unknown_turn:
        await agent.request("_midstream/rewind", sessionId=session, toTurn="turn-x")
    assert unknown_turn.value.code == -32602
    for session_id in ("nope", "../other"):
        with pytest.raises(AgentError) as unknown_session:
            await agent.request("session/resume", **place(session_id, workspace))
        assert unknown_session.value.code == -32002


async def test_a_closed_session_takes_no_prompt_until_it_is_resumed(agent: RehearsalClient, workspace: Path) -> None:
    session, _, _ = await two_turns(agent, workspace)
    await agent.request("session/close", sessionId=session)
    with pytest.raises(AgentError, match="is open"):
        await agent.prompt(session, "say: x")
    await agent.request("session/resume", **place(session, workspace))
    assert (await agent.prompt(session, "say: x")).messages() == ["x"]


@pytest.mark.parametrize("cwd", ["relative", "/does/not/exist"])
async def test_a_session_needs_an_absolute_folder_that_exists(agent: RehearsalClient, cwd: str) -> None:
    with pytest.raises(AgentError) as refused:
        await agent.request("session/new", cwd=cwd, mcpServers=[])
    assert refused.value.code == -32602


async def test_lines_that_are_no_messages_are_answered_and_survived(agent: RehearsalClient, workspace: Path) -> None:
    agent.send_line(b"not json")
    agent.send_line(b"[42]")
    agent.notify("session/unheard_of")
    await agent.new(workspace)
    assert [update["error"]["code"] for update in agent.updates] == [-32700, -32600]
