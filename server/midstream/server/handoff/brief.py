"""The typed sections of a handoff, each statement with the run and the items that it was taken from."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

from midstream.protocol.records.handoff import SectionKind
from midstream.server.handoff import now, words, work
from midstream.server.handoff.entries import TITLES, Entry, Section
from midstream.server.handoff.material import Material
from midstream.server.handoff.naming import run_list
from midstream.server.handoff.pieces import cut
from midstream.server.handoff.summary import Written

PINNED: Final[tuple[SectionKind, ...]] = ("goals", "constraints")

TERSE: Final = 2_500
"""Tokens of a handoff below which files are told by their names alone."""

_COLLECT: Final[Mapping[SectionKind, Callable[[Material], Iterator[Entry]]]] = {
    "goals": words.requests,
    "constraints": words.standing,
    "decisions": words.decisions,
    "commands": work.commands,
    "plan": now.plan,
    "open": now.open_questions,
    "failures": work.failures,
    "subagents": work.subagents,
    "checkpoint": now.workspace,
    "conversation": words.conversation,
}


_OF_CHECKPOINT: Final[tuple[SectionKind, ...]] = (
    "goals",
    "constraints",
    "decisions",
    "files",
    "plan",
    "open",
    "failures",
    "checkpoint",
)
"""What a checkpoint's summary tells: how things stand, and not what was said."""

_LEGEND: Final = "r3 is run 3; what is not marked otherwise completed."


def pinned(material: Material) -> tuple[Section, ...]:
    """Return the sections that hold what is never left out."""
    sections = (Section(kind=kind, entries=tuple(_COLLECT[kind](material))) for kind in PINNED)
    return tuple(section for section in sections if section.entries)


def brief(material: Material, budget_tokens: int, written: Written | None = None) -> tuple[Section, ...]:
    """Return all that could be told, in the order of `TITLES`; sections without an entry are left out.

    What a provider has `written` stands for what agents said and did.
    """
    terse = budget_tokens < TERSE
    collect: Mapping[SectionKind, Callable[[Material], Iterator[Entry]]]
    collect = {**_COLLECT, "files": partial(work.files, terse=terse)}
    told = tuple(TITLES)
    if material.strategy == "checkpoint_summary" or written is not None:
        told = _OF_CHECKPOINT
    sections = (Section(kind=kind, entries=tuple(collect[kind](material))) for kind in told)
    told_of = tuple(section for section in sections if section.entries)
    if written is None:
        return told_of
    summary = (
        Entry(head=f"{written.provider} summarised:", pieces=cut(statement), weight=words.SUMMARISED)
        for statement in written.statements
    )
    return (*told_of, Section(kind="conversation", entries=tuple(summary)))


def opening(material: Material) -> str:
    """Return the first line: what the handoff covers, and what it stands in for."""
    ordinals = tuple(run.ordinal for run in material.runs if run.ordinal is not None)
    who = ", ".join(sorted({material.providers_of_runs[o] for o in ordinals if o in material.providers_of_runs}))
    span = run_list(ordinals) + (f" (answered by {who})" if who else "") if ordinals else "no further run"
    if material.of_fork:
        return f"What a fork of this conversation did, by its own numbers: {span}. {_LEGEND}"
    if material.strategy == "delta_since_target_last_seen":
        return f"What this conversation has not seen yet: {span}. {_LEGEND}"
    replaces = any(reason.code == "delta_chain_too_long" for reason in material.reasons)
    named = f": {', '.join(material.replaces)}" if material.replaces else ""
    instead = f"; replaces the earlier handoffs{named}" if replaces else ""
    return f"The thread so far: {span}{instead}. {_LEGEND}"
