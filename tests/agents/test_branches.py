"""Threads of the real agents that branch: each forks its own conversation at a run, and drops what is rolled back."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from scenarios.steps import codes, strategy
from scenarios.test_forks import forked
from scenarios.test_rollbacks import settled
from support.claude import user_blocks
from support.codex import user_texts
from support.editor import Editor
from support.models.server import ModelServer

SAID_BY_THE_USER: Final[Mapping[str, Callable[[dict[str, Any]], list[str]]]] = {
    "codex": user_texts,
    "claude": user_blocks,
}
pytestmark = pytest.mark.parametrize("agent", SAID_BY_THE_USER)


async def test_an_agent_forks_its_own_conversation_at_a_run_that_it_went_on_from(
    agent: str, both_editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await both_editor.new_thread(workspace, agent)
    runs = [await both_editor.say(thread, f"say: {word}") for word in ("one", "two", "three")]
    fork = await forked(both_editor, thread, from_={"type": "run", "runId": runs[1].id})
    first = await both_editor.say(fork, "say: mine")
    assert (strategy(first), first.handoff_ids) == ("native_fork", ())
    assert SAID_BY_THE_USER[agent](model.requests[-1]) == ["say: one", "say: two", "say: mine"]
    await both_editor.say(thread, "say: four")
    assert SAID_BY_THE_USER[agent](model.requests[-1]) == ["say: one", "say: two", "say: three", "say: four"]


async def test_an_agent_drops_rolled_back_runs_from_its_own_history_and_is_gone_on_with(
    agent: str, both_editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await both_editor.new_thread(workspace, agent)
    for word in ("one", "two", "three"):
        await both_editor.say(thread, f"say: {word}")
    (known,) = (await both_editor.call("thread/rollback", thread_id=thread.id, to_run_ordinal=1)).provider_threads
    assert known.status == "divergent"
    await settled(both_editor, known)
    run = await both_editor.say(thread, "say: instead")
    assert (run.provider_thread_id, codes(run.plan)) == (known.id, ["already_covered"])
    assert SAID_BY_THE_USER[agent](model.requests[-1]) == ["say: one", "say: instead"]
