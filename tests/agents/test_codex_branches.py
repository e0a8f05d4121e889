"""Threads of the real Codex that branch: it forks its own conversation at a run, and drops what is rolled back."""

from pathlib import Path

from scenarios.steps import codes, strategy
from scenarios.test_forks import forked
from scenarios.test_rollbacks import settled
from support.codex import user_texts
from support.editor import Editor
from support.models.server import ModelServer


async def test_codex_forks_its_own_conversation_at_a_run_that_it_went_on_from(
    editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace, "codex")
    runs = [await editor.say(thread, f"say: {word}") for word in ("one", "two", "three")]
    fork = await forked(editor, thread, from_={"type": "run", "runId": runs[1].id})
    first = await editor.say(fork, "say: mine")
    assert (strategy(first), first.handoff_ids) == ("native_fork", ())
    assert user_texts(model.requests[-1]) == ["say: one", "say: two", "say: mine"]
    await editor.say(thread, "say: four")
    assert user_texts(model.requests[-1]) == ["say: one", "say: two", "say: three", "say: four"]


async def test_codex_drops_rolled_back_runs_from_its_own_history_and_is_gone_on_with(
    editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace, "codex")
    for word in ("one", "two", "three"):
        await editor.say(thread, f"say: {word}")
    (known,) = (await editor.call("thread/rollback", thread_id=thread.id, to_run_ordinal=1)).provider_threads
    assert known.status == "divergent"
    await settled(editor, known)
    run = await editor.say(thread, "say: instead")
    assert (run.provider_thread_id, codes(run.plan)) == (known.id, ["already_covered"])
    assert user_texts(model.requests[-1]) == ["say: one", "say: instead"]
