"""Merging back: what a fork did since it was last merged, put in words at once."""

import attrs

from midstream.protocol.base import RunId, RunRange
from midstream.protocol.records.run import SwitchPlan
from midstream.protocol.records.thread import SourcePoint
from midstream.server.graph.commands import TakeMergeBack
from midstream.server.graph.merging import new_runs
from midstream.server.graph.state import ThreadState
from midstream.server.runtime.handoffs import Handoffs
from midstream.server.runtime.planning import Decided, Planner, Wish


async def merge_back(
    planner: Planner, handoffs: Handoffs, fork: ThreadState, parent: ThreadState, through_run_id: RunId | None
) -> TakeMergeBack:
    """Return the command that has a fork's new work wait on its parent, its text built from the fork as it is now.

    Raises:
        MidstreamError: runNotFound; invalidState, where there is nothing new; handoffOverBudget.
    """
    base, runs = new_runs(fork, parent, through_run_id)
    ordinals = tuple(run.ordinal for run in runs if run.ordinal is not None)
    plan = SwitchPlan(
        strategy="delta_since_target_last_seen",
        provider_thread_id=None,
        covered_thread_id=fork.thread.id,
        covered_run_ordinals=RunRange(from_=ordinals[0], to=ordinals[-1]),
        run_ordinals=ordinals,
        transfer_ids=(),
        channel=None,
        reasons=(),
    )
    wish = Wish(selection=parent.thread.selection, context="auto")
    material = await planner.gather(fork, plan, "delta_since_target_last_seen", wish.selection.provider)
    told = {run.id for run in runs}
    standing = tuple(said for said in material.standing if said.run_id in told)
    material = attrs.evolve(material, standing=standing, of_fork=True)
    handoff = handoffs.make(fork, Decided(plan=plan, material=material, budget=planner.budget()), wish)
    assert handoff is not None
    return TakeMergeBack(
        source_point=SourcePoint(thread_id=fork.thread.id, run_id=runs[-1].id, sequence=fork.sequence),
        base=base,
        source_provider=runs[-1].provider,
        handoff=handoff,
    )
