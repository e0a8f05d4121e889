"""Stories of a daemon that has Codex for one of its agents, whichever Codex that is."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

from attrs import frozen

from midstream.protocol.records.handoff import ContextHandoff
from midstream.protocol.records.run import Run
from scenarios.steps import handoff_of, received
from support.editor import Editor, editor_on

Provider: TypeAlias = dict[str, Any]


@frozen
class Founding:
    """The founding example as it went: the runs' texts, and what each agent was handed."""

    texts: tuple[str, ...]
    full: ContextHandoff
    delta: ContextHandoff


async def founding(editor: Editor, workspace: Path, first: str, second: str) -> Founding:
    """Play runs 1 to 5, 6 to 8 and 9, and see that each agent lived its own and was told the others'."""
    thread = await editor.new_thread(workspace)
    story = [(first, f"write first{n}.txt: {n}") for n in range(1, 6)]
    story += [(second, f"write second{n}.txt: {n}") for n in range(6, 9)]
    story += [(first, "write first9.txt: 9")]
    runs: list[Run] = [await editor.say(thread, text, provider) for provider, text in story]
    texts = tuple(text for _, text in story)

    assert [run.status for run in runs] == ["completed"] * 9
    lived = {known.provider: known for known in (await editor.read(thread)).provider_threads}
    assert lived[first].native_run_ordinals == (1, 2, 3, 4, 5, 9)
    assert lived[second].native_run_ordinals == (6, 7, 8)
    full, delta = await handoff_of(editor, runs[5]), await handoff_of(editor, runs[8])
    assert (full.strategy, full.run_ordinals) == ("full_thread_summary", (1, 2, 3, 4, 5))
    assert (delta.strategy, delta.run_ordinals) == ("delta_since_target_last_seen", (6, 7, 8))
    assert (lived[first].handoff_ids, lived[second].handoff_ids) == ((delta.id,), (full.id,))
    seen = received(await editor.recall(thread, "rehearsal"))
    if first == "rehearsal":
        assert seen[:7] == [*texts[:5], delta.sent_text, texts[8]]
    else:
        assert seen[:4] == [full.sent_text, *texts[5:8]]
    return Founding(texts, full, delta)


async def codex_first(provider: Provider, folder: Path, workspace: Path) -> ContextHandoff:
    """Play the founding example with Codex as the first agent; return what it was handed."""
    async with editor_on(folder / "data", "--rehearsal", config={"providers": {"codex": provider}}) as editor:
        return (await founding(editor, workspace, "codex", "rehearsal")).delta


async def codex_second(provider: Provider, folder: Path, workspace: Path) -> ContextHandoff:
    """Play the founding example with Codex as the second agent; return what it was handed."""
    async with editor_on(folder / "data", "--rehearsal", config={"providers": {"codex": provider}}) as editor:
        return (await founding(editor, workspace, "rehearsal", "codex")).full


async def daemon_killed(provider: Provider, folder: Path, workspace: Path) -> ContextHandoff:
    """Kill the daemon in the middle of an answer of Codex; the next one resumes the conversation.

    Return what Codex was then told of the words that it had said and not kept.
    """
    config = {"providers": {"codex": provider}}
    async with editor_on(folder / "data", config=config) as editor:
        thread = await editor.new_thread(workspace, "codex")
        first = await editor.say(thread, "say: one")
        run = await editor.begin(thread, "say: begun\nsleep 600000")
        await editor.until_output(run, "begun")
        await editor.kill()
    async with editor_on(folder / "data", config=config) as editor:
        await editor.call("thread/subscribe", thread_id=thread.id)
        assert [one.status for one in (await editor.read(thread)).runs] == ["completed", "interrupted"]
        after = await editor.say(thread, "say: after")
        assert (after.status, after.provider_thread_id) == ("completed", first.provider_thread_id)
        return await handoff_of(editor, after)


DAEMON_STORIES: dict[str, Callable[[Provider, Path, Path], Awaitable[ContextHandoff]]] = {
    "codex_first": codex_first,
    "codex_second": codex_second,
    "daemon_killed": daemon_killed,
}
