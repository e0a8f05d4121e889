"""Conversations of the real Claude Code: resumed and forked, with what the model then has of them."""

import sys
from pathlib import Path

import pytest

from midstream.server.providers.adapter import McpServer, ProviderError, ResumeFailed
from midstream.server.providers.drafts import ToolDraft
from midstream.server.providers.events import TurnAccepted
from support.claude import user_blocks
from support.claude_stories import driver_of
from support.models.server import ModelServer
from support.turns import asked, ended, last_of_each, of, opened, options_in, said, turn, until, words

SERVER = Path(__file__).with_name("mcp_server.py")


async def test_a_fork_has_what_was_said_up_to_its_turn_and_leaves_the_conversation_as_it_is(
    claude_env: dict[str, str], model: ModelServer, workspace: Path
) -> None:
    options = options_in(workspace, "fullAccess")
    async with opened(driver_of(claude_env), workspace) as session:
        thread = await session.start_thread(options)
        first = await turn(session, thread.ref, "run echo 1\nsay: one", options)
        await turn(session, thread.ref, "say: two", options)
        (accepted,) = of(TurnAccepted, first)
        at_turn = await session.fork_thread(thread.ref, accepted.turn_ref, options)
        assert said(await turn(session, at_turn.ref, "say: in the fork", options)) == "in the fork"
        assert user_blocks(model.requests[-1]) == ["run echo 1\nsay: one", "say: in the fork"]
        assert "one" in str([one for one in model.requests[-1]["messages"] if one["role"] == "assistant"][-1])
        at_head = await session.fork_thread(thread.ref, None, options)
        await turn(session, at_head.ref, "say: at the head", options)
        assert user_blocks(model.requests[-1])[1:] == ["say: two", "say: at the head"]
        await turn(session, thread.ref, "say: three", options)
        assert user_blocks(model.requests[-1])[1:] == ["say: two", "say: three"]
        assert len({thread.ref, at_turn.ref, at_head.ref}) == 3
        with pytest.raises(ProviderError, match="does not have that turn"):
            await session.fork_thread(thread.ref, "00000000-0000-4000-8000-000000000000", options)


async def test_a_resumed_conversation_keeps_its_id_and_asserts_its_mode_anew(
    claude_env: dict[str, str], model: ModelServer, workspace: Path
) -> None:
    driver = driver_of(claude_env)
    async with opened(driver, workspace) as session:
        thread = await session.start_thread(options_in(workspace, "fullAccess"))
        await turn(session, thread.ref, "say: one", options_in(workspace, "fullAccess"))
    options = options_in(workspace)
    async with opened(driver, workspace) as session:
        resumed = await session.resume_thread(thread.ref, options)
        assert resumed.ref == thread.ref
        events = session.run_turn(thread.ref, words("run touch a"), options)
        request, before = await asked(events)
        assert request.kind == "command"
        await session.interrupt(thread.ref)
        assert ended([*before, *await until(events, lambda event: False)]).status == "interrupted"
        assert user_blocks(model.requests[-1]) == ["say: one", "run touch a"]


async def test_a_conversation_that_claude_does_not_have_cannot_be_resumed(
    claude_env: dict[str, str], workspace: Path
) -> None:
    async with opened(driver_of(claude_env), workspace) as session:
        with pytest.raises(ResumeFailed, match="No conversation found"):
            await session.resume_thread("00000000-0000-4000-8000-000000000000", options_in(workspace))


async def test_an_mcp_server_that_is_passed_in_is_asked_for_and_used(
    claude_env: dict[str, str], workspace: Path
) -> None:
    server = McpServer(name="files", command=sys.executable, args=(str(SERVER),), env={})
    options = options_in(workspace, "fullAccess", mcp_servers=(server,))
    async with opened(driver_of(claude_env), workspace) as session:
        thread = await session.start_thread(options)
        events = await turn(session, thread.ref, 'call look_up {"word": "tea"}', options)
    (tool,) = [e.draft for e in last_of_each(events).values() if isinstance(e.draft, ToolDraft)]
    assert (tool.server, tool.name) == ("files", "look_up")
    assert tool.output is not None
    assert "tea is here" in tool.output


async def test_a_throw_away_conversation_has_no_tool_and_leaves_nothing(
    claude_env: dict[str, str], model: ModelServer, workspace: Path
) -> None:
    options = options_in(workspace, "readOnly", throw_away=True)
    async with opened(driver_of(claude_env), workspace) as session:
        thread = await session.start_thread(options)
        events = await turn(session, thread.ref, "say: a summary", options)
    assert (said(events), ended(events).status) == ("a summary", "completed")
    assert not model.requests[-1].get("tools")
    assert list(Path(claude_env["CLAUDE_CONFIG_DIR"]).glob("projects/*/*.jsonl")) == []


async def test_a_reverted_conversation_goes_on_without_what_was_dropped_also_after_it_was_closed(
    claude_env: dict[str, str], model: ModelServer, workspace: Path
) -> None:
    driver, options = driver_of(claude_env), options_in(workspace, "fullAccess")
    async with opened(driver, workspace) as session:
        thread = await session.start_thread(options)
        refs = []
        for text in ("run echo 1\nsay: one", "say: two", "say: three"):
            (accepted,) = of(TurnAccepted, await turn(session, thread.ref, text, options))
            refs.append(accepted.turn_ref)
        assert [one.ref for one in await session.read_turns(thread.ref)] == refs
        with pytest.raises(ProviderError, match="cannot go back"):
            await session.revert_thread(thread.ref, str(refs[0]))
        await session.revert_thread(thread.ref, str(refs[1]))
        assert [(one.ref, one.completed) for one in await session.read_turns(thread.ref)] == [(refs[0], True)]
        fork = await session.fork_thread(thread.ref, None, options)
        await turn(session, fork.ref, "say: in the fork", options)
        assert user_blocks(model.requests[-1]) == ["run echo 1\nsay: one", "say: in the fork"]
    async with opened(driver, workspace) as session:
        await session.resume_thread(thread.ref, options)
        await turn(session, thread.ref, "say: four", options)
        assert user_blocks(model.requests[-1]) == ["run echo 1\nsay: one", "say: four"]
        assert "one" in str([one for one in model.requests[-1]["messages"] if one["role"] == "assistant"][-1])
    async with opened(driver, workspace) as session:
        await session.resume_thread(thread.ref, options)
        await turn(session, thread.ref, "say: five", options)
        assert user_blocks(model.requests[-1])[1:] == ["say: four", "say: five"]
        assert len(await session.read_turns(thread.ref)) == 3


async def test_a_conversation_that_is_open_in_one_daemon_is_not_resumed_by_another(
    claude_env: dict[str, str], workspace: Path
) -> None:
    options = options_in(workspace)
    async with opened(driver_of(claude_env), workspace) as session, opened(driver_of(claude_env), workspace) as other:
        thread = await session.start_thread(options)
        await turn(session, thread.ref, "say: one", options)
        with pytest.raises(ResumeFailed, match="open in another daemon"):
            await other.resume_thread(thread.ref, options)
        await session.close_thread(thread.ref)
        assert (await other.resume_thread(thread.ref, options)).ref == thread.ref
