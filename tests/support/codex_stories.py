"""Stories of one or two Codex processes: played with the real one, and replayed from what was recorded of it.

``python -m support.codex_stories`` (in ``tests/``) records them anew.
"""

import asyncio
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any, TypeAlias

import psutil
import pytest

from midstream.protocol.records.config import ProviderConfig
from midstream.protocol.records.request import Answer, Decision
from midstream.server.providers.adapter import ContextBlock, Reply, ResumeFailed, TurnInput
from midstream.server.providers.codex.driver import CodexDriver
from midstream.server.providers.drafts import CommandDraft, FileChangeDraft, MessageDraft, SubagentDraft, TodoDraft
from midstream.server.providers.events import (
    HistoryCompacted,
    ItemChanged,
    OutputAppended,
    ProviderEvent,
    RequestAsked,
    SteerTaken,
    TurnAccepted,
    UsageReported,
)
from support.codex import CODEX, codex_home
from support.codex_switches import DAEMON_STORIES
from support.models.server import model_server
from support.turns import asked, ended, last_of_each, of, opened, options_in, said, turn, until, words

Story: TypeAlias = Callable[[CodexDriver, Path], Awaitable[None]]

RECORDINGS = Path(__file__).parents[1] / "unit" / "providers" / "codex" / "recordings"
PROGRAM = Path(__file__).with_name("recording.py")


def replay_provider(story: str, logs: Path) -> dict[str, Any]:
    """Return the configuration of what was recorded of a story; what is said to it is written into `logs`."""
    command = [sys.executable, "-S", str(PROGRAM), "replay", str(RECORDINGS / story)]
    return {"driver": "codex", "command": command, "env": {"REPLAYED": str(logs)}}


def record_provider(story: str, env: dict[str, str]) -> dict[str, Any]:
    """Return the configuration of the real Codex, recorded as a story."""
    command = [sys.executable, str(PROGRAM), "record", str(RECORDINGS / story), str(CODEX), "app-server"]
    return {"driver": "codex", "command": command, "env": env}


def driver_of(provider: dict[str, Any]) -> CodexDriver:
    """Return the driver of a configuration."""
    return CodexDriver("codex", ProviderConfig(**{**provider, "command": tuple(provider["command"])}))


def reply(decision: Decision, *values: str) -> Reply:
    """Return a user's answer."""
    answers = (Answer(question_id="q1", values=values),) if values else None
    return Reply(decision=decision, option_id=None, answers=answers, message=None)


async def a_turn_of_work(driver: CodexDriver, workspace: Path) -> None:
    """Text, thoughts, a patch, a command and a todo list, after a handoff."""
    options = options_in(workspace, "fullAccess")
    handoff = ContextBlock(handoff_id="hof_1", channel="nativeData", text="# Handoff\n" + "- a line\n" * 900)
    work = (
        "think: let me see", "say: beginning", "write new.txt: hello", "run echo out; exit 3",
        "todo: a | b", "done: a", "say: end",
    )  # fmt: skip
    words_with_it = TurnInput(context=(handoff,), attachments=(), text="\n".join(work))
    async with opened(driver, workspace) as session:
        thread = await session.start_thread(options)
        running = session.run_turn(thread.ref, words_with_it, options)
        events = await until(running, lambda event: False)
    assert isinstance(events[0], TurnAccepted)
    assert ended(events).status == "completed"
    drafts = [event.draft for event in last_of_each(events).values()]
    assert [d.text for d in drafts if isinstance(d, MessageDraft)] == ["let me see", "beginning", "end"]
    assert [(c.path, c.kind) for d in drafts if isinstance(d, FileChangeDraft) for c in d.changes] == [
        ("new.txt", "add")
    ]
    (command,) = [draft for draft in drafts if isinstance(draft, CommandDraft)]
    assert (command.command, command.output, command.exit_code) == ("echo out; exit 3", "out\n", 3)
    (todo,) = [draft for draft in drafts if isinstance(draft, TodoDraft)]
    assert [(step.text, step.status) for step in todo.steps] == [("a", "completed"), ("b", "pending")]
    assert of(UsageReported, events)[-1].usage.context_window == 190_000


async def approvals(driver: CodexDriver, workspace: Path) -> None:
    """A command that is allowed, a patch that is declined, and a question that is answered."""
    options = options_in(workspace)
    text = "run echo yes\nwrite no.txt: no\nask: Which way?\nsay: all asked"
    async with opened(driver, workspace) as session:
        thread = await session.start_thread(options)
        async with aclosing(session.run_turn(thread.ref, words(text), options)) as running:
            command, _ = await asked(running)
            assert (command.kind, command.detail.command) == ("command", "echo yes")
            await session.respond(thread.ref, command.ref, reply("accept"))
            patch, _ = await asked(running)
            assert patch.detail.changes is not None
            assert (patch.kind, patch.detail.changes[0].path) == ("fileChange", "no.txt")
            await session.respond(thread.ref, patch.ref, reply("decline"))
            question, _ = await asked(running)
            assert question.questions is not None
            assert question.questions[0].text == "Which way?"
            await session.respond(thread.ref, question.ref, reply("accept", "Yes"))
            events = await until(running, lambda event: False)
    assert (ended(events).status, said(events)) == ("completed", "all asked")


async def steered_then_interrupted(driver: CodexDriver, workspace: Path) -> None:
    """Words that Codex takes, then a turn that is stopped."""
    options = options_in(workspace)
    async with opened(driver, workspace) as session:
        thread = await session.start_thread(options)
        async with aclosing(session.run_turn(thread.ref, words("run echo one"), options)) as running:
            request, _ = await asked(running)
            assert await session.steer(thread.ref, "say: steered\nsleep 600000") == "queued"
            await session.respond(thread.ref, request.ref, reply("accept"))
            events = await until(running, lambda event: isinstance(event, OutputAppended) and event.text == "steered")
            assert len(of(SteerTaken, events)) == 1
            await session.interrupt(thread.ref)
            assert ended(await until(running, lambda event: False)).status == "interrupted"
        assert said(await turn(session, thread.ref, "say: after", options)) == "after"


async def forked_and_reverted(driver: CodexDriver, workspace: Path) -> None:
    """A fork at a turn, and a revert that Codex's own history confirms."""
    options = options_in(workspace)
    async with opened(driver, workspace) as session:
        thread = await session.start_thread(options)
        for word in ("one", "two"):
            await turn(session, thread.ref, f"say: {word}", options)
        first, second = await session.read_turns(thread.ref)
        fork = await session.fork_thread(thread.ref, first.ref, options)
        assert len(await session.read_turns(fork.ref)) == 1
        await session.revert_thread(thread.ref, second.ref)
        assert [one.ref for one in await session.read_turns(thread.ref)] == [first.ref]


async def resumed(driver: CodexDriver, workspace: Path) -> None:
    """A conversation that goes on in another process, and one that is not there."""
    options = options_in(workspace)
    async with opened(driver, workspace) as session:
        thread = await session.start_thread(options)
        await turn(session, thread.ref, "say: one", options)
    async with opened(driver, workspace) as session:
        with pytest.raises(ResumeFailed, match="no rollout found"):
            await session.resume_thread("01a22fda-0000-78c2-a683-a394bbaa3a87", options)
        assert (await session.resume_thread(thread.ref, options)).ref == thread.ref
        assert said(await turn(session, thread.ref, "say: two", options)) == "two"


async def killed(driver: CodexDriver, workspace: Path) -> None:
    """A process that dies in the middle of an answer, and the one after it."""
    options = options_in(workspace)
    async with opened(driver, workspace) as session:
        thread = await session.start_thread(options)
        async with aclosing(session.run_turn(thread.ref, words("say: begun\nsleep 600000"), options)) as running:
            await until(running, lambda event: isinstance(event, OutputAppended))
            assert session.pid is not None
            psutil.Process(session.pid).kill()
            end = ended(await until(running, lambda event: False))
    assert end.failure is not None
    assert (end.status, end.failure.class_) == ("failed", "transport_error")
    async with opened(driver, workspace) as session:
        await session.resume_thread(thread.ref, options)
        assert [one.completed for one in await session.read_turns(thread.ref)] == [False]


async def a_subagent(driver: CodexDriver, workspace: Path) -> None:
    """Work of a child below the call that began it."""
    options = options_in(workspace, "fullAccess")
    async with opened(driver, workspace) as session:
        thread = await session.start_thread(options)
        events = await turn(session, thread.ref, "subagent Helper: run echo child\nsay: after", options)
    last = last_of_each(events)
    (helper,) = [event for event in last.values() if isinstance(event.draft, SubagentDraft)]
    assert isinstance(helper.draft, SubagentDraft)
    assert (helper.draft.prompt, helper.draft.result, helper.status) == ("run echo child", "Done.", "completed")
    (command,) = [event for event in last.values() if isinstance(event.draft, CommandDraft)]
    assert command.parent_ref == helper.ref
    assert ended(events).status == "completed"


async def out_of_quota_and_room(driver: CodexDriver, workspace: Path) -> None:
    """Failures with their class and reset time, and the compaction that follows one of them."""
    options = options_in(workspace)

    async def failed(text: str) -> tuple[str, str | None]:
        end = ended(await turn(session, thread.ref, text, options))
        assert end.failure is not None
        return end.failure.class_, end.failure.reset_at

    async with opened(driver, workspace) as session:
        thread = await session.start_thread(options)
        quota = await failed("fail: usage_limit until 2031-05-06T07:08:09.000Z: used up")
        assert quota == ("usage_limit", "2031-05-06T07:08:09.000Z")
        assert await failed("fail: context_overflow: full") == ("context_overflow", None)
        events: list[ProviderEvent] = await turn(session, thread.ref, "say: on", options)
    assert isinstance(events[0], TurnAccepted)
    assert len(of(HistoryCompacted, events)) == 1
    assert of(ItemChanged, events)
    assert not of(RequestAsked, events)


STORIES: dict[str, Story] = {
    story.__name__: story
    for story in (
        a_turn_of_work,
        approvals,
        steered_then_interrupted,
        forked_and_reverted,
        resumed,
        killed,
        a_subagent,
        out_of_quota_and_room,
    )
}


async def record_all() -> None:
    """Record every story of the real Codex anew."""
    shutil.rmtree(RECORDINGS, ignore_errors=True)
    for name in (*STORIES, *DAEMON_STORIES):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder).resolve()
            workspace = place / "workspace"
            workspace.mkdir()
            subprocess.run(["git", "init", "-q"], cwd=workspace, check=True)
            async with model_server() as model:
                provider = record_provider(name, codex_home(place / "home", model))
                if name in STORIES:
                    await STORIES[name](driver_of(provider), workspace)
                else:
                    await DAEMON_STORIES[name](provider, place, workspace)


if __name__ == "__main__":
    asyncio.run(record_all())
