"""How the next provider catches up: the plan from what is stored, and the handoffs that it asks for."""

import secrets
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import attrs
from attrs import frozen

from midstream.protocol.base import ProviderThreadId, Reason
from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.config import Config
from midstream.protocol.records.handoff import (
    ContextHandoff,
    HandoffInfo,
    HandoffStrategy,
)
from midstream.protocol.records.provider import ProviderThread
from midstream.protocol.records.run import Run, SwitchPlan
from midstream.protocol.records.thread import ModelSelection, NextContext
from midstream.server.graph.changes import IdPrefix
from midstream.server.graph.state import ThreadState
from midstream.server.handoff.build import build, effective_budget, minimum_tokens
from midstream.server.handoff.strategy import History, Policy, Target, plan_switch
from midstream.server.providers.adapter import ThreadOptions
from midstream.server.providers.registry import Registry
from midstream.server.runtime.clock import Clock, as_time
from midstream.server.runtime.material import gather
from midstream.server.runtime.workspaces import workspace_path
from midstream.server.store import Store

StaleReasons: TypeAlias = Mapping[ProviderThreadId, tuple[Reason, ...]]
HANDED_OVER: Final[Mapping[str, HandoffStrategy]] = {
    "delta_since_target_last_seen": "delta_since_target_last_seen",
    "full_thread_summary": "full_thread_summary",
    "checkpoint_summary": "checkpoint_summary",
    "manual_context": "manual_context",
}


@frozen(kw_only=True)
class Catchup:
    """A plan and all handoffs that go with it, in the order to send."""

    plan: SwitchPlan
    handoffs: tuple[ContextHandoff, ...]


def context_of(plan: SwitchPlan | None) -> NextContext:
    """Return the context that was asked for when a run was queued: its plan's reasons remember it."""
    asked_clean = plan is not None and any(reason.code == "clean_context" for reason in plan.reasons)
    return "clean" if asked_clean else "auto"


class Planner:
    """Plans switches and makes handoffs."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        config: Callable[[], Config],
        clock: Clock,
        new_id: Callable[[IdPrefix], str],
    ) -> None:
        self._store = store
        self._registry = registry
        self._config = config
        self._clock = clock
        self._new_id = new_id

    async def plan(
        self,
        state: ThreadState,
        selection: ModelSelection,
        *,
        context: NextContext,
        current: Run | None = None,
        budget_tokens: int | None = None,
    ) -> SwitchPlan:
        """Decide how a provider catches up.

        Raises:
            MidstreamError: providerUnknown, providerUnavailable, providerUnauthenticated; handoffOverBudget.
        """
        provider = await self._registry.usable(selection.provider)
        target = Target(
            provider=selection.provider,
            selection=selection,
            runtime_mode=state.thread.runtime_mode,
            capabilities=provider.capabilities,
        )
        history = history_of(state)
        budget = self._budget(budget_tokens, provider.capabilities.handoff.context_window)
        incompatible = self._incompatible(state, selection)
        over: dict[ProviderThreadId, tuple[Reason, ...]] = {}
        while True:
            plan = plan_switch(
                history,
                target,
                self._policy(),
                context=context,
                current=current,
                incompatible=incompatible,
                extra_stale=over,
            )
            if plan.strategy not in HANDED_OVER:
                return plan
            material = await gather(self._store, state, plan, HANDED_OVER[plan.strategy], selection.provider, current)
            needed = minimum_tokens(material)
            if needed <= budget:
                return plan
            if plan.provider_thread_id is None:
                raise MidstreamError(
                    "handoffOverBudget",
                    f"Even the smallest handoff takes {needed} tokens, and {budget} are allowed. "
                    "Raise handoff.budget_tokens, or shorten the goals by a new thread.",
                    minimumTokens=needed,
                    budgetTokens=budget,
                )
            over[plan.provider_thread_id] = (
                Reason(code="over_budget", message=f"What it missed does not fit {budget} tokens even when shortened."),
            )

    async def catch_up(
        self,
        state: ThreadState,
        selection: ModelSelection,
        *,
        context: NextContext,
        current: Run | None,
        named: tuple[HandoffInfo, ...] = (),
        strategy: HandoffStrategy | None = None,
        budget_tokens: int | None = None,
        summarizer: str | None = None,
        on_collecting: Callable[[], None] | None = None,
    ) -> Catchup:
        """Decide how a provider catches up, and have the handoffs for it: named ones where they fit, or new ones.

        Raises:
            MidstreamError: as `plan`; and unsupported, where the provider takes no handoff.
        """
        plan = await self.plan(state, selection, context=context, current=current, budget_tokens=budget_tokens)
        if plan.strategy == "unsupported":
            raise unsupported(selection, plan)
        if strategy is not None and plan.strategy in HANDED_OVER:
            plan = attrs.evolve(plan, strategy=strategy)
        if plan.strategy not in HANDED_OVER:
            return Catchup(plan=plan, handoffs=())
        if current is not None:
            named = tuple(state.handoffs[handoff_id] for handoff_id in current.handoff_ids)
        fitting = [handoff for handoff in named if fits(handoff, plan)]
        if fitting and strategy is None:
            stored = [await self._store.handoff(handoff.id) for handoff in fitting[:1]]
            return Catchup(plan=plan, handoffs=tuple(handoff for handoff in stored if handoff is not None))
        if on_collecting is not None:
            on_collecting()
        handoff = await self._make(state, plan, selection, current, budget_tokens, summarizer)
        return Catchup(plan=plan, handoffs=(handoff,))

    async def _make(
        self,
        state: ThreadState,
        plan: SwitchPlan,
        selection: ModelSelection,
        current: Run | None,
        budget_tokens: int | None,
        summarizer: str | None,
    ) -> ContextHandoff:
        provider = await self._registry.usable(selection.provider)
        budget = self._budget(budget_tokens, provider.capabilities.handoff.context_window)
        material = await gather(self._store, state, plan, HANDED_OVER[plan.strategy], selection.provider, current)
        built = build(material, budget_tokens=budget, nonce=secrets.token_hex(8))
        now = as_time(self._clock())
        wanted = summarizer or self._config().handoff.summarizer
        covered = set(plan.run_ordinals)
        sources = {
            run.provider_thread_id: None
            for run in state.runs.values()
            if run.ordinal in covered and run.provider_thread_id != plan.provider_thread_id
        }
        return ContextHandoff(
            id=self._new_id("hof"),
            transfer_id=None,
            thread_id=state.thread.id,
            target_run_id=None,
            from_provider_thread_ids=tuple(source for source in sources if source is not None),
            to_provider_thread_id=plan.provider_thread_id,
            covered_thread_id=plan.covered_thread_id,
            covered_run_ordinals=plan.covered_run_ordinals,
            run_ordinals=plan.run_ordinals,
            strategy=HANDED_OVER[plan.strategy],
            tokens=built.tokens,
            redactions=built.redactions,
            status="ready",
            superseded_by=None,
            created_by="deterministic",
            created_by_provider=None,
            fallback_reason=None
            if wanted == "deterministic"
            else f"No provider can summarise yet, so {wanted} was not asked.",
            delivery=None,
            created_at=now,
            updated_at=now,
            summary_text=built.summary_text,
            sent_text=built.sent_text,
            sections=built.sections,
        )

    def _budget(self, asked: int | None, window: int | None) -> int:
        return effective_budget(asked or self._config().handoff.budget_tokens, window, None)

    def _policy(self) -> Policy:
        config = self._config().handoff
        return Policy(
            budget_tokens=config.budget_tokens,
            max_missed_runs=config.max_missed_runs,
            max_handoffs=config.max_handoffs,
            max_delta_chain=config.max_delta_chain,
        )

    def _incompatible(self, state: ThreadState, selection: ModelSelection) -> dict[ProviderThreadId, Reason]:
        driver = self._registry.driver(selection.provider)
        now = _options(state, selection)
        found: dict[ProviderThreadId, Reason] = {}
        for known in state.provider_threads.values():
            if known.provider == selection.provider and known.selection is not None:
                before = attrs.evolve(
                    _options(state, known.selection), runtime_mode=known.runtime_mode or now.runtime_mode
                )
                reason = driver.incompatible(before, now)
                if reason is not None:
                    found[known.id] = reason
        return found


def _options(state: ThreadState, selection: ModelSelection) -> ThreadOptions:
    return ThreadOptions(
        workspace=workspace_path(state.thread.workspace),
        model=selection.model,
        options=selection.options,
        runtime_mode=state.thread.runtime_mode,
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


def unsupported(selection: ModelSelection, plan: SwitchPlan) -> MidstreamError:
    """Return the error of a provider that cannot be told what it must know."""
    return MidstreamError(
        "unsupported",
        f"{selection.provider} takes no handoff, so it cannot go on with this thread. Choose another provider.",
        capability="handoff",
        plan=plan,
    )


def history_of(state: ThreadState) -> History:
    """Return what strategy is decided from."""
    return History(
        thread=state.thread,
        runs=tuple(
            sorted(
                (run for run in state.runs.values() if run.ordinal is not None),
                key=lambda run: run.ordinal or 0,
            )
        ),
        provider_threads=tuple(sorted(state.provider_threads.values(), key=_by_id)),
        handoffs=state.handoffs,
        transfers=tuple(transfer for transfer in state.transfers.values() if transfer.status == "pending"),
    )


def _by_id(known: ProviderThread) -> str:
    return known.id
