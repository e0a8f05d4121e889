"""Whose work a path is, where several threads share a work tree. Pure."""

from collections.abc import Iterable

from attrs import frozen

from midstream.server.checkpoints.history import Held, overlap, relative


@frozen
class Claims:
    """Paths that runs and restores changed: this thread's `own`, and those of `others`.

    `own` is None where no other thread works here: then all is.
    """

    own: frozenset[bytes] | None
    others: frozenset[bytes]


def claims(kept: list[Held], thread_id: str, prefix: bytes, name: str, *, own_since: str) -> Claims:
    """Return who changed what in a folder after the checkpoint `name`; own work counts from `own_since`."""
    near = [one for one in kept if overlap(one.note.prefix, prefix)]
    others = [one for one in near if one.thread_id != thread_id]
    if not others:
        return Claims(None, frozenset())
    own = [one for one in near if one.thread_id == thread_id]
    return Claims(_touched(own, own_since, prefix), _touched(others, name, prefix))


def _touched(kept: Iterable[Held], name: str, prefix: bytes) -> frozenset[bytes]:
    """Return what was changed after `name`; a restore bears the name of its safety checkpoint, and came after it."""
    later = (one for one in kept if one.name > name or (one.name == name and not one.is_checkpoint))
    paths = (relative(path, one.note.prefix, prefix) for one in later for path in one.note.touched)
    return frozenset(path for path in paths if path is not None)
