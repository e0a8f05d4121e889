"""Stories of a Claude Code: played with the real one, and replayed from what was recorded of it.

``python -m support.claude_stories`` (in ``tests/``) records them anew.
"""

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

from midstream.protocol.records.config import ProviderConfig
from midstream.protocol.records.request import Decision
from midstream.server.providers.adapter import ContextBlock, Reply, TurnInput
from midstream.server.providers.claude.driver import ClaudeDriver
from midstream.server.providers.drafts import CommandDraft, FileChangeDraft, MessageDraft, TodoDraft
from midstream.server.providers.events import OutputAppended, TurnAccepted, UsageReported
from midstream.server.providers.requests import Patience
from support.claude import MODEL, claude_cli, claude_home
from support.models.server import model_server
from support.turns import asked, ended, last_of_each, of, opened, options_in, said, turn, until, words

Story: TypeAlias = Callable[[ClaudeDriver, Path], Awaitable[None]]

RECORDINGS = Path(__file__).parents[1] / "unit" / "providers" / "claude" / "recordings"
PROGRAM = Path(__file__).with_name("recording.py")
HANDOFF = "# Handoff\n" + "- a line of /help and @new.txt\n" * 90


def driver_of(env: dict[str, str], *command: str, patience: Patience | None = None) -> ClaudeDriver:
    """Return a driver of Claude Code with the tests' model."""
    config = ProviderConfig(driver="claude", command=command or None, env=env, model=MODEL)
    return ClaudeDriver("claude", config, patience=patience)


def replaying(story: str, logs: Path) -> ClaudeDriver:
    """Return the driver of what was recorded of a story; what is said to it is written into `logs`."""
    return driver_of({"REPLAYED": str(logs)}, sys.executable, "-S", str(PROGRAM), "replay", str(RECORDINGS / story))


def reply(decision: Decision) -> Reply:
    """Return a user's answer."""
    return Reply(decision=decision, option_id=None, answers=None, message=None)


async def a_turn_of_work(driver: ClaudeDriver, workspace: Path) -> None:
    """Text, thoughts, a file, a command and a todo list, after a handoff."""
    options = options_in(workspace, "fullAccess")
    handoff = ContextBlock(handoff_id="hof_1", channel="separateBlock", text=HANDOFF)
    work = (
        "think: let me see", "say: beginning", "write new.txt: hello", "run echo out; exit 3",
        "todo: a | b", "done: a", "say: end",
    )  # fmt: skip
    words_with_it = TurnInput(context=(handoff,), attachments=(), text="\n".join(work))
    async with opened(driver, workspace) as session:
        thread = await session.start_thread(options)
        events = await until(session.run_turn(thread.ref, words_with_it, options), lambda event: False)
        after = await turn(session, thread.ref, "say: after", options)
    assert isinstance(events[0], TurnAccepted)
    assert ended(events).status == "completed"
    drafts = [event.draft for event in last_of_each(events).values()]
    assert [d.text for d in drafts if isinstance(d, MessageDraft)] == ["let me see", "beginning", "end"]
    assert [(c.path, c.kind) for d in drafts if isinstance(d, FileChangeDraft) for c in d.changes] == [
        ("new.txt", "add")
    ]
    assert [(d.output, d.exit_code) for d in drafts if isinstance(d, CommandDraft)] == [("out", 3)]
    (todo,) = [d for d in drafts if isinstance(d, TodoDraft)]
    assert [(step.text, step.status) for step in todo.steps] == [("a", "completed"), ("b", "pending")]
    assert of(UsageReported, events)[-1].usage.input_tokens == of(UsageReported, after)[-1].usage.input_tokens * 5
    assert (said(after), ended(after).status) == ("after", "completed")


async def approvals(driver: ClaudeDriver, workspace: Path) -> None:
    """One command that is accepted, one that is declined, and one that is declined to stop."""
    options = options_in(workspace)
    async with opened(driver, workspace) as session:
        thread = await session.start_thread(options)
        events = session.run_turn(thread.ref, words("run touch a\nrun touch b\nrun touch c\nsay: never"), options)
        seen = []
        for decision in ("accept", "decline", "cancel"):
            request, before = await asked(events)
            seen += before
            await session.respond(thread.ref, request.ref, reply(decision))  # type: ignore[arg-type]
        seen += await until(events, lambda event: False)
    statuses = [event.status for event in last_of_each(seen).values() if isinstance(event.draft, CommandDraft)]
    assert statuses == ["completed", "cancelled", "cancelled"]
    assert ended(seen).status == "interrupted"


async def interrupted(driver: ClaudeDriver, workspace: Path) -> None:
    """An interrupt in the middle of an answer, and a turn after it."""
    options = options_in(workspace)
    async with opened(driver, workspace) as session:
        thread = await session.start_thread(options)
        events = session.run_turn(thread.ref, words("say: begun\nsleep 600000"), options)
        seen = await until(events, lambda event: isinstance(event, OutputAppended))
        await session.interrupt(thread.ref)
        seen += await until(events, lambda event: False)
        after = await turn(session, thread.ref, "say: after", options)
    assert (said(seen), ended(seen).status, ended(seen).failure) == ("begun", "interrupted", None)
    assert (said(after), ended(after).status) == ("after", "completed")


STORIES: dict[str, Story] = {
    "a_turn_of_work": a_turn_of_work,
    "approvals": approvals,
    "interrupted": interrupted,
}


async def record(name: str) -> None:
    """Record a story of the real Claude Code."""
    shutil.rmtree(RECORDINGS / name, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder).resolve() / "workspace"
        workspace.mkdir()
        async with model_server() as model:
            env: dict[str, Any] = claude_home(Path(folder) / "claude", model)
            recorder = (sys.executable, str(PROGRAM), "record", str(RECORDINGS / name), claude_cli())
            await STORIES[name](driver_of(env, *recorder), workspace)


async def record_all() -> None:
    """Record all stories."""
    for name in STORIES:
        await record(name)


if __name__ == "__main__":
    asyncio.run(record_all())
