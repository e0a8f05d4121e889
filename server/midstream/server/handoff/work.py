"""What was done: files, commands and tools, subagents, failures. Of each thing its last outcome counts."""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final
from urllib.parse import unquote, urlsplit

import attrs
from attrs import frozen

from midstream.protocol.base import ItemId
from midstream.protocol.records.handoff import SectionKind
from midstream.server.handoff.entries import Entry
from midstream.server.handoff.facts import Change
from midstream.server.handoff.material import Material
from midstream.server.handoff.naming import cite
from midstream.server.handoff.pieces import Piece, cut
from midstream.server.handoff.redact import Redactor
from midstream.server.handoff.text import one_line
from midstream.server.handoff.words import told

CHANGED: Final = 2.0
RAN: Final = 0.3
FAILED: Final = 1.5
RETURNED: Final = 0.8
KNOWN_FAILURE: Final = 2.0


@frozen(kw_only=True)
class _File:
    change: Change
    ordinals: tuple[int | None, ...]
    item_ids: tuple[ItemId, ...]

    def then(self, later: "_File") -> "_File":
        added = self.change.status == "added" and later.change.status == "modified"
        return _File(
            change=attrs.evolve(
                later.change,
                status="added" if added else later.change.status,
                old_path=later.change.old_path or self.change.old_path,
                additions=self.change.additions + later.change.additions,
                deletions=self.change.deletions + later.change.deletions,
            ),
            ordinals=(*self.ordinals, *later.ordinals),
            item_ids=(*self.item_ids, *later.item_ids),
        )

    def words(self, path: str) -> str:
        """Return what became of the file in a few words: ``src/a.py +3 -1 r2,4``."""
        change = self.change
        moved = f" from {one_line(change.old_path)}" if change.old_path else ""
        status = "" if change.status == "modified" else f" {change.status}"
        return f"{path}{status}{moved} +{change.additions} -{change.deletions} {cite(self.ordinals)}".rstrip()


def files(material: Material, *, terse: bool) -> Iterator[Entry]:
    """The files that the runs changed; a checkpoint knows better than tools what became of them.

    Where room is scarce, `terse` tells their names alone, by folder: more of them are worth more than what became of
    a few.
    """
    by_path: dict[str, _File] = {}
    for path, file in _changes(material):
        known = by_path.pop(path, None)
        by_path[path] = known.then(file) if known else file
    if not terse:
        yield from (_entry(file.words(path), (), (file,)) for path, file in by_path.items())
        return
    folders: dict[str, dict[str, _File]] = {}
    for path, file in by_path.items():
        folder, _, name = path.rpartition("/")
        folders[folder] = {**folders.pop(folder, {}), name: file}
    for folder, changed in folders.items():
        prefix = f"{folder}/" if folder else ""
        if len(changed) == 1:
            (name,) = changed
            yield _entry(prefix + name, (), changed.values())
        else:
            pieces = (piece for name in changed for piece in cut(f"{name}; "))
            yield _entry(f"{prefix or './'}:", pieces, changed.values())


def _entry(head: str, pieces: Iterable[Piece], changed: Collection[_File]) -> Entry:
    return Entry(
        head=head,
        pieces=tuple(pieces),
        run_ordinal=max((ordinal for file in changed for ordinal in file.ordinals if ordinal), default=None),
        item_ids=tuple(dict.fromkeys(item_id for file in changed for item_id in file.item_ids)),
        weight=CHANGED,
    )


def _changes(material: Material) -> Iterator[tuple[str, _File]]:
    found = [(item, fact) for item in material.told for fact in item.facts if isinstance(fact, Change)]
    root = unquote(urlsplit(material.thread.workspace).path).rstrip("/")
    captured = {item.run_id for item, fact in found if fact.captured}
    for item, change in found:
        if change.captured or item.run_id not in captured:
            yield (
                _within(change.path, root),
                _File(change=change, ordinals=(material.ordinal(item),), item_ids=(item.id,)),
            )


def _within(path: str, root: str) -> str:
    """Return a path as the workspace knows it: agents name one file by its absolute path and by its relative one."""
    return path.removeprefix(f"{root}/").removeprefix("./") if root else path


def commands(material: Material) -> Iterator[Entry]:
    """What was run, each once, in the order of its last outcome."""
    return _last_of_each(material, "commands", lambda head: FAILED if _failed(head) else RAN)


def _failed(head: str) -> bool:
    _, marked, code = head.rpartition(": exit code ")
    return head.endswith("failed") or (bool(marked) and code not in ("0", "1 (no match)"))


def subagents(material: Material) -> Iterator[Entry]:
    """What subagents brought back, of each title and provider the last."""
    return _last_of_each(material, "subagents", lambda _: RETURNED)


def _last_of_each(material: Material, section: SectionKind, weight: Callable[[str], float]) -> Iterator[Entry]:
    """Of each key the last outcome, citing all that came before it; `weight` judges an outcome by its head."""
    last: dict[str, Entry] = {}
    for item, fact in told(material, section):
        before = last.pop(fact.key, None)
        ordinal = material.ordinal(item)
        last[fact.key] = Entry(
            head=f"{fact.head} {cite([ordinal])}".rstrip(),
            pieces=fact.pieces,
            run_ordinal=ordinal,
            item_ids=(*(before.item_ids if before else ()), item.id),
            weight=weight(fact.head),
        )
    yield from last.values()


def failures(material: Material) -> Iterator[Entry]:
    """Runs that failed and errors, unless a later run completed."""
    safe = Redactor().text
    done = max((run.ordinal or 0 for run in material.runs if run.status == "completed"), default=0)
    told_of: set[str] = set()
    for run in material.runs:
        if run.failure is not None and (run.ordinal or 0) > done:
            message = safe(run.failure.message)
            told_of.add(message)
            head = f"{cite([run.ordinal])} {run.status} ({run.failure.class_}):".lstrip()
            yield Entry(head=head, pieces=cut(message), run_ordinal=run.ordinal, weight=KNOWN_FAILURE)
    for item, fact in told(material, "failures"):
        ordinal = material.ordinal(item)
        message = "".join(piece.text for piece in fact.pieces)
        if message not in told_of and (ordinal is None or ordinal > done):
            yield Entry(
                head=f"{cite([ordinal])} error:".lstrip(),
                pieces=fact.pieces,
                run_ordinal=ordinal,
                item_ids=(item.id,),
                weight=KNOWN_FAILURE,
            )
