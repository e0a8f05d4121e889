"""What an ACP client must survive, each against a real process that misbehaves so."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import psutil
import pytest

from midstream.server.providers.adapter import McpServer, ProviderError, Reply, ResumeFailed
from midstream.server.providers.drafts import CommandDraft, MessageDraft, NoticeDraft, ToolDraft
from midstream.server.providers.events import (
    ItemChanged,
    OutputAppended,
    RequestAsked,
    RequestWithdrawn,
    TurnAccepted,
    TurnEnded,
)
from midstream.server.providers.requests import Patience
from support.acp_turns import bad_agent, chunk
from support.turns import asked, ended, last_of_each, of, opened, options_in, said, turn, until, words, written

ONCE = {"optionId": "zz-9", "name": "Yes", "kind": "allow_once"}
ALWAYS = {"optionId": "aa-1", "name": "Always", "kind": "allow_always"}
NEVER = {"optionId": "mm-5", "name": "No", "kind": "reject_once"}
END = {"answer": {"stopReason": "end_turn"}}
MODES = {"currentModeId": "yolo", "availableModes": [{"id": mode} for mode in ("default", "autoEdit", "yolo", "plan")]}
ACCEPT = Reply(decision="accept", option_id=None, answers=None, message=None)
DECLINE = Reply(decision="decline", option_id=None, answers=None, message=None)
IMPATIENT = Patience(cancel=0.2, grace=0.05)


def permission(*options: dict[str, str], request_id: object = 7, **call: object) -> dict[str, object]:
    """A step that asks for permission."""
    params = {"sessionId": "s1", "toolCall": {"toolCallId": "c1", **call}, "options": list(options)}
    return {"send": {"id": request_id, "method": "session/request_permission", "params": params}}


async def test_a_plain_turn_is_accepted_streamed_and_ended(tmp_path: Path) -> None:
    agent = bad_agent(tmp_path)
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        events = await turn(session, thread.ref, "hi", options_in(tmp_path))
    assert [type(event) for event in events] == [TurnAccepted, ItemChanged, OutputAppended, ItemChanged, TurnEnded]
    assert said(events) == "hello"
    assert ended(events) == TurnEnded(status="completed")
    ((ref, message),) = last_of_each(events).items()
    assert (message.draft, message.status) == (MessageDraft(type="agentMessage"), "completed")
    assert written(events) == {ref: "hello"}


async def test_1_a_cancel_answers_what_is_pending_and_what_is_asked_after_it(tmp_path: Path) -> None:
    script = [
        permission(ONCE, NEVER, title="rm"), {"wait": "session/cancel"}, {"wait": "answer"},
        permission(ONCE, request_id=8), {"wait": "answer"}, {"answer": {"stopReason": "cancelled"}},
    ]  # fmt: skip
    agent = bad_agent(tmp_path, session_prompt=script)
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        running = session.run_turn(thread.ref, words("go"), options_in(tmp_path))
        request, _ = await asked(running)
        await session.interrupt(thread.ref)
        rest = await until(running, lambda event: False)
        with pytest.raises(ProviderError, match="no longer waits"):
            await session.respond(thread.ref, request.ref, ACCEPT)
    assert ended(rest) == TurnEnded(status="interrupted")
    assert of(RequestWithdrawn, rest) == [RequestWithdrawn(ref=request.ref)]
    assert of(RequestAsked, rest) == []
    cancelled = {"outcome": {"outcome": "cancelled"}}
    assert [(answer["id"], answer["result"]) for answer in agent.answers()] == [(7, cancelled), (8, cancelled)]


async def test_2_an_agent_that_never_ends_a_cancelled_turn_is_ended(tmp_path: Path) -> None:
    agent = bad_agent(tmp_path, IMPATIENT, session_prompt=[{"update": chunk("a")}, {"wait": "never"}])
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        running = session.run_turn(thread.ref, words("go"), options_in(tmp_path))
        before = await until(running, lambda event: isinstance(event, OutputAppended))
        await session.interrupt(thread.ref)
        rest = await until(running, lambda event: False)
        assert ended(rest) == TurnEnded(status="interrupted")
        assert last_of_each([*before, *rest]).popitem()[1].status == "interrupted"
        assert not session.live
        assert session.pid is None


async def test_2_a_cancelled_turn_was_interrupted_whatever_the_agent_calls_it(tmp_path: Path) -> None:
    agent = bad_agent(tmp_path, session_prompt=[{"update": chunk("a")}, {"wait": "session/cancel"}, END])
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        running = session.run_turn(thread.ref, words("go"), options_in(tmp_path))
        await until(running, lambda event: isinstance(event, OutputAppended))
        await session.interrupt(thread.ref)
        assert ended(await until(running, lambda event: False)) == TurnEnded(status="interrupted")
        assert session.live


async def test_2_a_turn_cancelled_before_it_is_sent_is_never_sent(tmp_path: Path) -> None:
    modes = {"currentModeId": "yolo", "availableModes": [{"id": "yolo"}, {"id": "default"}]}
    new = [{"answer": {"sessionId": "s1", "modes": modes}}]
    set_mode = [[{"answer": {}}], [{"wait": "_go"}, {"answer": {}}]]
    agent = bad_agent(tmp_path, session_new=new, session_set_mode=set_mode)
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        running = session.run_turn(thread.ref, words("go"), options_in(tmp_path, "fullAccess"))
        all_of_it = asyncio.create_task(until(running, lambda event: False))
        await asyncio.sleep(0)
        await session.interrupt(thread.ref)
        await session._connection.notify("_go", {})
        assert await all_of_it == [TurnEnded(status="interrupted")]
        assert session.live
    assert agent.received("session/prompt") == []


async def test_3_a_second_prompt_of_the_same_conversation_is_refused(tmp_path: Path) -> None:
    agent = bad_agent(tmp_path, session_prompt=[permission(ONCE), {"wait": "answer"}, END])
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        running = session.run_turn(thread.ref, words("one"), options_in(tmp_path))
        request, _ = await asked(running)
        with pytest.raises(ProviderError, match="runs a turn"):
            await turn(session, thread.ref, "two", options_in(tmp_path))
        await session.respond(thread.ref, request.ref, ACCEPT)
        assert ended(await until(running, lambda event: False)).status == "completed"
    assert len(agent.received("session/prompt")) == 1


async def test_4_a_replay_that_goes_on_after_the_load_answer_is_not_taken_as_live(tmp_path: Path) -> None:
    load = [{"update": chunk("old"), "times": 500}, {"answer": None}, {"pause": 0.02}, {"update": chunk("late")}]
    agent = bad_agent(tmp_path, Patience(grace=0.5), capabilities={"loadSession": True}, session_load=load)
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.resume_thread("s9", options_in(tmp_path))
        events = await turn(session, thread.ref, "hi", options_in(tmp_path))
    assert thread.ref == "s9"
    assert said(events) == "hello"


async def test_5_no_file_system_and_no_terminal_are_offered(tmp_path: Path) -> None:
    agent = bad_agent(tmp_path)
    async with opened(agent.driver, tmp_path):
        pass
    (initialize,) = agent.received("initialize")
    assert initialize["protocolVersion"] == 1
    assert initialize["clientCapabilities"] == {
        "fs": {"readTextFile": False, "writeTextFile": False},
        "terminal": False,
    }


async def test_6_a_permission_request_before_any_tool_call_makes_the_item_that_it_is_about(tmp_path: Path) -> None:
    orphan = {"sessionUpdate": "tool_call_update", "toolCallId": "c1"}
    output = {"output": "a\n", "exitCode": 0}
    script = [
        permission(ONCE, NEVER, title="ls", kind="execute", rawInput={"command": "ls -la"}), {"wait": "answer"},
        {"update": {**orphan, "status": "completed", "rawOutput": output}},
        END,
    ]  # fmt: skip
    agent = bad_agent(tmp_path, session_prompt=script)
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        running = session.run_turn(thread.ref, words("go"), options_in(tmp_path))
        request, before = await asked(running)
        await session.respond(thread.ref, request.ref, ACCEPT)
        rest = await until(running, lambda event: False)
    assert isinstance(before[0], TurnAccepted)
    (item,) = of(ItemChanged, before)
    assert (item.ref, item.status) == ("c1", "waiting")
    assert (request.target_ref, request.kind, request.detail.command) == ("c1", "command", "ls -la")
    done = CommandDraft(command="ls -la", cwd=str(tmp_path), output="a\n", exit_code=0)
    assert (last_of_each(rest)["c1"].draft, last_of_each(rest)["c1"].status) == (done, "completed")


async def test_6_null_titles_and_orphan_updates_make_an_item(tmp_path: Path) -> None:
    orphan = {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "o1",
        "title": None,
        "kind": None,
        "status": "exploded",
    }
    agent = bad_agent(tmp_path, session_prompt=[permission(ONCE, title=None, kind=None), {"update": orphan}, END])
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        events = await turn(session, thread.ref, "go", options_in(tmp_path))
    assert of(RequestAsked, events)[0].kind == "permission"
    assert of(RequestWithdrawn, events) == [RequestWithdrawn(ref=of(RequestAsked, events)[0].ref)]
    items = last_of_each(events)
    assert isinstance(items["o1"].draft, ToolDraft)
    assert (items["o1"].status, items["c1"].status) == ("interrupted", "interrupted")


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (DECLINE, {"outcome": "cancelled"}),
        (ACCEPT, {"outcome": "selected", "optionId": "zz-9"}),
        (Reply(decision="decline", option_id="aa-1", answers=None, message=None), {"outcome": "cancelled"}),
    ],
    ids=["a decline without a reject option", "an accept", "a decline that names an allow option"],
)
async def test_7_options_are_chosen_by_their_kind(tmp_path: Path, reply: Reply, outcome: dict[str, str]) -> None:
    agent = bad_agent(tmp_path, session_prompt=[permission(ALWAYS, ONCE), {"wait": "answer"}, END])
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        running = session.run_turn(thread.ref, words("go"), options_in(tmp_path))
        request, _ = await asked(running)
        await session.respond(thread.ref, request.ref, reply)
        await until(running, lambda event: False)
    assert agent.answers()[0]["result"] == {"outcome": outcome}


@pytest.mark.parametrize("code", [-32602, -32603, -32002])
async def test_8_a_session_id_that_is_unknown_makes_the_resume_fail(tmp_path: Path, code: int) -> None:
    refused = [{"error": {"code": code, "message": "Session not found"}}]
    agent = bad_agent(tmp_path, capabilities={"loadSession": True}, session_load=refused)
    async with opened(agent.driver, tmp_path) as session:
        with pytest.raises(ResumeFailed, match="not found"):
            await session.resume_thread("gone", options_in(tmp_path))
        assert (await session.start_thread(options_in(tmp_path))).ref == "s1"


async def test_8_a_refusal_before_anything_was_said_takes_nothing(tmp_path: Path) -> None:
    agent = bad_agent(tmp_path, session_prompt=[{"answer": {"stopReason": "refusal"}}])
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        with pytest.raises(ProviderError, match="refused") as raised:
            await turn(session, thread.ref, "go", options_in(tmp_path))
    assert raised.value.failure.class_ == "provider_error"


async def test_8_a_resume_that_is_announced_and_missing_becomes_a_load(tmp_path: Path) -> None:
    missing = [{"error": {"code": -32601, "message": "Method not found"}}]
    capabilities = {"loadSession": True, "sessionCapabilities": {"resume": {}}}
    agent = bad_agent(tmp_path, capabilities=capabilities, session_resume=missing)
    async with opened(agent.driver, tmp_path) as session:
        assert (await session.resume_thread("s9", options_in(tmp_path))).ref == "s9"
    assert agent.methods() == ["initialize", "session/resume", "session/load"]


async def test_8_a_resume_that_replays_all_the_same_tells_nothing(tmp_path: Path) -> None:
    resume = [{"update": chunk("old")}, {"answer": {}}, {"update": chunk("older")}]
    capabilities: dict[str, object] = {"sessionCapabilities": {"resume": {}}}
    agent = bad_agent(tmp_path, capabilities=capabilities, session_resume=resume)
    async with opened(agent.driver, tmp_path) as session:
        await session.resume_thread("s9", options_in(tmp_path))
        assert said(await turn(session, "s9", "hi", options_in(tmp_path))) == "hello"


async def test_8_an_agent_that_can_neither_load_nor_resume_is_asked_for_nothing(tmp_path: Path) -> None:
    agent = bad_agent(tmp_path)
    async with opened(agent.driver, tmp_path) as session:
        with pytest.raises(ResumeFailed):
            await session.resume_thread("s9", options_in(tmp_path))
        assert agent.methods() == ["initialize"]


async def test_8_a_login_that_is_required_is_no_stale_conversation(tmp_path: Path) -> None:
    login = [{"error": {"code": -32000, "message": "Authentication required"}}]
    agent = bad_agent(tmp_path, capabilities={"loadSession": True}, session_load=login)
    async with opened(agent.driver, tmp_path) as session:
        with pytest.raises(ProviderError) as raised:
            await session.resume_thread("s9", options_in(tmp_path))
    assert not isinstance(raised.value, ResumeFailed)
    assert raised.value.failure.class_ == "authentication"


async def test_9_vendor_traffic_is_refused_or_ignored_and_life_goes_on(tmp_path: Path) -> None:
    script = [
        {"send": {"method": "vendor/news", "params": {"x": 1}}},
        {"send": {"method": "session/update", "params": {"sessionId": "other"}}},
        {"send": {"id": "v-1", "method": "vendor/ask", "params": []}}, {"wait": "answer"},
        {"send": {"id": 2, "method": "fs/read_text_file", "params": {"sessionId": "s1"}}}, {"wait": "answer"},
        {"update": {"sessionUpdate": "_vendor"}}, {"send": {"id": 999, "result": {}}}, {"update": chunk("on")}, END,
    ]  # fmt: skip
    agent = bad_agent(tmp_path, session_prompt=script)
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        assert said(await turn(session, thread.ref, "go", options_in(tmp_path))) == "on"
    assert [(answer["id"], answer["error"]["code"]) for answer in agent.answers()] == [("v-1", -32601), (2, -32601)]


async def test_10_noise_on_stdout_huge_lines_and_megabytes_on_stderr_do_no_harm(tmp_path: Path) -> None:
    noise: list[dict[str, Any]] = [{"raw": line} for line in ("Welcome!", "42", "[]", "null", "", "{", '{"id":1}')]
    script = [
        *noise,
        {"stderr": 3_000_000},
        {"update": chunk("A" * 500_000)},
        {"raw": "\x1b[0m"},
        {"update": chunk("B")},
    ]
    agent = bad_agent(
        tmp_path, initialize=[*noise[:-1], {"answer": {"protocolVersion": 1}}], session_prompt=[*script, END]
    )
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        events = await turn(session, thread.ref, "go", options_in(tmp_path))
    assert said(events) == "A" * 500_000 + "B"
    assert ended(events).status == "completed"


async def test_10_half_a_surrogate_pair_costs_one_character_not_the_message(tmp_path: Path) -> None:
    params = {"sessionId": "s1", "update": chunk("a\ud83d")}
    line = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params})
    assert "\\ud83d" in line
    agent = bad_agent(tmp_path, session_prompt=[{"raw": line}, END])
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        assert said(await turn(session, thread.ref, "go", options_in(tmp_path))) == "a?"


async def test_11_the_cwd_is_absolute_real_and_there(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    agent = bad_agent(tmp_path)
    async with opened(agent.driver, link) as session:
        await session.start_thread(options_in(link))
        for wrong in (Path("relative"), tmp_path / "missing"):
            with pytest.raises(ProviderError, match="not there"):
                await session.start_thread(options_in(wrong))
    assert agent.received("session/new") == [{"cwd": str(real.resolve()), "mcpServers": []}]


async def test_11_mcp_servers_are_given_at_every_opening(tmp_path: Path) -> None:
    server = McpServer(name="reader", command="/bin/reader", args=("--x",), env={"A": "1"})
    agent = bad_agent(tmp_path, capabilities={"sessionCapabilities": {"resume": {}, "fork": {}}})
    async with opened(agent.driver, tmp_path) as session:
        options = options_in(tmp_path, mcp_servers=(server,))
        await session.start_thread(options)
        await session.resume_thread("s9", options)
        await session.fork_thread("s9", None, options)
    told = [{"name": "reader", "command": "/bin/reader", "args": ["--x"], "env": [{"name": "A", "value": "1"}]}]
    for method in ("session/new", "session/resume", "session/fork"):
        assert [params["mcpServers"] for params in agent.received(method)] == [told]


async def test_12_updates_before_the_new_answer_are_no_part_of_the_first_turn(tmp_path: Path) -> None:
    new = [
        {"update": chunk("early")},
        {"answer": {"sessionId": "s1"}},
        {"update": {"sessionUpdate": "available_commands_update"}},
    ]
    agent = bad_agent(tmp_path, session_new=new, session_prompt=[{"error": {"code": -32603, "message": "no"}}])
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        with pytest.raises(ProviderError, match="no"):
            await turn(session, thread.ref, "go", options_in(tmp_path))


async def test_12_updates_and_requests_before_the_prompt_is_sent_are_no_part_of_its_turn(tmp_path: Path) -> None:
    early = [{"update": chunk("early")}, permission(ONCE, title="early"), {"wait": "answer"}, {"answer": {}}]
    agent = bad_agent(
        tmp_path,
        session_new=[{"answer": {"sessionId": "s1", "modes": MODES}}],
        session_set_mode=[[{"answer": {}}], early],
    )
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        events = await turn(session, thread.ref, "go", options_in(tmp_path, "readOnly"))
    assert said(events) == "hello"
    assert of(RequestAsked, events) == []
    assert agent.answers()[0]["result"] == {"outcome": {"outcome": "cancelled"}}


async def test_12_chunks_after_the_end_of_the_turn_are_in_it_and_in_order(tmp_path: Path) -> None:
    late = [{"update": chunk(f"{number} ")} for number in range(100)]
    agent = bad_agent(tmp_path, session_prompt=[{"update": chunk("start ")}, END, *late])
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        events = await turn(session, thread.ref, "go", options_in(tmp_path))
    assert said(events) == "start " + "".join(f"{number} " for number in range(100))
    assert ended(events).status == "completed"


async def test_13_an_agent_that_ignores_its_end_is_ended_with_its_children(tmp_path: Path) -> None:
    os.mkfifo(fifo := tmp_path / "held")
    agent = bad_agent(tmp_path, initialize=[{"child": str(fifo)}, {"answer": {"protocolVersion": 1}}])
    session = await agent.driver.open(tmp_path)
    with await asyncio.to_thread(fifo.open) as held:
        assert await asyncio.to_thread(held.read, 2) == "up"
        await session.aclose()
        assert await asyncio.to_thread(held.read) == ""
    assert session.pid is None


async def test_13_a_dead_agent_fails_the_turn_though_a_grandchild_holds_its_pipes(tmp_path: Path) -> None:
    os.mkfifo(fifo := tmp_path / "held")
    script = [
        {"child": str(fifo)},
        {"update": chunk("a")},
        {"wait": "session/cancel"},
        {"say": "it broke"},
        {"exit": 9},
    ]
    agent = bad_agent(tmp_path, session_prompt=script)
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        running = session.run_turn(thread.ref, words("go"), options_in(tmp_path))
        await until(running, lambda event: isinstance(event, OutputAppended))
        with await asyncio.to_thread(fifo.open) as held:
            assert await asyncio.to_thread(held.read, 2) == "up"
            await session._connection.notify("session/cancel", {})
            end = ended(await until(running, lambda event: False))
            assert await asyncio.to_thread(held.read) == ""
    assert end.failure is not None
    assert end.failure.class_ == "transport_error"
    assert end.failure.message == "The agent's process ended with exit status 9: it broke"


async def test_13_an_agent_that_closes_its_output_is_ended(tmp_path: Path) -> None:
    agent = bad_agent(tmp_path, session_prompt=[{"update": chunk("a")}, {"close": "stdout"}, {"wait": "never"}])
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        end = ended(await turn(session, thread.ref, "go", options_in(tmp_path)))
        assert end.status == "failed"
        assert not session.live
        with pytest.raises(ProviderError) as raised:
            await session.start_thread(options_in(tmp_path))
        with pytest.raises(ProviderError):
            await turn(session, thread.ref, "again", options_in(tmp_path))
    assert raised.value.failure.class_ == "transport_error"


async def test_14_the_mode_is_asserted_at_every_opening_and_when_it_changed(tmp_path: Path) -> None:
    opened_with = [{"answer": {"sessionId": "s1", "modes": MODES}}]
    capabilities: dict[str, object] = {"sessionCapabilities": {"resume": {}, "fork": {}}}
    agent = bad_agent(
        tmp_path,
        capabilities=capabilities,
        session_new=opened_with,
        session_resume=opened_with,
        session_fork=opened_with,
    )
    async with opened(agent.driver, tmp_path) as session:
        await session.start_thread(options_in(tmp_path, "fullAccess"))
        await session.resume_thread("s1", options_in(tmp_path, "readOnly"))
        await session.fork_thread("s1", None, options_in(tmp_path))
        await turn(session, "s1", "hi", options_in(tmp_path))
        await turn(session, "s1", "hi", options_in(tmp_path, "autoAcceptEdits"))
    modes = [params["modeId"] for params in agent.received("session/set_mode")]
    assert modes == ["yolo", "plan", "default", "autoEdit"]
    assert agent.methods()[-2:] == ["session/set_mode", "session/prompt"]


async def test_14_a_mode_that_the_agent_widens_by_itself_is_set_back(tmp_path: Path) -> None:
    widened = {"sessionUpdate": "current_mode_update", "currentModeId": "yolo"}
    agent = bad_agent(
        tmp_path,
        session_new=[{"answer": {"sessionId": "s1", "modes": MODES}}],
        session_prompt=[{"update": widened}, {"wait": "session/set_mode"}, END],
    )
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        assert ended(await turn(session, thread.ref, "go", options_in(tmp_path))).status == "completed"
    assert [params["modeId"] for params in agent.received("session/set_mode")] == ["default", "default"]


async def test_14_a_mode_that_cannot_be_set_opens_no_conversation(tmp_path: Path) -> None:
    refused = [{"error": {"code": -32603, "message": "no such mode"}}]
    agent = bad_agent(
        tmp_path, session_new=[{"answer": {"sessionId": "s1", "modes": MODES}}], session_set_mode=refused
    )  # fmt: skip
    async with opened(agent.driver, tmp_path) as session:
        with pytest.raises(ProviderError, match="no such mode"):
            await session.start_thread(options_in(tmp_path))


@pytest.mark.parametrize(
    ("stop", "status", "notice"),
    [("max_tokens", "completed", "limit of tokens"), ("max_turn_requests", "completed", "model requests"),
     ("weird_reason", "completed", "weird_reason"), ("cancelled", "interrupted", None)],
)  # fmt: skip
async def test_every_stop_reason_ends_the_turn(tmp_path: Path, stop: str, status: str, notice: str | None) -> None:
    agent = bad_agent(tmp_path, session_prompt=[{"update": chunk("a")}, {"answer": {"stopReason": stop}}])
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        events = await turn(session, thread.ref, "go", options_in(tmp_path))
    assert ended(events).status == status
    notices = [item.draft.message for item in of(ItemChanged, events) if isinstance(item.draft, NoticeDraft)]
    assert len(notices) == (0 if notice is None else 1)
    assert notice is None or notice in notices[0]


async def test_an_error_after_the_turn_was_taken_fails_it_with_its_class(tmp_path: Path) -> None:
    error = {
        "code": -32603,
        "message": "broke",
        "data": {"class": "usage_limit", "resetAt": "2026-12-02T00:00:00.000Z"},
    }
    agent = bad_agent(tmp_path, session_prompt=[{"update": chunk("a")}, {"error": error}])
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        failure = ended(await turn(session, thread.ref, "go", options_in(tmp_path))).failure
    assert failure is not None
    assert (failure.class_, failure.reset_at) == ("usage_limit", "2026-12-02T00:00:00.000Z")


async def test_a_withdrawn_request_is_told_and_answered_as_cancelled(tmp_path: Path) -> None:
    script = [
        permission(ONCE),
        {"send": {"method": "$/cancel_request", "params": {"requestId": 7}}},
        {"wait": "answer"},
        END,
    ]
    agent = bad_agent(tmp_path, session_prompt=script)
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        events = await turn(session, thread.ref, "go", options_in(tmp_path))
    assert of(RequestWithdrawn, events) == [RequestWithdrawn(ref=of(RequestAsked, events)[0].ref)]
    assert agent.answers()[0]["error"]["code"] == -32800


async def test_an_abandoned_turn_is_cancelled_and_the_next_one_waits_for_its_end(tmp_path: Path) -> None:
    first = [
        {"update": chunk("a"), "times": 5000},
        permission(ONCE),
        {"wait": "session/cancel"},
        {"wait": "answer"},
        END,
    ]
    agent = bad_agent(tmp_path, session_prompt=[first, [{"update": chunk("second")}, END]])
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        running = session.run_turn(thread.ref, words("one"), options_in(tmp_path))
        assert isinstance(running, AsyncGenerator)
        async with aclosing(running):
            await anext(running)
        assert said(await turn(session, thread.ref, "two", options_in(tmp_path))) == "second"


async def test_a_fast_agent_is_slowed_while_nobody_takes_its_events(tmp_path: Path) -> None:
    agent = bad_agent(tmp_path, session_prompt=[{"update": chunk("x" * 10_000), "times": 500}, END, {"exit": 0}])
    async with opened(agent.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        running = session.run_turn(thread.ref, words("go"), options_in(tmp_path))
        await anext(running)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):  # it would write all and exit, were it not held up
                await session._process.wait()
        rest = await until(running, lambda event: False)
    assert len(said(rest)) == 5_000_000
    assert ended(rest).status == "completed"


async def test_an_agent_that_does_not_answer_in_time_is_ended(tmp_path: Path) -> None:
    agent = bad_agent(tmp_path, Patience(answer=0.3), initialize=[{"wait": "never"}])
    with pytest.raises(ProviderError, match="did not answer initialize") as raised:
        await agent.driver.open(tmp_path)
    assert raised.value.failure.class_ == "transport_error"
    assert psutil.Process().children() == []


async def test_an_agent_that_dies_at_its_start_says_its_last_words(tmp_path: Path) -> None:
    agent = bad_agent(tmp_path, initialize=[{"say": "no config"}, {"exit": 2}])
    with pytest.raises(ProviderError, match="exit status 2: no config"):
        await agent.driver.open(tmp_path)


async def test_a_cancelled_open_leaves_no_process(tmp_path: Path) -> None:
    agent = bad_agent(tmp_path, initialize=[{"wait": "never"}])
    opening = asyncio.create_task(agent.driver.open(tmp_path))
    done, _ = await asyncio.wait([opening], timeout=0.3)
    assert not done
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert psutil.Process().children() == []
