"""Bringing files back: look, plan, keep what is there, write it down, write, and move the thread's base."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Callable
from typing import Final

from attrs import define, evolve, frozen

from midstream.server.checkpoints.capture import Staged, record, stage, stage_ignored
from midstream.server.checkpoints.claims import claims
from midstream.server.checkpoints.content import read_blobs
from midstream.server.checkpoints.errors import CheckpointError, CheckpointMissing, GitFailed, RestoreStopped
from midstream.server.checkpoints.git import Git, both
from midstream.server.checkpoints.history import Held, after_ref, base_ref, checkpoint_ref, history, point
from midstream.server.checkpoints.journal import Journal, load
from midstream.server.checkpoints.model import Captured, Conflict, Selection, Step, Version
from midstream.server.checkpoints.notes import Note
from midstream.server.checkpoints.obstacles import find_obstacles
from midstream.server.checkpoints.plan import Aim, Plan, aims, plan
from midstream.server.checkpoints.policy import CheckpointPolicy
from midstream.server.checkpoints.rejects import reject
from midstream.server.checkpoints.shadow import Shadow
from midstream.server.checkpoints.trees import compare, versions, with_files
from midstream.server.checkpoints.writing import Unexpected, Writer
from midstream.server.quoting import Quoted

LOG: Final = logging.getLogger(__name__)
_AT_ONCE: Final = 100
"""How many files are read from the store before they are written."""


@frozen
class Trees:
    """What a restore compares: the thread's base, the target, and the workspace as it is now."""

    base: str
    target: str
    now: str
    back: dict[bytes, Step]
    since: dict[bytes, Step]


@frozen
class Past:
    """What the store knows of a restore: its target, and what leads there from the thread's base."""

    kept: list[Held]
    goal: Held
    base: str
    back: dict[bytes, Step]


@define
class Restore:
    """A restore that is planned: `keep` what is there, then `apply`. The store is held meanwhile."""

    plan: Plan
    _shadow: Shadow
    _thread_id: str
    _staged: Staged
    _trees: Trees
    _known: dict[bytes, Version | None]
    _date: int
    _after: str = ""
    _base: str = ""

    async def keep(self, name: str) -> Captured:
        """Take the safety checkpoint, and keep it as `name` of the thread. Raises GitFailed."""
        staged = self._staged
        git = self._shadow.objects
        if self.plan.swept:
            staged = await stage_ignored(self._shadow, staged, self.plan.swept)
            found = await versions(git, staged.tree, list(self.plan.swept))
            steps = (evolve(step, before=found.get(step.path, step.before)) for step in self.plan.steps)
            self.plan = evolve(self.plan, steps=tuple(steps))
        ref = checkpoint_ref(self._thread_id, name)
        safety = Note(kind="safety", ref=ref, prefix=self._shadow.place.prefix)
        captured, base = await both(record(self._shadow, staged, safety, self._date), self._record_base(name))
        await point(git, captured.ref, ref)
        self._base = base.ref
        return captured

    async def apply(self) -> None:
        """Do the steps of the plan, all or none; the safety checkpoint was taken.

        Not to be cancelled. Raises RestoreStopped where a file changed in this moment, CheckpointError.
        """
        mark = f".midstream-{secrets.token_hex(4)}-"
        folder = self._shadow.workspace
        at = folder.stat()
        Journal(folder, at.st_dev, at.st_ino, mark, self.plan.steps).save(self._shadow.journal)
        try:
            await _write(self._shadow, mark, self.plan.steps)
        except Unexpected as error:
            await go_back(self._shadow)
            raise RestoreStopped(error.path, f"{error}; nothing was restored") from error
        except (OSError, GitFailed) as error:
            await go_back(self._shadow)
            raise CheckpointError(f"nothing was restored: {error}") from error
        self._shadow.journal.unlink()
        base = base_ref(self._thread_id, self._shadow.place.prefix)
        await point(self._shadow.objects, self._base, base, self._after)
        await self._adopt([step.path for step in self.plan.steps if step.before is None])

    async def _adopt(self, created: list[bytes]) -> None:
        """Have later checkpoints hold the files that were created, whether the user's rules ignore them or not."""
        if created:
            try:
                await stage_ignored(self._shadow, self._staged, created)
            except GitFailed as error:
                LOG.info("files just restored are not in the index: %s", Quoted(error))

    async def _record_base(self, name: str) -> Captured:
        """Make a commit of what the thread will know; no ref keeps it before the restore is done."""
        self._after = after_ref(self._thread_id, name)
        touched = tuple(step.path for step in self.plan.steps)
        note = Note(kind="restored", ref=self._after, prefix=self._shadow.place.prefix, touched=touched)
        return await record(self._shadow, Staged(await self._base_after(), ()), note, self._date)

    async def _base_after(self) -> str:
        """Return the tree of what the thread knows from now on: its base, with what the restore settles."""
        moved = {path: version for path, version in self._known.items() if path in self._trees.back}
        if moved == {path: step.after for path, step in self._trees.back.items()}:
            return self._trees.target
        scratch = self._shadow.git_dir / "index.base"
        try:
            return await with_files(self._shadow.scanning(scratch), self._trees.base, self._known)
        finally:
            scratch.unlink(missing_ok=True)


async def prepare(
    shadow: Shadow, policy: CheckpointPolicy, thread_id: str, target: str, selection: Selection, date: int
) -> Restore:
    """Plan the restore of the checkpoint `target`; nothing is written. `date` is in Unix seconds.

    Raises CheckpointMissing, GitFailed.
    """
    git, prefix = shadow.objects, shadow.place.prefix
    past, staged = await both(_past(git, thread_id, prefix, target), stage(shadow, policy))
    goal, back = past.goal, past.back
    trees = Trees(past.base, goal.tree, staged.tree, back, await compare(git, past.base, staged.tree))
    claimed = claims(past.kept, thread_id, prefix, goal.name, own_since=goal.name if back else "")
    missing: tuple[Conflict, ...] = ()
    if selection.hunks is None:
        wanted = _whole(trees, goal, selection, claimed.own)
    else:
        wanted, missing = await reject(git, trees.target, trees.now, selection.hunks)
    planned = plan(
        wanted,
        since=trees.since if selection.hunks is None else (),
        claims=claimed,
        dirty=selection.dirty,
        obstacles=await asyncio.to_thread(find_obstacles, bytes(shadow.workspace), wanted, policy),
        unkept=[skip.path for skip in staged.skipped],
    )
    planned = evolve(planned, conflicts=(*planned.conflicts, *missing))
    return Restore(planned, shadow, thread_id, staged, trees, _settled(wanted, planned, trees, selection), date)


async def _past(git: Git, thread_id: str, prefix: bytes, target: str) -> Past:
    known = await history(git)
    goal = next((one for one in known.kept if one.commit == target and one.is_checkpoint), None)
    if goal is None:
        raise CheckpointMissing(f"the checkpoint {target} is not in the store")
    base = known.bases.get(base_ref(thread_id, prefix), goal)
    return Past(known.kept, goal, base.tree, await compare(git, base.tree, goal.tree))


def _whole(trees: Trees, goal: Held, selection: Selection, own: frozenset[bytes] | None) -> dict[bytes, Aim]:
    skipped = [skip.path for skip in goal.note.skipped]
    return aims(trees.back, trees.since, named=selection.paths, own=own, skipped=skipped)


def _settled(
    wanted: dict[bytes, Aim], planned: Plan, trees: Trees, selection: Selection
) -> dict[bytes, Version | None]:
    """Return the files that will be as the thread wants them; a file with a hunk undone keeps its other edits."""
    doing = {step.path for step in planned.steps}
    return {
        path: aim.goal
        for path, aim in wanted.items()
        if (path in doing or aim.now == aim.goal) and (selection.hunks is None or path not in trees.since)
    }


async def go_back(shadow: Shadow) -> None:
    """Undo the restore that was cut off, if one was. Raises CheckpointError where that fails, to be tried again."""
    journal = load(shadow.journal)
    if journal is None:
        return
    LOG.warning("undoing a restore of %s that was cut off", Quoted(journal.folder))
    try:
        at = journal.folder.stat()
        if (at.st_dev, at.st_ino) == (journal.device, journal.inode):
            await _take_back(shadow, journal)
        else:
            LOG.warning("%s is another folder now; it stays as it is", Quoted(journal.folder))
    except (OSError, GitFailed) as error:
        raise CheckpointError(f"a restore of {journal.folder} was cut off, and cannot be undone: {error}") from error
    shadow.journal.unlink()


async def _take_back(shadow: Shadow, journal: Journal) -> None:
    numbered = _in_order(journal.steps)[::-1]
    with Writer.on(journal.folder, journal.mark, _object_format(journal.steps)) as writer:
        async for batch in _with_contents(shadow.objects, numbered, lambda step: step.before):
            await asyncio.to_thread(_each, writer.undo, batch)


async def _write(shadow: Shadow, mark: str, steps: tuple[Step, ...]) -> None:
    numbered = _in_order(steps)
    with Writer.on(shadow.workspace, mark, _object_format(steps)) as writer:
        async for batch in _with_contents(shadow.objects, numbered, lambda step: step.after):
            await asyncio.to_thread(_each, writer.do, batch)


def _in_order(steps: tuple[Step, ...]) -> list[tuple[int, Step]]:
    """Number the steps, deletions first: a file may take the place of a folder, or of a name in another case."""
    return sorted(enumerate(steps), key=lambda one: one[1].after is not None)


async def _with_contents(
    git: Git, numbered: list[tuple[int, Step]], read: Callable[[Step], Version | None]
) -> AsyncIterator[list[tuple[int, Step, bytes]]]:
    """Yield the steps in batches, each with the content of the version that is `read`."""
    for start in range(0, len(numbered), _AT_ONCE):
        batch = numbered[start : start + _AT_ONCE]
        names = [version.blob for _, step in batch if (version := read(step)) is not None]
        contents = await read_blobs(git, names) if names else {}
        yield [
            (number, step, b"" if (version := read(step)) is None else contents[version.blob]) for number, step in batch
        ]


def _each(work: Callable[[int, Step, bytes], None], batch: list[tuple[int, Step, bytes]]) -> None:
    for number, step, content in batch:
        work(number, step, content)


def _object_format(steps: tuple[Step, ...]) -> str:
    name = next((version.blob for step in steps for version in (step.before, step.after) if version), "")
    return "sha256" if len(name) == 64 else "sha1"
