"""The session of the real Codex by itself: forks, reverts, throw-away conversations, and one writer a conversation."""

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from midstream.protocol.records.config import ProviderConfig
from midstream.protocol.records.thread import RuntimeMode
from midstream.server.providers.adapter import McpServer, ResumeFailed, ThreadOptions
from midstream.server.providers.codex.driver import CodexDriver
from midstream.server.providers.codex.session import CodexSession
from midstream.server.providers.drafts import ToolDraft
from midstream.server.providers.events import ItemChanged, TurnAccepted
from support.codex import CODEX, user_texts
from support.models.server import ModelServer
from support.turns import ended, last_of_each, options_in, said, turn, words


@pytest.fixture
def driver(codex_env: dict[str, str]) -> CodexDriver:
    """The driver of the real Codex."""
    command = (str(CODEX), "app-server")
    return CodexDriver("codex", ProviderConfig(driver="codex", command=command, env=codex_env))


@pytest.fixture
async def session(driver: CodexDriver, workspace: Path) -> AsyncIterator[CodexSession]:
    """A live Codex."""
    session = await driver.open(workspace)
    try:
        yield session
    finally:
        await session.aclose()


async def say(session: CodexSession, ref: str, text: str, options: ThreadOptions) -> str:
    """Run a turn to its good end and return Codex's name of it."""
    events = await turn(session, ref, text, options)
    assert ended(events).status == "completed"
    assert isinstance(events[0], TurnAccepted)
    assert events[0].turn_ref is not None
    return events[0].turn_ref


async def test_a_fork_has_the_history_up_to_its_turn_and_leaves_the_original_alone(
    session: CodexSession, model: ModelServer, workspace: Path
) -> None:
    options = options_in(workspace)
    thread = await session.start_thread(options)
    first = await say(session, thread.ref, "say: one", options)
    await say(session, thread.ref, "say: two", options)
    fork = await session.fork_thread(thread.ref, first, options)
    assert fork.ref != thread.ref
    await say(session, fork.ref, "say: on the fork", options)
    assert user_texts(model.requests[-1]) == ["say: one", "say: on the fork"]
    whole = await session.fork_thread(thread.ref, None, options)
    await say(session, whole.ref, "say: on the whole", options)
    assert user_texts(model.requests[-1]) == ["say: one", "say: two", "say: on the whole"]
    await say(session, thread.ref, "say: three", options)
    assert user_texts(model.requests[-1]) == ["say: one", "say: two", "say: three"]


async def test_a_revert_drops_a_turn_and_all_after_it_and_codexs_own_history_says_so(
    session: CodexSession, model: ModelServer, workspace: Path
) -> None:
    options = options_in(workspace)
    thread = await session.start_thread(options)
    refs = [await say(session, thread.ref, f"say: {word}", options) for word in ("one", "two", "three")]
    assert [one.ref for one in await session.read_turns(thread.ref)] == refs
    await session.revert_thread(thread.ref, refs[1])
    assert [(one.ref, one.completed) for one in await session.read_turns(thread.ref)] == [(refs[0], True)]
    await say(session, thread.ref, "say: again", options)
    assert user_texts(model.requests[-1]) == ["say: one", "say: again"]


async def test_a_resumed_conversation_has_its_turns_and_takes_another_mode(
    driver: CodexDriver, session: CodexSession, model: ModelServer, workspace: Path
) -> None:
    free = options_in(workspace, "fullAccess")
    thread = await session.start_thread(free)
    await say(session, thread.ref, "write one.txt: 1", free)
    await session.aclose()
    other = await driver.open(workspace)
    narrow = options_in(workspace, "readOnly")
    assert (await other.resume_thread(thread.ref, narrow)).ref == thread.ref
    assert len(await other.read_turns(thread.ref)) == 1
    await say(other, thread.ref, "write two.txt: 2", narrow)
    await other.aclose()
    assert user_texts(model.requests[-1]) == ["write one.txt: 1", "write two.txt: 2"]
    assert not (workspace / "two.txt").exists()


async def test_a_conversation_has_one_writer_and_a_missing_one_none(
    driver: CodexDriver, session: CodexSession, workspace: Path
) -> None:
    options = options_in(workspace)
    thread = await session.start_thread(options)
    await say(session, thread.ref, "say: one", options)
    other = await driver.open(workspace)
    with pytest.raises(ResumeFailed, match="writer"):
        await other.resume_thread(thread.ref, options)
    with pytest.raises(ResumeFailed, match="no rollout found"):
        await other.resume_thread("01a22fda-0000-78c2-a683-a394bbaa3a87", options)
    fresh = await other.start_thread(options)
    await say(other, fresh.ref, "say: on", options)
    await session.close_thread(thread.ref)
    await other.aclose()


async def test_a_throw_away_conversation_leaves_nothing(
    session: CodexSession, codex_env: dict[str, str], workspace: Path
) -> None:
    options = options_in(workspace, "readOnly", throw_away=True)
    thread = await session.start_thread(options)
    events = await turn(session, thread.ref, "say: a summary", options)
    assert said(events) == "a summary"
    await session.close_thread(thread.ref)
    assert list(Path(codex_env["CODEX_HOME"]).rglob("rollout-*")) == []


async def test_the_mcp_server_that_is_passed_in_is_there_beside_the_users_own(
    session: CodexSession, model: ModelServer, workspace: Path
) -> None:
    script = Path(__file__).with_name("mcp_server.py")
    reader = McpServer(name="midstream", command=sys.executable, args=(str(script),), env={"PATH": os.environ["PATH"]})
    options = options_in(workspace, "fullAccess", mcp_servers=(reader,))
    thread = await session.start_thread(options)
    events = await turn(session, thread.ref, 'call look_up {"word": "cat"}', options)
    (call,) = [event.draft for event in last_of_each(events).values() if isinstance(event.draft, ToolDraft)]
    assert (call.server, call.name, call.output) == ("midstream", "look_up", "cat is here")


async def test_the_first_turn_has_the_tools_of_a_server_that_starts_slowly(
    session: CodexSession, workspace: Path
) -> None:
    script = Path(__file__).with_name("mcp_server.py")
    slow = McpServer(name="slow", command=sys.executable, args=(str(script), "--slow"), env={})
    options = options_in(workspace, "fullAccess", mcp_servers=(slow,))
    thread = await session.start_thread(options)
    events = await turn(session, thread.ref, 'call look_up {"word": "cat"}', options)
    (call,) = [event.draft for event in last_of_each(events).values() if isinstance(event.draft, ToolDraft)]
    assert call.output == "cat is here"


async def test_a_call_may_take_as_long_as_the_server_is_given(session: CodexSession, workspace: Path) -> None:
    script = Path(__file__).with_name("mcp_server.py")
    slow = McpServer(name="slow", command=sys.executable, args=(str(script),), env={}, call_seconds=0.25)
    options = options_in(workspace, "fullAccess", mcp_servers=(slow,))
    thread = await session.start_thread(options)
    events = await turn(session, thread.ref, 'call look_up {"word": "nothing"}', options)
    (call,) = [event.draft for event in last_of_each(events).values() if isinstance(event.draft, ToolDraft)]
    assert "timed out" in (call.output or "")


async def test_a_turn_that_is_abandoned_is_interrupted_and_the_next_one_waits_for_that(
    session: CodexSession, model: ModelServer, workspace: Path
) -> None:
    options = options_in(workspace)
    thread = await session.start_thread(options)
    running = session.run_turn(thread.ref, words("say: one\nsleep 600000"), options)
    async for event in running:
        if isinstance(event, ItemChanged):
            break
    await running.aclose()
    await say(session, thread.ref, "say: two", options)
    turns = await session.read_turns(thread.ref)
    assert [one.completed for one in turns] == [False, True]


@pytest.mark.parametrize("mode", ["readOnly", "approvalRequired", "autoAcceptEdits", "fullAccess"])
async def test_codex_confirms_each_mode(session: CodexSession, workspace: Path, mode: RuntimeMode) -> None:
    await session.start_thread(options_in(workspace, mode))
