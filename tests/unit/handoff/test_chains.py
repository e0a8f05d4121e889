"""Switching to and fro: whatever the order, each provider knows everything, and nothing twice."""

from typing import Any

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from midstream.protocol.records.handoff import HandoffInfo
from midstream.protocol.records.item import AgentMessageItem, UserMessageItem
from midstream.protocol.records.provider import ProviderThread
from midstream.protocol.records.run import Run, SwitchPlan
from midstream.server.handoff.build import build
from midstream.server.handoff.history import History, Policy, Target
from midstream.server.handoff.strategy import plan_switch
from support.materials import material
from support.records import capabilities, handoff, item, provider_thread, run, selection, thread

NONCE = "0123456789abcdef"


class Daemon:
    """The runtime's part of a switch, on records alone: plan, build, deliver, run."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.items: list[Any] = []
        self.known: dict[str, ProviderThread] = {}
        self.handoffs: dict[str, HandoffInfo] = {}
        self.received: dict[str, list[str]] = {}
        """Every item by native conversation, as often as it came, since the last full summary where handed over."""

    def turn(self, provider: str) -> SwitchPlan:
        ordinal = len(self.runs) + 1
        plan = plan_switch(
            History(
                thread=thread(),
                runs=tuple(self.runs),
                provider_threads=tuple(self.known.values()),
                handoffs=self.handoffs,
            ),
            Target(
                provider=provider,
                selection=selection(provider),
                runtime_mode="approvalRequired",
                capabilities=capabilities(),
            ),
            Policy(budget_tokens=10**6),
        )
        known = self.known.get(plan.provider_thread_id or "") or provider_thread(provider, id=f"pth_{len(self.known)}")
        told = self._hand_over(plan, known)
        self._answer(ordinal, provider, known, told)
        return plan

    def _hand_over(self, plan: SwitchPlan, known: ProviderThread) -> tuple[str, ...]:
        if plan.channel is None:
            return ()
        items = [each for each in self.items if int(each.run_id.removeprefix("run_")) in plan.run_ordinals]
        built = build(
            material(
                *items,
                strategy=plan.strategy,
                runs=tuple(each for each in self.runs if each.ordinal in plan.run_ordinals),
                standing=tuple(each for each in self.items if isinstance(each, UserMessageItem)),
            ),
            budget_tokens=10**6,
            nonce=NONCE,
        )
        made = handoff(f"hof_{len(self.handoffs)}", plan.run_ordinals, strategy=plan.strategy)
        self.handoffs[made.id] = made
        received = self.received.setdefault(known.id, [])
        if plan.strategy == "full_thread_summary":
            received[:] = [each for each in received if self._lived(each, known)]
        received.extend(sorted(built.item_ids))
        return (made.id,)

    def _lived(self, item_id: str, known: ProviderThread) -> bool:
        ordinal = next(int(each.run_id.removeprefix("run_")) for each in self.items if each.id == item_id)
        return ordinal in known.native_run_ordinals

    def _answer(self, ordinal: int, provider: str, known: ProviderThread, told: tuple[str, ...]) -> None:
        first = len(self.items) + 1
        new = [
            item(UserMessageItem, first, ordinal, text=f"Request {ordinal}. Never do {ordinal}."),
            item(AgentMessageItem, first + 1, ordinal, text=f"Answer {ordinal}."),
        ]
        self.items.extend(new)
        self.received.setdefault(known.id, []).extend(each.id for each in new)
        self.runs.append(run(ordinal, provider))
        self.known[known.id] = attrs.evolve(
            known,
            native_run_ordinals=(*known.native_run_ordinals, ordinal),
            last_run_ordinal=ordinal,
            handoff_ids=(*known.handoff_ids, *told),
        )


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["codex", "claude", "gemini"]), min_size=1, max_size=30))
def test_after_every_run_its_provider_knows_each_item_exactly_once(providers: list[str]) -> None:
    daemon = Daemon()
    for provider in providers:
        daemon.turn(provider)
        answering = max(daemon.known.values(), key=lambda known: known.last_run_ordinal or 0)
        assert sorted(daemon.received[answering.id]) == sorted(each.id for each in daemon.items)


def test_the_founding_example_holds() -> None:
    daemon = Daemon()
    plans = [daemon.turn(provider) for provider in ["codex"] * 5 + ["claude"] * 3 + ["codex"]]
    assert [plan.strategy for plan in plans] == [
        *("none",) * 5,
        "full_thread_summary",
        *("none",) * 2,
        "delta_since_target_last_seen",
    ]
    codex, claude = daemon.known.values()
    assert (codex.native_run_ordinals, codex.handoff_ids) == ((1, 2, 3, 4, 5, 9), ("hof_1",))
    assert (claude.native_run_ordinals, claude.handoff_ids) == ((6, 7, 8), ("hof_0",))
    assert daemon.handoffs["hof_0"].run_ordinals == (1, 2, 3, 4, 5)
    assert daemon.handoffs["hof_1"].run_ordinals == (6, 7, 8)


def test_going_to_and_fro_meets_every_strategy() -> None:
    daemon = Daemon()
    strategies = [daemon.turn(provider).strategy for provider in ["codex", "claude"] * 10]
    assert set(strategies) == {"none", "delta_since_target_last_seen", "full_thread_summary"}
    assert len(daemon.known) > 2
