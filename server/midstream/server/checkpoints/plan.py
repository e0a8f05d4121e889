"""What a restore does, and what stands against it. Pure."""

from collections.abc import Iterable, Mapping

from attrs import frozen

from midstream.server.checkpoints.claims import Claims
from midstream.server.checkpoints.model import Conflict, Step, Version

CHANGED = "changed since the thread's latest checkpoint"
SHARED = "another thread's run changed it too"
UNSAVED = "has unsaved edits in the editor"
IN_THE_WAY = "an ignored file is in the way"
NOT_KEPT = "cannot be kept by a checkpoint, and so is left as it is"


@frozen
class Aim:
    """A file as it is and as it is wanted; None where there is none."""

    now: Version | None
    goal: Version | None


@frozen
class Obstacle:
    """A file that no tree holds where the file `blocks` is wanted; a `lasting` one no checkpoint can hold."""

    path: bytes
    blocks: bytes
    lasting: bool


@frozen
class Plan:
    """`steps` are those of a forced restore; `swept` are ignored files that it takes away, kept safe before."""

    steps: tuple[Step, ...]
    conflicts: tuple[Conflict, ...]
    swept: tuple[bytes, ...] = ()

    @property
    def written(self) -> tuple[bytes, ...]:
        return tuple(step.path for step in self.steps if step.after is not None)

    @property
    def deleted(self) -> tuple[bytes, ...]:
        return tuple(step.path for step in self.steps if step.after is None)


def aims(
    back: Mapping[bytes, Step],
    since: Mapping[bytes, Step],
    *,
    named: Iterable[bytes] | None,
    own: frozenset[bytes] | None,
    skipped: Iterable[bytes],
) -> dict[bytes, Aim]:
    """Return the files that a restore is about.

    `back` leads from the thread's base to the target, `since` from the base to the files as they are. Without
    `named` files or folders it is what the thread did since the target; where that is nothing, it can only be
    what was done after. What the target `skipped` is left alone.
    """
    if named is not None:
        folders = tuple(named)
        paths = [path for path in {**back, **since} if any(below(path, folder) for folder in folders)]
    else:
        paths = [path for path in back or since if own is None or path in own]
    left = tuple(skipped)
    return {path: _aim(path, back, since) for path in sorted(paths) if not any(below(path, folder) for folder in left)}


def _aim(path: bytes, back: Mapping[bytes, Step], since: Mapping[bytes, Step]) -> Aim:
    known = back[path].before if path in back else since[path].before
    return Aim(
        now=since[path].after if path in since else known,
        goal=back[path].after if path in back else known,
    )


def plan(
    wanted: Mapping[bytes, Aim],
    *,
    since: Iterable[bytes],
    claims: Claims,
    dirty: Iterable[bytes],
    obstacles: Iterable[Obstacle],
    unkept: Iterable[bytes],
) -> Plan:
    """Return what becomes of the `wanted` files, and every conflict.

    `since` were changed since the thread's base, `dirty` have unsaved edits, `unkept` are not held by a checkpoint
    as they are now. A file that no checkpoint can hold is never taken away, and what it blocks is not done.
    """
    doing = {path: aim for path, aim in wanted.items() if aim.now != aim.goal}
    found = [obstacle for obstacle in obstacles if obstacle.blocks in doing]
    lost = {path for path in doing if any(below(path, one) for one in unkept)}
    lasting = {*lost, *(obstacle.path for obstacle in found if obstacle.lasting)}
    blocked = {*lost, *(obstacle.blocks for obstacle in found if obstacle.lasting)}
    swept = {obstacle.path for obstacle in found if obstacle.blocks not in blocked}
    reasons: dict[bytes, str] = {}
    for paths, reason in (
        (lasting, NOT_KEPT),
        ({obstacle.path for obstacle in found}, IN_THE_WAY),
        (claims.others & doing.keys(), SHARED),
        (doing.keys() & set(since), CHANGED),
        ((doing.keys() | swept) & set(dirty), UNSAVED),
    ):
        for path in paths:
            reasons.setdefault(path, reason)
    goals = {**dict.fromkeys(swept, None), **{path: aim.goal for path, aim in doing.items() if path not in blocked}}
    return Plan(
        steps=tuple(Step(path, doing[path].now if path in doing else None, goals[path]) for path in sorted(goals)),
        conflicts=tuple(Conflict(path, reasons[path]) for path in sorted(reasons)),
        swept=tuple(sorted(swept)),
    )


def below(path: bytes, folder: bytes) -> bool:
    """Tell whether a path is `folder`, or lies in it."""
    return path == folder or path.startswith(folder + b"/")
