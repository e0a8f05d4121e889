"""A running turn: its start, its cancellation, steering, crashes, compaction, summaries."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from support.rehearsal import AgentError, AgentGoneError, Outcome, RehearsalClient, Start, names_in

HISTORY = "\n".join(["- never use tabs", *(f"- run {number} did something of note" for number in range(30))])
REQUEST = f"Summarise the history below.\n{HISTORY}"


def runs(agent: RehearsalClient) -> bool:
    """Whether a command that prints its process id is running."""
    return any(update.get("status") == "in_progress" for update in agent.updates)


def printed_pid(agent: RehearsalClient) -> int:
    update = next(update for update in agent.updates if update.get("status") == "in_progress")
    return int(update["content"][0]["content"]["text"])


async def test_turn_started_comes_first_and_usage_last(agent: RehearsalClient, workspace: Path) -> None:
    session = await agent.new(workspace)
    outcome = await agent.prompt(session, "x" * 400)
    turn_id = outcome.result["_meta"]["midstream/turnId"]
    assert outcome.updates[0]["_meta"] == {"midstream/turnStarted": {"turnId": turn_id}}
    assert outcome.updates[-1] == {"sessionUpdate": "usage_update", "used": 101, "size": 200_000}


async def test_cancel_kills_the_running_command_and_ends_the_turn(agent: RehearsalClient, workspace: Path) -> None:
    session = await agent.new(workspace, "fullAccess")
    prompt = agent.start_prompt(session, "run echo $$; exec tail -f /dev/null\nwrite after.txt: x")
    await agent.until(lambda: runs(agent))
    agent.notify("session/cancel", sessionId=session)
    assert (await prompt)["stopReason"] == "cancelled"
    with pytest.raises(ProcessLookupError):
        os.kill(printed_pid(agent), 0)
    assert not (workspace / "after.txt").exists()
    last_tool_update = [update for update in agent.updates if update["sessionUpdate"] == "tool_call_update"][-1]
    assert last_tool_update["status"] == "failed"
    assert (await agent.prompt(session, "say: alive")).messages() == ["alive"]


async def test_cancel_right_behind_the_prompt_is_not_lost(agent: RehearsalClient, workspace: Path) -> None:
    session = await agent.new(workspace)
    prompt = agent.start_prompt(session, "sleep 600000")
    agent.notify("session/cancel", sessionId=session)
    assert (await prompt)["stopReason"] == "cancelled"


async def test_cancel_ends_a_turn_that_waits_for_permission(agent: RehearsalClient, workspace: Path) -> None:
    session = await agent.new(workspace)
    agent.on_permission = None
    prompt = agent.start_prompt(session, "run touch a.txt")
    await agent.until(lambda: bool(agent.permissions))
    agent.notify("session/cancel", sessionId=session)
    assert (await prompt)["stopReason"] == "cancelled"
    assert names_in(workspace) == []


async def test_a_permission_answered_cancelled_ends_the_turn(agent: RehearsalClient, workspace: Path) -> None:
    session = await agent.new(workspace)
    agent.on_permission = lambda _: {"outcome": {"outcome": "cancelled"}}
    outcome = await agent.prompt(session, "run touch a.txt\nsay: on")
    assert outcome.result["stopReason"] == "cancelled"
    assert outcome.messages() == []


async def test_a_second_prompt_is_refused_while_one_runs(agent: RehearsalClient, workspace: Path) -> None:
    session = await agent.new(workspace)
    first = agent.start_prompt(session, "sleep 600000")
    with pytest.raises(AgentError, match="still running"):
        await agent.prompt(session, "say: me too")
    agent.notify("session/cancel", sessionId=session)
    await first


async def test_steered_text_is_obeyed_before_the_next_directive(agent: RehearsalClient, workspace: Path) -> None:
    session = await agent.new(workspace)
    agent.on_permission = None
    prompt = agent.start_prompt(session, "ask: Wait?\nsay: last")
    await agent.until(lambda: bool(agent.permissions))
    steered = await agent.request("_midstream/steer", sessionId=session, text="say: steered")
    assert steered == {"accepted": True}
    option_id = agent.permissions[0]["options"][0]["optionId"]
    agent.send({"id": agent.permission_ids[0], "result": {"outcome": {"outcome": "selected", "optionId": option_id}}})
    turn_id = (await prompt)["_meta"]["midstream/turnId"]
    outcome = Outcome({}, tuple(agent.updates))
    assert outcome.messages() == ["Answer: Yes", "steered", "last"]
    assert outcome.meta("midstream/steerTaken") == [{"turnId": turn_id, "text": "say: steered"}]
    assert "say: steered" in [entry["text"] for entry in await agent.recall(session)]


async def test_text_steered_into_a_turn_that_ends_first_is_not_in_the_history(
    agent: RehearsalClient, workspace: Path
) -> None:
    session = await agent.new(workspace)
    prompt = agent.start_prompt(session, "sleep 600000")
    steered = await agent.request("_midstream/steer", sessionId=session, text="never taken")
    assert steered == {"accepted": True}
    agent.notify("session/cancel", sessionId=session)
    await prompt
    assert "never taken" not in [entry["text"] for entry in await agent.recall(session)]


async def test_steering_without_a_turn_is_not_accepted(agent: RehearsalClient, workspace: Path) -> None:
    session = await agent.new(workspace)
    assert await agent.request("_midstream/steer", sessionId=session, text="say: x") == {"accepted": False}


async def test_a_crash_keeps_what_was_sent_and_what_was_done(start: Start, workspace: Path) -> None:
    agent = await start()
    session = await agent.new(workspace)
    with pytest.raises(AgentGoneError):
        await agent.prompt(session, "say: before\nstream 2000 100\ncrash\nsay: after")
    assert await agent.exit_code() == 3
    assert len(Outcome({}, tuple(agent.updates)).messages()[1]) == 200_000
    again = await start()
    await again.request("session/resume", sessionId=session, cwd=str(workspace), mcpServers=[])
    recalled = await again.recall(session)
    assert [entry["text"] for entry in recalled[1:2]] == ["before"]
    assert recalled[0]["text"].startswith("say: before")
    assert len(recalled[2]["text"]) == 200_000


async def test_a_killed_agent_keeps_the_prompt_and_the_output_so_far(start: Start, workspace: Path) -> None:
    agent = await start()
    session = await agent.new(workspace)
    prompt = agent.start_prompt(session, "say: so far\nsleep 600000")
    await agent.until(lambda: bool(Outcome({}, tuple(agent.updates)).messages()))
    agent.process.send_signal(signal.SIGKILL)
    with pytest.raises(AgentGoneError):
        await prompt
    again = await start()
    await again.request("session/resume", sessionId=session, cwd=str(workspace), mcpServers=[])
    assert await again.recall(session) == [
        {"role": "user", "text": "say: so far\nsleep 600000"},
        {"role": "agent", "text": "so far"},
        {"role": "user", "text": "recall"},
    ]


@pytest.mark.parametrize("ending", ["eof", "terminate"])
async def test_the_end_of_the_agent_ends_its_commands(agent: RehearsalClient, workspace: Path, ending: str) -> None:
    session = await agent.new(workspace, "fullAccess")
    prompt = agent.start_prompt(session, "run echo $$; exec tail -f /dev/null")
    await agent.until(lambda: runs(agent))
    if ending == "terminate":
        agent.process.terminate()
    assert await agent.end() == 0
    with pytest.raises(ProcessLookupError):
        os.kill(printed_pid(agent), 0)
    with pytest.raises(AgentGoneError):
        await prompt


async def test_compaction_leaves_a_summary_and_the_present_turn(agent: RehearsalClient, workspace: Path) -> None:
    session = await agent.new(workspace)
    await agent.prompt(session, "say: a secret")
    outcome = await agent.prompt(session, "compact")
    text = "Summary of 2 earlier entries."
    assert outcome.meta("midstream/compaction") == [{"summary": text}]
    assert await agent.recall(session) == [
        {"role": "summary", "text": text},
        {"role": "user", "text": "compact"},
        {"role": "user", "text": "recall"},
    ]


async def test_a_summary_request_is_answered_and_its_lines_are_not_obeyed(
    agent: RehearsalClient, workspace: Path
) -> None:
    session = await agent.new(workspace, "fullAccess")
    outcome = await agent.prompt(session, f"{REQUEST}\nwrite a.txt: x")
    (answer,) = outcome.messages()
    assert "- never use tabs" in answer
    assert len(answer) < len(HISTORY)
    assert names_in(workspace) == []


@pytest.mark.parametrize(
    ("behaviour", "shows"),
    [
        ("long", lambda answer: len(answer) > 2 * len(HISTORY)),
        ("invalid", lambda answer: "\x00" in answer),
        ("drops", lambda answer: "tabs" not in answer),
        ("orders", lambda answer: "\nwrite orders.txt: obeyed" in answer),
    ],
)
async def test_a_summariser_misbehaves_as_told_in_every_later_session(
    start: Start, workspace: Path, behaviour: str, shows: Callable[[str], bool]
) -> None:
    agent = await start()
    await agent.prompt(await agent.new(workspace), f"summary {behaviour}")
    await agent.end()
    again = await start()
    outcome = await again.prompt(await again.new(workspace), REQUEST)
    assert shows(outcome.messages()[0])


async def test_a_hanging_summariser_can_be_cancelled(agent: RehearsalClient, workspace: Path) -> None:
    session = await agent.new(workspace)
    await agent.prompt(session, "summary hang")
    prompt = agent.start_prompt(session, REQUEST)
    await agent.request("_midstream/turns", sessionId=session)
    assert not prompt.done()
    agent.notify("session/cancel", sessionId=session)
    assert (await prompt)["stopReason"] == "cancelled"
