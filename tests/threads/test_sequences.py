"""Whatever order of runs, switches, forks, merge-backs, rollbacks and crashes: agents know what is claimed, once."""

import re
from pathlib import Path
from random import Random
from typing import Final

import pytest

from midstream.protocol.records.provider import ProviderThread
from midstream.protocol.records.read import ThreadRead
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Thread
from midstream.server.graph.state import COVERABLE
from midstream.server.rehearsal.conversation import Conversation
from midstream.server.rehearsal.history import visible
from support.editor import Editor, Refused, editor_on

TOKEN: Final = re.compile(r"token-\d+\.")
LIVES: Final = 3
STEPS: Final = 8
ACTS: Final = ("run", "run", "run", "fork", "merge", "rollback", "delete")


class Story:
    """A random walk over threads; it keeps which word was said in which run."""

    def __init__(self, home: Path, workspace: Path, seed: int) -> None:
        self.home = home
        self.workspace = workspace
        self.random = Random(seed)
        self.threads: list[Thread] = []
        self.said: dict[tuple[str, int], str] = {}
        self.words = 0

    def word(self) -> str:
        """Return a message with a word of its own, which its agent does not repeat."""
        self.words += 1
        return f"think: token-{self.words}."

    async def step(self, editor: Editor) -> None:
        """Do one thing; what does not fit how things stand is refused, and changes nothing."""
        thread = self.random.choice(self.threads)
        try:
            match self.random.choice(ACTS):
                case "run":
                    await self.run(editor, thread)
                case "fork":
                    self.threads.append((await editor.call("thread/fork", thread_id=thread.id)).thread)
                case "merge":
                    await editor.call("thread/mergeBack", thread_id=thread.id)
                case "delete" if len(self.threads) > 2:
                    await editor.call("thread/delete", thread_id=thread.id)
                    self.threads.remove(thread)
                case _:
                    last = max((run.ordinal or 0 for run in (await editor.read(thread)).runs), default=0)
                    to = max(0, last - self.random.randint(1, 3))
                    await editor.call("thread/rollback", thread_id=thread.id, to_run_ordinal=to)
        except Refused as refused:
            if refused.kind not in ("invalidState", "threadNotFound"):
                raise

    async def run(self, editor: Editor, thread: Thread, *, whole: bool = True) -> None:
        """Start a run with one of the agents, and see it through."""
        text = self.word()
        run = await editor.begin(thread, text, self.random.choice(["rehearsal", "understudy"]))
        assert run.ordinal is not None
        self.said[thread.id, run.ordinal] = text.removeprefix("think: ")
        if whole:
            ended = await editor.ended(run)
            assert ended.status == "completed"
            await self.check_whole(editor, thread, ended)

    async def check_whole(self, editor: Editor, thread: Thread, run: Run) -> None:
        """See that who answered a run knows all that stands in its thread, and what forks gave to it."""
        read = await editor.read(thread)
        (known,) = [one for one in read.provider_threads if one.id == run.provider_thread_id]
        standing = {one.id: self.said[one.thread_id, one.ordinal] for one in read.runs if one.status in COVERABLE}
        words = set(standing.values())
        for handoff in (await editor.call("handoff/list", thread_id=thread.id)).handoffs:
            if handoff.covered_thread_id != thread.id and handoff.target_run_id in standing:
                words |= {self.said[handoff.covered_thread_id, ordinal] for ordinal in handoff.run_ordinals}
        assert words <= set(TOKEN.findall("\n".join(self.native(known))))

    async def check(self, editor: Editor) -> None:
        """See that each conversation that may be gone on with knows what its record claims, once, and nothing else."""
        for thread in self.threads:
            read = await editor.read(thread)
            for known in read.provider_threads:
                if known.status not in ("divergent", "error") and not known.stale_reasons and known.native_ref:
                    found = TOKEN.findall("\n".join(self.native(known)))
                    assert len(found) == len(set(found))
                    assert set(found) == await self.claimed(editor, read, known)

    async def claimed(self, editor: Editor, read: ThreadRead, known: ProviderThread) -> set[str]:
        """Return the words of all that a conversation is said to have lived and been told."""
        standing = {run.ordinal: run for run in read.runs if run.status not in ("rolled_back", "cancelled")}
        own = {ordinal: self.said[standing[ordinal].thread_id, ordinal] for ordinal in standing if ordinal}
        missing = {await self.run_of(editor, item_id) for item_id in known.missing_item_ids}
        words = {own[ordinal] for ordinal in known.native_run_ordinals if standing[ordinal].id not in missing}
        for handoff_id in known.handoff_ids:
            handoff = (await editor.call("handoff/read", handoff_id=handoff_id)).handoff
            if handoff.covered_thread_id == handoff.thread_id:
                words |= {own[ordinal] for ordinal in handoff.run_ordinals}
            else:
                words |= {self.said[handoff.covered_thread_id, ordinal] for ordinal in handoff.run_ordinals}
        return words

    async def run_of(self, editor: Editor, item_id: str) -> str:
        """Return the run of an item."""
        for thread in self.threads:
            for item in await editor.items(thread):
                if item.id == item_id:
                    return item.run_id or ""
        return ""

    def native(self, known: ProviderThread) -> list[str]:
        """Return what an agent's own conversation holds of others' words."""
        (file,) = (self.home / "data" / "rehearsal").rglob(f"{known.native_ref}.jsonl")
        return [
            entry.text for entry in visible(Conversation.open(file.parent, file.stem).records) if entry.role == "user"
        ]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("seed", range(10))
async def test_agents_know_what_is_claimed_once_and_nothing_that_was_taken_back(
    seed: int, tmp_path: Path, workspace: Path
) -> None:
    story = Story(tmp_path, workspace, seed)
    for life in range(LIVES):
        async with editor_on(tmp_path / "data", "--rehearsal") as editor:
            if not story.threads:
                story.threads.append(await editor.new_thread(workspace))
            for _ in range(STEPS):
                await story.step(editor)
                await story.check(editor)
            if life < LIVES - 1:
                await story.run(editor, story.random.choice(story.threads), whole=False)
                await editor.kill()
