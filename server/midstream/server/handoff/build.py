"""Making a handoff from its material: the same material, budget and nonce give the same bytes."""

import math
from typing import Final

import attrs

from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.handoff import HandoffSection, HandoffTokens, SectionKind
from midstream.server.handoff.brief import brief, opening, pinned
from midstream.server.handoff.budget import effective_budget, fit, smallest, whole
from midstream.server.handoff.choice import Survey
from midstream.server.handoff.entries import Section
from midstream.server.handoff.fence import LONGEST_NONCE, fence
from midstream.server.handoff.leftovers import left_out, unsaid
from midstream.server.handoff.material import Built, Material
from midstream.server.handoff.redact import MARK, Redactor
from midstream.server.handoff.render import MARKS, Marks, render
from midstream.server.handoff.summary import Written
from midstream.server.handoff.tokens import SAFETY, count, countable, estimate_tokens

__all__ = ["Built", "Material", "build", "build_edited", "effective_budget", "minimum_tokens"]


ROUNDS: Final = 4
"""How often the room is corrected by what the text really came to."""

SPARE: Final = 50
"""A text that leaves no more than this part of the room is not corrected any more."""


def build(
    material: Material,
    *,
    budget_tokens: int,
    nonce: str,
    secrets: frozenset[str] = frozenset(),
    marks: Marks = MARKS,
    written: Written | None = None,
) -> Built:
    """Make a handoff of at most `budget_tokens`, the fence included.

    `secrets` are values that must not be told, beside those that look like secrets; `written` is a provider's summary.

    Raises:
        MidstreamError: handoffOverBudget, where the goals, the constraints and the last request do not fit.
        ValueError: the nonce is not 8 to 32 ASCII letters and digits.
    """
    sections = brief(material, budget_tokens, written)
    frame = _frame(material)
    least = frame + smallest(pinned(material))
    _check(_tokens(least), budget_tokens)
    room = most = countable(budget_tokens) - frame

    missing = _unsaid(material, sections, written)

    def lay_out(told: tuple[HandoffSection, ...]) -> Built:
        closing = left_out(material, told, missing)
        text = Redactor(secrets).values(render(opening(material), told, marks, closing))
        return _built(text, nonce, budget_tokens, marks, told, _carried(material, told))

    everything = None if material.unread else whole(sections, room)
    if everything is not None and (built := lay_out(everything)).tokens.estimated <= budget_tokens:
        return built
    best, survey = None, Survey(sections)
    for _ in range(ROUNDS):
        built = lay_out(tuple(_counted(section, material) for section in fit(sections, survey, room)))
        spare = countable(budget_tokens) - count(built.sent_text)
        if spare >= 0 and (best is None or built.tokens.estimated > best.tokens.estimated):
            best = built
        # The parts were counted one by one, so the whole may be a little more, or less, than they were together.
        room = max(least - frame, room + spare)
        if best is not None and abs(spare) <= most // SPARE:
            break
    if best is None:
        _check(built.tokens.estimated, budget_tokens)
    return best or built


def build_edited(summary_text: str, *, budget_tokens: int, nonce: str, secrets: frozenset[str] = frozenset()) -> Built:
    """Make a handoff from the user's own words, fenced and redacted anew.

    Raises:
        MidstreamError: handoffOverBudget, where the words do not fit: they are never cut.
        ValueError: the nonce is not 8 to 32 ASCII letters and digits.
    """
    redacted = Redactor(secrets).text(summary_text)
    protected = "\n".join(MARKS.protect(line) for line in redacted.split("\n"))
    built = _built(protected, nonce, budget_tokens, MARKS, (), frozenset(), edited=True)
    _check(built.tokens.estimated, budget_tokens)
    return built


def minimum_tokens(material: Material) -> int:
    """Return the smallest budget that `build` accepts for a material, in tokens."""
    return _tokens(_frame(material) + smallest(pinned(material)))


def _counted(section: HandoffSection, material: Material) -> HandoffSection:
    """Return a section that counts what was not even looked at as left out."""
    return attrs.evolve(section, omitted=section.omitted + material.unread.get(section.kind, 0))


def _unsaid(material: Material, sections: tuple[Section, ...], written: Written | None) -> tuple[SectionKind, ...]:
    """Return the sections that are not told of because a checkpoint's or a provider's summary stands for them."""
    if not material.readable or (written is None and material.strategy != "checkpoint_summary"):
        return ()
    return unsaid(material, (section.kind for section in sections if section.kind != "conversation"))


def _frame(material: Material) -> int:
    """Return the tokens of all that stands around the sections."""
    closing = left_out(material, (), material.by_section) if material.readable else ""
    return count(fence(render(opening(material), (), closing=closing), "0" * LONGEST_NONCE) + "\n")


def _tokens(counted: int) -> int:
    return math.ceil(counted * SAFETY)


def _check(needed: int, budget_tokens: int) -> None:
    if needed > budget_tokens:
        raise MidstreamError(
            "handoffOverBudget",
            f"Even the smallest handoff takes {needed} tokens, and {budget_tokens} are allowed: "
            "raise handoff.budget_tokens, or choose a provider with a larger context window.",
            minimumTokens=needed,
            budgetTokens=budget_tokens,
        )


def _carried(material: Material, told: tuple[HandoffSection, ...]) -> frozenset[str]:
    """Return the items told now for the first time: what a repeated constraint cites was known before."""
    known = {message.id for message in material.standing} - material.new
    cited = (item_id for section in told for entry in section.entries for item_id in entry.item_ids)
    return frozenset(cited) - known


def _built(
    summary_text: str,
    nonce: str,
    budget_tokens: int,
    marks: Marks,
    sections: tuple[HandoffSection, ...],
    item_ids: frozenset[str],
    *,
    edited: bool = False,
) -> Built:
    sent_text = fence(summary_text, nonce, marks, edited=edited)
    return Built(
        summary_text=summary_text,
        sent_text=sent_text,
        sections=sections,
        tokens=HandoffTokens(budget=budget_tokens, estimated=estimate_tokens(sent_text)),
        redactions=len(MARK.findall(summary_text)),
        item_ids=item_ids,
    )
