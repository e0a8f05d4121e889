"""The record of a handoff that was built, before any run has it."""

from midstream.protocol.records.handoff import ContextHandoff, HandoffInfo
from midstream.protocol.records.run import SwitchPlan
from midstream.server.graph.changes import Stamp
from midstream.server.graph.state import ThreadState
from midstream.server.handoff.material import Built, Material


def draft(
    state: ThreadState, plan: SwitchPlan, material: Material, built: Built, stamp: Stamp, summarizer: str
) -> ContextHandoff:
    """Return the record of a handoff, ready for a run; `summarizer` is the one that was wanted."""
    sources = {run.provider_thread_id: None for run in material.runs}
    wanted = summarizer != "deterministic"
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
        created_by="deterministic",
        created_by_provider=None,
        fallback_reason=f"No provider can summarise yet, so {summarizer} was not asked." if wanted else None,
        delivery=None,
        created_at=stamp.now,
        updated_at=stamp.now,
        summary_text=built.summary_text,
        sent_text=built.sent_text,
        sections=built.sections,
    )


def fits(handoff: HandoffInfo, plan: SwitchPlan) -> bool:
    """Return whether a handoff that was made earlier still says exactly what a plan asks for."""
    unsent = handoff.status == "ready" and (handoff.delivery is None or handoff.delivery.status == "pending")
    return (
        unsent
        and handoff.run_ordinals == plan.run_ordinals
        and handoff.covered_thread_id == plan.covered_thread_id
        and handoff.strategy in (plan.strategy, "manual_context")
    )
