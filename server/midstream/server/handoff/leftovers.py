"""What a handoff left out, and the call of the reader that returns all of it."""

import json
from collections.abc import Container, Iterable
from typing import Final

import attrs

from midstream.protocol.records.handoff import HandoffSection, SectionKind
from midstream.server.handoff.brief import brief
from midstream.server.handoff.budget import whole
from midstream.server.handoff.entries import TITLES
from midstream.server.handoff.material import Material
from midstream.server.handoff.naming import ranges

TOOL: Final = "history"
"""The reader's tool that tells whole what a handoff tells in part."""

EVERYTHING: Final = 10_000_000
"""A budget in tokens under which nothing is left out or told tersely."""


def left_out(material: Material, told: tuple[HandoffSection, ...], unsaid: Iterable[SectionKind]) -> str:
    """Return the last line of a handoff: what is left out, and how it can be read; empty where nothing is.

    `unsaid` are the sections that its strategy does not tell of at all.
    """
    counts = ", ".join(f"{section.omitted} {section.kind}" for section in told if section.omitted)
    lacking = {section.kind for section in told if section.omitted or section.shortened} | set(unsaid)
    if not (material.readable and lacking):
        return f"Left out: {counts}" if counts else ""
    ordinals = sorted(run.ordinal for run in material.runs if run.ordinal is not None)
    return f"Left out: {counts or 'parts'}; whole by midstream's tool {call(ordinals, lacking)}"


def call(ordinals: Iterable[int], sections: Iterable[SectionKind]) -> str:
    """Return a call of the reader as a handoff names it: the tool, and its arguments in JSON."""
    kinds = set(sections)
    named = ",".join(kind for kind in TITLES if kind in kinds)
    return f"{TOOL} {json.dumps({'runs': ranges(ordinals, ','), 'sections': named}, separators=(',', ':'))}"


def everything(material: Material, kinds: Container[str]) -> tuple[HandoffSection, ...]:
    """Return the sections of these kinds as a handoff without a budget tells them."""
    sections = tuple(section for section in brief(material, EVERYTHING) if section.kind in kinds)
    return whole(sections, EVERYTHING) or ()


def unsaid(material: Material, sections: Iterable[SectionKind]) -> tuple[SectionKind, ...]:
    """Return the sections of a full summary that a handoff of these sections does not tell of."""
    told = set(sections)
    full = brief(attrs.evolve(material, strategy="full_thread_summary"), EVERYTHING)
    return tuple(section.kind for section in full if section.kind not in told)
