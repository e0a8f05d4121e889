"""What was said: the user's requests and constraints, decisions, and the agents' messages."""

from collections.abc import Iterator
from typing import Final

from midstream.protocol.records.handoff import SectionKind
from midstream.server.handoff.entries import Entry
from midstream.server.handoff.facts import Telling
from midstream.server.handoff.material import ItemFacts, Material
from midstream.server.handoff.naming import cite
from midstream.server.handoff.pieces import Piece

FIRST_REQUEST: Final = 60
"""Tokens of the first request that are never left out."""

LAST_REQUEST: Final = 160
"""Tokens of the last one."""

REQUESTED: Final = 6.0
DECIDED: Final = 3.0
SUMMARISED: Final = 4.0
CONCLUDED: Final = 1.4
"""Weight of what an agent said last in a run; it tells how the run ended."""

REMARKED: Final = 0.5


def requests(material: Material) -> Iterator[Entry]:
    """The user's messages of the runs told of; of the first and the last the beginning is never left out."""
    said = told(material, "goals")
    for place, (item, fact) in enumerate(said):
        run = material.run_of(item)
        fate = "not delivered then" if fact.head == "undelivered" else run.status if run else "completed"
        share = LAST_REQUEST if place == len(said) - 1 else FIRST_REQUEST
        yield Entry(
            head=f"{cite([material.ordinal(item)])}{_unless_completed(fate)}:".lstrip(),
            pieces=fact.pieces,
            run_ordinal=material.ordinal(item),
            item_ids=(item.id,),
            pinned=_beginning(fact.pieces, share) if place in (0, len(said) - 1) else frozenset(),
            weight=REQUESTED,
        )


def _unless_completed(status: str) -> str:
    return "" if status == "completed" else f" ({status})"


def _beginning(pieces: tuple[Piece, ...], tokens: int) -> frozenset[int]:
    """Return the places of the first pieces that fit some tokens: at least one, and what was pasted only if all was."""
    written = [place for place, piece in enumerate(pieces) if not piece.pasted] or list(range(len(pieces)))
    kept = set(written[:1])
    for place in written:
        tokens -= pieces[place].tokens
        if tokens < 0:
            break
        kept.add(place)
    return frozenset(kept)


def standing(material: Material) -> Iterator[Entry]:
    """The user's constraints, those that the target knows of already marked as repeated."""
    said: set[str] = set()
    for item in material.standing:
        repeated = "" if item.id in material.new else " (repeated)"
        for fact in item.facts:
            if isinstance(fact, Telling) and fact.section == "constraints" and fact.key not in said:
                said.add(fact.key)
                yield Entry(
                    head=f"{cite([material.ordinal(item)])}{repeated}:".lstrip(" "),
                    pieces=fact.pieces,
                    run_ordinal=material.ordinal(item),
                    item_ids=(item.id,),
                    pinned=frozenset(range(len(fact.pieces))),
                )


def decisions(material: Material) -> Iterator[Entry]:
    """What was decided: marked lines and sentences with a because, the user's answers, what the user declined."""
    last: dict[str, Entry] = {}
    for item, fact in told(material, "decisions"):
        last.pop(fact.key, None)
        ordinal = material.ordinal(item)
        last[fact.key] = Entry(
            head=f"{cite([ordinal])}: {fact.head}".strip(),
            pieces=fact.pieces,
            run_ordinal=ordinal,
            item_ids=(item.id,),
            weight=DECIDED,
        )
    yield from last.values()


def conversation(material: Material) -> Iterator[Entry]:
    """The agents' messages; those of subagents stand in their results."""
    said = told(material, "conversation")
    last = {item.run_id: item.id for item, _ in said}
    for item, fact in said:
        ordinal = material.ordinal(item)
        yield Entry(
            head=f"{cite([ordinal])} {material.speaker(item)}{_unless_completed(fact.head)}:".lstrip(),
            pieces=fact.pieces,
            run_ordinal=ordinal,
            item_ids=(item.id,),
            weight=CONCLUDED if last[item.run_id] == item.id else REMARKED,
        )


def told(material: Material, section: SectionKind) -> tuple[tuple[ItemFacts, Telling], ...]:
    """Return what is told in a section, with the items that told it, oldest first."""
    return material.by_section.get(section, ())
