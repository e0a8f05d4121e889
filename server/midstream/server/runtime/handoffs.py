"""Handoffs on their way to a run: made, kept while the thread stands still, edited, followed by what came after."""

import secrets
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Final

import attrs
from attrs import frozen

from midstream.protocol.base import RunRange
from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.config import Config
from midstream.protocol.records.handoff import ContextHandoff, HandoffInfo, HandoffResolution, HandoffStrategy
from midstream.protocol.records.run import Run, SwitchPlan
from midstream.protocol.records.thread import ModelSelection
from midstream.server.graph.changes import Stamp
from midstream.server.graph.merging import fork_runs, untold, waiting
from midstream.server.graph.prepared import tells_of_fork
from midstream.server.graph.state import ThreadState
from midstream.server.handoff.basis import basis_of
from midstream.server.handoff.build import build, build_edited
from midstream.server.handoff.summary import Written
from midstream.server.runtime.drafting import Authorship, draft, edited, unsent
from midstream.server.runtime.planning import Decided, Planner, Wish
from midstream.server.runtime.secret_values import environment_secrets, workspace_secrets
from midstream.server.runtime.workspaces import workspace_path
from midstream.server.store import Store

CHOICES: Final[tuple[HandoffStrategy | None, ...]] = (None, "full_thread_summary", "delta_since_target_last_seen")
"""The strategies by which an edited handoff may have been made: it does not say any more."""


@frozen(kw_only=True)
class Catchup:
    """A plan and all handoffs that go with it, in the order to send."""

    plan: SwitchPlan
    handoffs: tuple[ContextHandoff, ...]


@frozen(kw_only=True)
class Summarised:
    """What a provider wrote of a basis, or why it wrote nothing that can be used; neither where none was asked."""

    written: Written | None = None
    basis: str | None = None
    fallback_reason: str | None = None


NOT_ASKED: Final = Summarised()


class Handoffs:
    """Makes handoffs and finds those that still say what a plan asks for."""

    def __init__(
        self, store: Store, planner: Planner, config: Callable[[], Config], stamp: Callable[[], Stamp]
    ) -> None:
        self._store = store
        self._planner = planner
        self._config = config
        self._stamp = stamp

    def make(
        self, state: ThreadState, decided: Decided, wish: Wish, summarised: Summarised = NOT_ASKED
    ) -> ContextHandoff | None:
        """Return a new handoff for a plan, None where the plan asks for none.

        Raises:
            MidstreamError: unsupported, where the provider takes no handoff; handoffOverBudget.
        """
        if decided.plan.strategy == "unsupported":
            raise unsupported(wish.selection, decided.plan)
        if decided.material is None:
            return None
        if summarised.written is not None and summarised.basis != basis_of(decided.material):
            summarised = Summarised(fallback_reason="The thread moved on while its summary was written.")
        written = summarised.written
        built = build(
            decided.material,
            budget_tokens=decided.budget,
            nonce=secrets.token_hex(8),
            secrets=_secrets_of(state),
            written=written,
        )
        by = Authorship(provider=written.provider if written else None, fallback_reason=summarised.fallback_reason)
        return draft(state, decided, decided.material, built, self._stamp(), wish, by)

    def edit(self, state: ThreadState, old: HandoffInfo, summary_text: str) -> ContextHandoff:
        """Return a handoff in the user's own words.

        Raises:
            MidstreamError: handoffOverBudget.
        """
        budget = max(old.tokens.budget, self._config().handoff.budget_tokens)
        built = build_edited(summary_text, budget_tokens=budget, nonce=secrets.token_hex(8), secrets=_secrets_of(state))
        return edited(old, built, self._stamp())

    async def merge_backs(
        self, state: ThreadState, plan: SwitchPlan, current: Run | None = None
    ) -> tuple[ContextHandoff, ...]:
        """Return what forks gave to this thread, in order: what a plan's conversation missed of it, and what waits."""
        again = [await self._again(state, plan, current, handoff) for handoff in untold(state, plan)]
        named = [one.resolution for one in waiting(state)]
        found = [await self._store.handoff(one.handoff_id) for one in named if isinstance(one, HandoffResolution)]
        return tuple(handoff for handoff in (*again, *found) if handoff is not None)

    async def _again(
        self, state: ThreadState, plan: SwitchPlan, current: Run | None, told: HandoffInfo
    ) -> ContextHandoff | None:
        """Return a merge-back's text for one more conversation: as a preview or an earlier try made it, or new."""
        waiting_ids = {one.id for one in waiting(state)}
        run_ids = (None, current.id if current else None)
        made = (
            one
            for one in state.handoffs.values()
            if unsent(one) and one.target_run_id in run_ids and one.transfer_id not in waiting_ids
        )
        same = next((one for one in made if fork_runs(one) == fork_runs(told)), None)
        stored = await self._store.handoff(told.id if same is None else same.id)
        if stored is None or same is not None:
            return stored
        stamp = self._stamp()
        return attrs.evolve(
            stored,
            id=stamp.new_id("hof"),
            thread_id=state.thread.id,
            transfer_id=None,
            target_run_id=None,
            to_provider_thread_id=plan.provider_thread_id,
            status="ready",
            delivery=None,
            created_at=stamp.now,
            updated_at=stamp.now,
        )

    async def kept(
        self, state: ThreadState, wish: Wish, named: Iterable[HandoffInfo], current: Run | None, *, stale: bool
    ) -> Catchup | None:
        """Return the catch-up by the first of some handoffs that can still be sent, or None where none can.

        One that the user edited may be `stale`: then a delta follows it for the runs that it does not cover.
        """
        for handoff in named:
            if not unsent(handoff) or tells_of_fork(handoff):
                continue
            choices = CHOICES if handoff.strategy == "manual_context" else (None, handoff.strategy)
            for decided in [decided async for decided in self._decisions(state, wish, current, choices)]:
                rest = self._rest(state, decided, wish, handoff, stale=stale)
                stored = await self._store.handoff(handoff.id) if rest is not None else None
                if rest is not None and stored is not None:
                    plan = attrs.evolve(decided.plan, strategy=handoff.strategy)
                    return Catchup(plan=plan, handoffs=(stored, *rest))
        return None

    async def _decisions(
        self, state: ThreadState, wish: Wish, current: Run | None, choices: tuple[HandoffStrategy | None, ...]
    ) -> AsyncIterator[Decided]:
        for strategy in choices:
            try:
                yield await self._planner.decide(state, attrs.evolve(wish, strategy=strategy), current)
            except MidstreamError as error:
                if error.kind not in ("invalidState", "handoffOverBudget"):
                    raise

    def _rest(
        self, state: ThreadState, decided: Decided, wish: Wish, handoff: HandoffInfo, *, stale: bool
    ) -> tuple[ContextHandoff, ...] | None:
        """Return what has to follow a handoff so that a plan is fulfilled; None where it does not serve the plan."""
        material, purpose = decided.material, handoff.made_for
        if material is None or purpose is None or purpose.selection.provider != wish.selection.provider:
            return None
        if purpose.basis == basis_of(material):
            return ()
        missed = missed_by(decided.plan, handoff)
        covers = set(handoff.run_ordinals) <= set(decided.plan.run_ordinals)
        if not (stale and covers and missed and handoff.strategy == "manual_context"):
            return None
        runs = tuple(run for run in material.runs if run.ordinal in missed)
        ids = {run.id for run in runs}
        rest = attrs.evolve(
            material,
            strategy="delta_since_target_last_seen",
            runs=runs,
            items=tuple(item for item in material.items if item.run_id in ids),
        )
        plan = attrs.evolve(
            decided.plan,
            strategy="delta_since_target_last_seen",
            run_ordinals=missed,
            covered_run_ordinals=RunRange(from_=missed[0], to=missed[-1]),
        )
        delta = self.make(state, Decided(plan=plan, material=rest, budget=decided.budget), wish)
        return () if delta is None else (delta,)


def missed_by(plan: SwitchPlan, handoff: HandoffInfo) -> tuple[int, ...]:
    """Return the runs that a plan tells of and a handoff does not."""
    return tuple(ordinal for ordinal in plan.run_ordinals if ordinal not in handoff.run_ordinals)


def unsupported(selection: ModelSelection, plan: SwitchPlan) -> MidstreamError:
    """Return the error of a provider that cannot be told what it must know."""
    return MidstreamError(
        "unsupported",
        f"{selection.provider} takes no handoff, so it cannot go on with this thread. Choose another provider.",
        capability="handoff",
        plan=plan,
    )


def _secrets_of(state: ThreadState) -> frozenset[str]:
    return environment_secrets() | workspace_secrets(workspace_path(state.thread.workspace))
