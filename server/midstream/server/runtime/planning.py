"""How the next provider catches up: the plan, from what is stored, and what its handoff is made from."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import attrs
from attrs import frozen

from midstream.protocol.base import ProviderKind, ProviderThreadId, Reason
from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.config import Config
from midstream.protocol.records.handoff import HandoffStrategy
from midstream.protocol.records.provider import ProviderThread
from midstream.protocol.records.run import Run, SwitchPlan
from midstream.protocol.records.thread import ModelSelection, NextContext
from midstream.server.graph.inheritance import known_handoffs, known_provider_threads, known_runs
from midstream.server.graph.state import ThreadState
from midstream.server.handoff.build import effective_budget, minimum_tokens
from midstream.server.handoff.material import Material
from midstream.server.handoff.strategy import History, Policy, Target, plan_switch
from midstream.server.providers.adapter import ThreadOptions
from midstream.server.providers.registry import Registry
from midstream.server.runtime.ingest import Ingest
from midstream.server.runtime.material import gather
from midstream.server.runtime.workspaces import workspace_path
from midstream.server.store import Store

StaleReasons: TypeAlias = Mapping[ProviderThreadId, tuple[Reason, ...]]
HANDED_OVER: Final[Mapping[str, HandoffStrategy]] = {
    "delta_since_target_last_seen": "delta_since_target_last_seen",
    "full_thread_summary": "full_thread_summary",
    "checkpoint_summary": "checkpoint_summary",
}
CANNOT_FORK: Final = Reason(code="resume_failed", message="The provider could not fork its conversation.")


@frozen(kw_only=True)
class Wish:
    """Who is to answer next and how they should catch up; None leaves a choice to the configuration and the plan.

    `cannot_fork` are the native conversations that the provider was asked to fork just now, and could not.
    """

    selection: ModelSelection
    context: NextContext
    strategy: HandoffStrategy | None = None
    budget_tokens: int | None = None
    summarizer: str | None = None
    cannot_fork: frozenset[ProviderThreadId] = frozenset()


@frozen(kw_only=True)
class Decided:
    """A plan, what its handoff is made from where it has one, and the tokens that it may take."""

    plan: SwitchPlan
    material: Material | None
    budget: int


def context_of(plan: SwitchPlan | None) -> NextContext:
    """Return the context that was asked for when a run was queued: its plan's reasons remember it."""
    asked_clean = plan is not None and any(reason.code == "clean_context" for reason in plan.reasons)
    return "clean" if asked_clean else "auto"


class Planner:
    """Plans switches."""

    def __init__(
        self,
        store: Store,
        ingest: Ingest,
        registry: Registry,
        config: Callable[[], Config],
        reader_offered: Callable[[], bool],
    ) -> None:
        self._store = store
        self._ingest = ingest
        self._registry = registry
        self._config = config
        self._reader_offered = reader_offered

    async def probe(self, selection: ModelSelection) -> None:
        """Ask a provider what it can do, which a plan needs to know.

        Raises:
            MidstreamError: providerUnknown, providerUnavailable, providerUnauthenticated.
        """
        await self._registry.usable(selection.provider)

    async def plan(self, state: ThreadState, wish: Wish, current: Run | None = None) -> SwitchPlan:
        """Decide how a provider catches up. Raises as `decide`."""
        return (await self.decide(state, wish, current)).plan

    async def decide(self, state: ThreadState, wish: Wish, current: Run | None = None) -> Decided:
        """Decide how a provider catches up, and gather what it has to be told; `current` is the run planned for.

        Raises:
            MidstreamError: providerUnknown, providerUnavailable, providerUnauthenticated; handoffOverBudget;
                invalidState, where the strategy wished for cannot be.
        """
        selection = wish.selection
        provider = await self._registry.usable(selection.provider)
        target = Target(
            provider=selection.provider,
            selection=selection,
            runtime_mode=state.thread.runtime_mode,
            capabilities=provider.capabilities,
        )
        budget = self.budget(wish.budget_tokens, provider.capabilities.handoff.context_window)
        over: dict[ProviderThreadId, tuple[Reason, ...]] = dict.fromkeys(wish.cannot_fork, (CANNOT_FORK,))
        needs: list[int] = []
        while True:
            plan = plan_switch(
                history_of(state),
                target,
                self._policy(),
                context=wish.context,
                current=current,
                incompatible=self._incompatible(state, selection),
                extra_stale=over,
                wanted=wish.strategy,
            )
            strategy = HANDED_OVER.get(plan.strategy)
            if strategy is None:
                return Decided(plan=plan, material=None, budget=budget)
            gathered = await self.gather(state, plan, strategy, selection.provider, current)
            readable = provider.capabilities.mcp_servers and self._reader_offered()
            material = attrs.evolve(gathered, readable=readable)
            needs.append(minimum_tokens(material))
            if needs[-1] <= budget:
                return Decided(plan=plan, material=material, budget=budget)
            if plan.provider_thread_id is None or wish.strategy is not None:
                raise _over_budget(min(needs), budget)
            message = f"What it missed does not fit {budget} tokens even when shortened."
            over[plan.provider_thread_id] = (Reason(code="over_budget", message=message),)

    async def gather(
        self,
        state: ThreadState,
        plan: SwitchPlan,
        strategy: HandoffStrategy,
        target: ProviderKind,
        current: Run | None = None,
    ) -> Material:
        """Gather what a plan has to tell, from facts that today's rules made."""
        for thread_id in (*(scope for scope, _ in state.inherited.scopes), state.thread.id):
            await self._ingest.refresh(thread_id)
        return await gather(self._store, state, plan, strategy, target, current)

    def budget(self, asked: int | None = None, window: int | None = None) -> int:
        """Return the tokens that a handoff may take, in a provider's context window where it is known."""
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
                (run for run in known_runs(state).values() if run.ordinal is not None),
                key=lambda run: run.ordinal or 0,
            )
        ),
        provider_threads=tuple(sorted(known_provider_threads(state).values(), key=_by_id)),
        handoffs=known_handoffs(state),
        transfers=tuple(transfer for transfer in state.transfers.values() if transfer.status == "pending"),
    )


def _by_id(known: ProviderThread) -> str:
    return known.id
