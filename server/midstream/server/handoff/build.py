"""Making a handoff from its material: the same material, budget and nonce give the same bytes."""

from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.handoff import HandoffSection, HandoffTokens
from midstream.server.handoff.brief import brief, opening
from midstream.server.handoff.budget import effective_budget, fit, smallest
from midstream.server.handoff.fence import LONGEST_NONCE, fence
from midstream.server.handoff.material import Built, Material
from midstream.server.handoff.redact import MARK, redact
from midstream.server.handoff.render import MARKS, Marks, render
from midstream.server.handoff.text import clean
from midstream.server.handoff.tokens import estimate_tokens
from midstream.server.handoff.wash import wash

__all__ = ["Built", "Material", "build", "build_edited", "effective_budget", "minimum_tokens"]


def build(
    material: Material,
    *,
    budget_tokens: int,
    nonce: str,
    secrets: frozenset[str] = frozenset(),
    marks: Marks = MARKS,
) -> Built:
    """Make a handoff of at most `budget_tokens`, the fence included.

    `secrets` are values that must not be told, beside those that look like secrets.

    Raises:
        MidstreamError: handoffOverBudget, where the goals, the constraints and the last request do not fit.
        ValueError: the nonce is not 8 to 32 ASCII letters and digits.
    """
    material = wash(material, secrets)
    sections = brief(material)
    frame = _frame(material)
    _check(frame + smallest(sections), budget_tokens)
    told = fit(sections, budget_tokens - frame)
    return _built(render(opening(material), told, marks), nonce, budget_tokens, marks, told, _carried(material, told))


def build_edited(summary_text: str, *, budget_tokens: int, nonce: str, secrets: frozenset[str] = frozenset()) -> Built:
    """Make a handoff from the user's own words, fenced and redacted anew.

    Raises:
        MidstreamError: handoffOverBudget, where the words do not fit: they are never cut.
        ValueError: the nonce is not 8 to 32 ASCII letters and digits.
    """
    redacted, _ = redact(clean(summary_text), secrets)
    protected = "\n".join(MARKS.protect(line) for line in redacted.split("\n"))
    built = _built(protected, nonce, budget_tokens, MARKS, (), frozenset())
    _check(built.tokens.estimated, budget_tokens)
    return built


def minimum_tokens(material: Material) -> int:
    """Return the smallest budget that `build` accepts for a material, in tokens."""
    material = wash(material)
    return _frame(material) + smallest(brief(material))


def _frame(material: Material) -> int:
    """Return the tokens of all that stands around the sections."""
    return estimate_tokens(fence(render(opening(material), ()), "0" * LONGEST_NONCE) + "\n")


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
) -> Built:
    sent_text = fence(summary_text, nonce, marks)
    return Built(
        summary_text=summary_text,
        sent_text=sent_text,
        sections=sections,
        tokens=HandoffTokens(budget=budget_tokens, estimated=estimate_tokens(sent_text)),
        redactions=len(MARK.findall(summary_text)),
        item_ids=item_ids,
    )
