"""How the next provider catches up: the plan from what is stored, and the handoffs that it asks for."""

import secrets
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import attrs
from attrs import frozen

from midstream.protocol.base import ProviderThreadId, Reason
from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.config import Config
from midstream.protocol.records.handoff import ContextHandoff, HandoffStrategy
from midstream.protocol.records.provider import ProviderThread
from midstream.protocol.records.run import Run, SwitchPlan
from midstream.protocol.records.thread import ModelSelection, NextContext
from midstream.server.graph.changes import IdPrefix, Stamp
from midstream.server.graph.state import ThreadState
from midstream.server.handoff.build import build, effective_budget, minimum_tokens
from midstream.server.handoff.material import Material
from midstream.server.handoff.strategy import History, Policy, Target, plan_switch
from midstream.server.providers.adapter import ThreadOptions
from midstream.server.providers.registry import Registry
from midstream.server.runtime.clock import Clock, as_time
from midstream.server.runtime.drafting import draft, fits
from midstream.server.runtime.ingest import Ingest
from midstream.server.runtime.material import gather
from midstream.server.runtime.secret_values import environment_secrets, workspace_secrets
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


@frozen(kw_only=True)
class _Decided:
    """A plan, and what its handoff is made from where it has one."""

    plan: SwitchPlan
    material: Material | None
    budget: int


def context_of(plan: SwitchPlan | None) -> NextContext:
    """Return the context that was asked for when a run was queued: its plan's reasons remember it."""
    asked_clean = plan is not None and any(reason.code == "clean_context" for reason in plan.reasons)
    return "clean" if asked_clean else "auto"


class Planner:
    """Plans switches and makes handoffs."""

    def __init__(
        self,
        store: Store,
        ingest: Ingest,
        registry: Registry,
        config: Callable[[], Config],
        clock: Clock,
        new_id: Callable[[IdPrefix], str],
    ) -> None:
        self._store = store
        self._ingest = ingest
        self._registry = registry
        self._config = config
        self._clock = clock
        self._new_id = new_id

    async def probe(self, selection: ModelSelection) -> None:
        """Ask a provider what it can do, which a plan needs to know.

        Raises:
            MidstreamError: providerUnknown, providerUnavailable, providerUnauthenticated.
        """
        await self._registry.usable(selection.provider)

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
        return (await self._decide(state, selection, context, current, budget_tokens)).plan

    async def catch_up(
        self,
        state: ThreadState,
        selection: ModelSelection,
        *,
        context: NextContext,
        current: Run | None,
        strategy: HandoffStrategy | None = None,
        budget_tokens: int | None = None,
        summarizer: str | None = None,
        on_collecting: Callable[[], None] | None = None,
    ) -> Catchup:
        """Decide how a provider catches up, and have the handoff for it: the run's own where it fits, or a new one.

        Raises:
            MidstreamError: as `plan`; and unsupported, where the provider takes no handoff.
        """
        decided = await self._decide(state, selection, context, current, budget_tokens)
        plan, material = decided.plan, decided.material
        if plan.strategy == "unsupported":
            raise unsupported(selection, plan)
        if material is None:
            return Catchup(plan=plan, handoffs=())
        if strategy is not None:
            plan, material = attrs.evolve(plan, strategy=strategy), attrs.evolve(material, strategy=strategy)
        own = () if current is None else (state.handoffs[handoff_id] for handoff_id in current.handoff_ids)
        fitting = next((handoff for handoff in own if fits(handoff, plan)), None)
        if fitting is not None:
            stored = await self._store.handoff(fitting.id)
            return Catchup(plan=plan, handoffs=() if stored is None else (stored,))
        if on_collecting is not None:
            on_collecting()
        built = build(
            material,
            budget_tokens=decided.budget,
            nonce=secrets.token_hex(8),
            secrets=environment_secrets() | workspace_secrets(workspace_path(state.thread.workspace)),
        )
        wanted = summarizer or self._config().handoff.summarizer
        handoff = draft(state, plan, material, built, Stamp(as_time(self._clock()), self._new_id), wanted)
        return Catchup(plan=plan, handoffs=(handoff,))

    async def _decide(
        self,
        state: ThreadState,
        selection: ModelSelection,
        context: NextContext,
        current: Run | None,
        budget_tokens: int | None,
    ) -> _Decided:
        provider = await self._registry.usable(selection.provider)
        target = Target(
            provider=selection.provider,
            selection=selection,
            runtime_mode=state.thread.runtime_mode,
            capabilities=provider.capabilities,
        )
        budget = self._budget(budget_tokens, provider.capabilities.handoff.context_window)
        over: dict[ProviderThreadId, tuple[Reason, ...]] = {}
        needs: list[int] = []
        while True:
            plan = plan_switch(
                history_of(state),
                target,
                self._policy(),
                context=context,
                current=current,
                incompatible=self._incompatible(state, selection),
                extra_stale=over,
            )
            strategy = HANDED_OVER.get(plan.strategy)
            if strategy is None:
                return _Decided(plan=plan, material=None, budget=budget)
            await self._ingest.refresh(state.thread.id)
            material = await gather(self._store, state, plan, strategy, selection.provider, current)
            needs.append(minimum_tokens(material))
            if needs[-1] <= budget:
                return _Decided(plan=plan, material=material, budget=budget)
            if plan.provider_thread_id is None:
                raise _over_budget(min(needs), budget)
            message = f"What it missed does not fit {budget} tokens even when shortened."
            over[plan.provider_thread_id] = (Reason(code="over_budget", message=message),)

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


def unsupported(selection: ModelSelection, plan: SwitchPlan) -> MidstreamError:
    """Return the error of a provider that cannot be told what it must know."""
    return MidstreamError(
        "unsupported",
        f"{selection.provider} takes no handoff, so it cannot go on with this thread. Choose another provider.",
        capability="handoff",
        plan=plan,
    )


def _over_budget(needed: int, budget: int) -> MidstreamError:
    return MidstreamError(
        "handoffOverBudget",
        f"Even the smallest handoff takes {needed} tokens, and {budget} are allowed. "
        "Raise handoff.budget_tokens, or go on with a provider that knows this thread.",
        minimumTokens=needed,
        budgetTokens=budget,
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
