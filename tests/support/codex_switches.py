"""Stories of a daemon that has Codex for one of its agents, whichever Codex that is."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

from midstream.protocol.records.handoff import ContextHandoff
from scenarios.steps import handoff_of
from support.editor import editor_on
from support.switches import founding

Provider: TypeAlias = dict[str, Any]


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
