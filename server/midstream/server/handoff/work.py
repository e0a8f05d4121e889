"""What was done: files, commands and tools, subagents, failures. Of each thing its last outcome counts."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Final

import attrs
from attrs import frozen

from midstream.protocol.base import ItemId
from midstream.protocol.records.checkpoint import FileSummary
from midstream.protocol.records.item import (
    ChangedFile,
    CheckpointItem,
    CommandItem,
    ErrorItem,
    FileChangeItem,
    SubagentItem,
    ToolItem,
    WebSearchItem,
)
from midstream.server.handoff.entries import Entry, quoted
from midstream.server.handoff.material import Material
from midstream.server.handoff.naming import in_run
from midstream.server.handoff.redact import redact
from midstream.server.handoff.text import clip, one_line, tail

FAILED_TAIL: Final = 8
"""How many lines of a failed command's output are told; its reason stands near the end."""

PASSED_TAIL: Final = 1
"""How many of one that passed: the summary line of a test run."""

INPUT_SHOWN: Final = 240
"""Bytes of a tool's input that are told."""

_CUT_SHORT: Final = frozenset({"pending", "running", "waiting", "cancelled", "interrupted"})
_STATUS: Final = {"add": "added", "modify": "modified", "delete": "deleted", "rename": "renamed"}


@frozen(kw_only=True)
class _Change:
    status: str
    old_path: str | None = None
    additions: int = 0
    deletions: int = 0
    ordinals: tuple[int, ...] = ()
    item_ids: tuple[ItemId, ...] = ()

    def then(self, later: "_Change") -> "_Change":
        added = self.status == "added" and later.status == "modified"
        return attrs.evolve(
            later,
            status="added" if added else later.status,
            old_path=later.old_path or self.old_path,
            additions=self.additions + later.additions,
            deletions=self.deletions + later.deletions,
            ordinals=tuple(dict.fromkeys((*self.ordinals, *later.ordinals))),
            item_ids=tuple(dict.fromkeys((*self.item_ids, *later.item_ids))),
        )


def files(material: Material) -> Iterator[Entry]:
    """The files that the runs changed. A run's checkpoint knows better than its tools what became of them."""
    changes: dict[str, _Change] = {}
    for path, change in _changes(material):
        known = changes.pop(path, None)
        changes[path] = known.then(change) if known else change
    for path, change in changes.items():
        moved = f", from {one_line(change.old_path)}" if change.old_path else ""
        where = ", ".join(map(str, change.ordinals))
        yield Entry(
            text=f"{one_line(path)}: {change.status}{moved}, +{change.additions} -{change.deletions}"
            + (f" (run {where})" if where else ""),
            run_ordinal=change.ordinals[-1] if change.ordinals else None,
            item_ids=change.item_ids,
        )


def _changes(material: Material) -> Iterator[tuple[str, _Change]]:
    captures = [item for item in material.told if isinstance(item, CheckpointItem) and item.status == "completed"]
    captured = {item.run_id for item in captures}
    for item in material.told:
        match item:
            case CheckpointItem(status="completed"):
                changed = [(file.path, _captured(file)) for file in item.files]
            case FileChangeItem(status="completed") if item.run_id not in captured:
                changed = [(change.path, _claimed(change)) for change in item.changes]
            case _:
                continue
        ordinal = material.ordinal(item)
        for path, change in changed:
            yield path, attrs.evolve(change, ordinals=(ordinal,) if ordinal else (), item_ids=(item.id,))


def _captured(file: FileSummary) -> _Change:
    return _Change(
        status=file.status, old_path=file.old_path, additions=file.additions or 0, deletions=file.deletions or 0
    )


def _claimed(change: ChangedFile) -> _Change:
    signs = Counter(line[:1] for line in (change.diff or "").split("\n") if not line.startswith(("+++", "---")))
    return _Change(status=_STATUS[change.kind], old_path=change.old_path, additions=signs["+"], deletions=signs["-"])


def commands(material: Material) -> Iterator[Entry]:
    """What was run, each once, in the order of its last outcome."""
    last: dict[tuple[str, ...], Entry] = {}
    for item in material.told:
        match item:
            case CommandItem():
                key, text = (item.cwd, one_line(item.command)), _ran(material, item)
            case ToolItem():
                name = one_line(f"{item.server}/{item.name}" if item.server else item.name)
                given = _input(item.input)
                key = (name, given)
                lines = tail(item.output or "", FAILED_TAIL) if item.status == "failed" else []
                text = quoted(f"tool {name} {given}: {_outcome(item)} ({in_run(material.ordinal(item))})", lines)
            case WebSearchItem():
                key = ("web", one_line(item.query))
                found = ", ".join(one_line(result.url) for result in item.results or ())
                text = f"searched the web for \u201c{one_line(item.query)}\u201d: {found or _outcome(item)}"
            case _:
                continue
        before = last.pop(key, None)
        ids = (*(before.item_ids if before else ()), item.id)
        last[key] = Entry(text=text, run_ordinal=material.ordinal(item), item_ids=ids)
    yield from last.values()


def _ran(material: Material, item: CommandItem) -> str:
    ended = _outcome(item) if item.exit_code is None else f"exit code {item.exit_code}"
    lines = FAILED_TAIL if item.exit_code or item.status == "failed" else PASSED_TAIL
    if item.status in _CUT_SHORT:
        return f"`{one_line(item.command)}`: {_outcome(item)} ({in_run(material.ordinal(item))})"
    return quoted(f"`{one_line(item.command)}`: {ended} ({in_run(material.ordinal(item))})", tail(item.output, lines))


def _input(value: object) -> str:
    words = one_line(json.dumps(value, sort_keys=True, ensure_ascii=False, default=str))
    # A secret of a tool's input may show as one only beside its name, which it gets here.
    return clip(redact(words)[0], INPUT_SHOWN)


def _outcome(item: CommandItem | ToolItem | WebSearchItem | SubagentItem) -> str:
    """Return how something ended; what never did reads so, since another agent would wait for its result."""
    return "interrupted, no result" if item.status in _CUT_SHORT else item.status


def subagents(material: Material) -> Iterator[Entry]:
    """What subagents brought back, of each title the last."""
    last: dict[str, Entry] = {}
    for item in material.told:
        if isinstance(item, SubagentItem):
            ordinal = material.ordinal(item)
            label = f"{one_line(item.title)} ({one_line(item.provider)}, {in_run(ordinal)}): {_outcome(item)}"
            result = (item.result or "").split("\n") if item.result else []
            before = last.pop(item.title, None)
            ids = (*(before.item_ids if before else ()), item.id)
            last[item.title] = Entry(text=quoted(label, result), run_ordinal=ordinal, item_ids=ids)
    yield from last.values()


def failures(material: Material) -> Iterator[Entry]:
    """Runs that failed and errors, unless a later run completed."""
    done = max((run.ordinal or 0 for run in material.runs if run.status == "completed"), default=0)
    for run in material.runs:
        if run.failure is not None and (run.ordinal or 0) > done:
            label = f"{in_run(run.ordinal).capitalize()} {run.status} ({run.failure.class_}):"
            yield Entry(text=quoted(label, run.failure.message.split("\n")), run_ordinal=run.ordinal)
    for item in material.told:
        ordinal, run_of = material.ordinal(item), material.run_of(item)
        told = run_of is not None and run_of.failure is not None and run_of.failure == getattr(item, "failure", None)
        if isinstance(item, ErrorItem) and not told and (ordinal is None or ordinal > done):
            label = f"An error in {in_run(ordinal)}:"
            yield Entry(text=quoted(label, item.message.split("\n")), run_ordinal=ordinal, item_ids=(item.id,))
