"""The record of a handoff that was built, before any run has it."""

import attrs
from attrs import frozen

from midstream.protocol.base import ProviderKind
from midstream.protocol.records.handoff import ContextHandoff, HandoffInfo, HandoffPurpose
from midstream.server.graph.changes import Stamp
from midstream.server.graph.state import ThreadState
from midstream.server.handoff.basis import basis_of
from midstream.server.handoff.material import Built, Material
from midstream.server.runtime.planning import Decided, Wish


@frozen(kw_only=True)
class Authorship:
    """Who wrote a handoff: a provider, or the deterministic rules, and then why a provider asked for did not."""

    provider: ProviderKind | None = None
    fallback_reason: str | None = None


def draft(
    state: ThreadState, decided: Decided, material: Material, built: Built, stamp: Stamp, wish: Wish, by: Authorship
) -> ContextHandoff:
    """Return the record of a handoff, ready for a run."""
    plan = decided.plan
    sources = {run.provider_thread_id: None for run in material.runs}
    return ContextHandoff(
        id=stamp.new_id("hof"),
        transfer_id=None,
        thread_id=state.thread.id,
        target_run_id=None,
        from_provider_thread_ids=tuple(
            source for source in sources if source is not None and source != plan.provider_thread_id
        ),
        to_provider_thread_id=plan.provider_thread_id,
        covered_thread_id=plan.covered_thread_id,
        covered_run_ordinals=plan.covered_run_ordinals,
        run_ordinals=plan.run_ordinals,
        strategy=material.strategy,
        tokens=built.tokens,
        redactions=built.redactions,
        status="ready",
        superseded_by=None,
        created_by="deterministic" if by.provider is None else "provider",
        created_by_provider=by.provider,
        fallback_reason=by.fallback_reason,
        made_for=HandoffPurpose(selection=wish.selection, context=wish.context, basis=basis_of(material)),
        delivery=None,
        created_at=stamp.now,
        updated_at=stamp.now,
        summary_text=built.summary_text,
        sent_text=built.sent_text,
        sections=built.sections,
    )


def edited(old: HandoffInfo, built: Built, stamp: Stamp) -> ContextHandoff:
    """Return the record of a handoff in the user's own words, in the place of one that was made."""
    fields = {field.name: getattr(old, field.name) for field in attrs.fields(HandoffInfo)}
    return ContextHandoff(
        **fields
        | {
            "id": stamp.new_id("hof"),
            "strategy": "manual_context",
            "tokens": built.tokens,
            "redactions": built.redactions,
            "created_by": "user",
            "created_by_provider": None,
            "fallback_reason": None,
            "created_at": stamp.now,
            "updated_at": stamp.now,
        },
        summary_text=built.summary_text,
        sent_text=built.sent_text,
        sections=(),
    )


def unsent(handoff: HandoffInfo) -> bool:
    """Return whether a handoff can still be sent as it is."""
    return handoff.status == "ready" and (handoff.delivery is None or handoff.delivery.status == "pending")
