"""How the next provider catches up: each strategy, each reason, and what counts as covered."""

from typing import Any

import pytest

from midstream.protocol.base import RunRange
from midstream.protocol.records.run import SwitchPlan
from midstream.protocol.records.thread import SourcePoint
from midstream.server.handoff.coverage import coverage
from midstream.server.handoff.strategy import History, Policy, Target, plan_switch
from support.records import (
    capabilities,
    delivery,
    handoff,
    provider_thread,
    reason,
    run,
    selection,
    thread,
    transfer,
)

POLICY = Policy(budget_tokens=16_000)


def plan(
    *,
    runs: int | tuple[Any, ...] = 0,
    known: tuple[Any, ...] = (),
    handoffs: tuple[Any, ...] = (),
    transfers: tuple[Any, ...] = (),
    to: str = "codex",
    able: dict[str, Any] | None = None,
    policy: Policy = POLICY,
    **signals: Any,
) -> SwitchPlan:
    history = History(
        thread=thread(),
        runs=tuple(run(ordinal) for ordinal in range(1, runs + 1)) if isinstance(runs, int) else runs,
        provider_threads=known,
        handoffs={each.id: each for each in handoffs},
        transfers=transfers,
    )
    target = Target(
        provider=to,
        selection=selection(to),
        runtime_mode="approvalRequired",
        capabilities=capabilities(**able or {}),
    )
    return plan_switch(history, target, policy, **signals)


def codes(made: SwitchPlan) -> list[str]:
    assert all(each.message for each in made.reasons)
    return [each.code for each in made.reasons]


def test_the_first_run_of_a_thread_is_told_nothing() -> None:
    made = plan()
    assert (made.strategy, made.provider_thread_id, codes(made)) == ("none", None, ["first_use"])
    assert (made.channel, made.run_ordinals, made.covered_run_ordinals) == (None, (), None)


def test_a_provider_that_lived_every_run_is_told_nothing() -> None:
    made = plan(runs=3, known=(provider_thread(native=(1, 2, 3)),))
    assert (made.strategy, made.provider_thread_id, codes(made)) == ("none", "pth_codex", ["already_covered"])


def test_a_subagents_conversation_is_never_gone_on_with() -> None:
    helper = provider_thread(
        native=(), id="pth_helper", subagent_item_id="itm_7", stale_reasons=(reason("resume_failed"),)
    )
    made = plan(runs=3, known=(provider_thread(native=(1, 2, 3)), helper))
    assert (made.strategy, made.provider_thread_id) == ("none", "pth_codex")
    alone = plan(runs=3, known=(helper,))
    assert (alone.strategy, alone.provider_thread_id) == ("full_thread_summary", None)
    assert codes(alone) == ["first_use", "missed_runs"]


def test_a_provider_new_to_the_thread_is_told_all_of_it_in_a_new_conversation() -> None:
    made = plan(runs=5, known=(provider_thread(native=(1, 2, 3, 4, 5)),), to="claude")
    assert (made.strategy, made.provider_thread_id) == ("full_thread_summary", None)
    assert made.run_ordinals == (1, 2, 3, 4, 5)
    assert made.covered_run_ordinals == RunRange(from_=1, to=5)
    assert (made.covered_thread_id, made.channel) == ("thr_1", "separateBlock")
    assert codes(made) == ["first_use", "missed_runs"]


def test_a_provider_that_comes_back_is_told_what_it_missed() -> None:
    h1 = handoff("hof_1", (1, 2, 3, 4, 5), strategy="full_thread_summary")
    made = plan(
        runs=8,
        known=(
            provider_thread(native=(1, 2, 3, 4, 5), status="not_loaded"),
            provider_thread("claude", (6, 7, 8), handoff_ids=("hof_1",)),
        ),
        handoffs=(h1,),
    )
    assert (made.strategy, made.provider_thread_id) == ("delta_since_target_last_seen", "pth_codex")
    assert (made.run_ordinals, codes(made)) == ((6, 7, 8), ["missed_runs"])
    assert "6-8" in made.reasons[0].message


def test_runs_that_are_rolled_back_cancelled_or_queued_are_not_told() -> None:
    runs = (run(1), run(2, status="rolled_back"), run(3), run(4, status="cancelled"), run(None, status="queued"))
    made = plan(runs=runs, to="claude")
    assert made.run_ordinals == (1, 3)
    assert made.covered_run_ordinals == RunRange(from_=1, to=3)


@pytest.mark.parametrize("status", ["failed", "interrupted"])
def test_runs_that_ended_badly_are_told_even_if_no_provider_took_them(status: str) -> None:
    made = plan(runs=(run(1), run(2, status=status)), known=(provider_thread(native=(1,)),))
    assert (made.strategy, made.run_ordinals) == ("delta_since_target_last_seen", (2,))


def test_a_handoff_counts_as_covered_only_once_it_is_delivered() -> None:
    known = provider_thread(native=(1,), handoff_ids=("hof_1", "hof_2"))
    handoffs = {
        "hof_1": handoff("hof_1", (2, 3)),
        "hof_2": handoff("hof_2", (4,), delivery=delivery("pending")),
    }
    assert coverage(known, handoffs) == {1, 2, 3}


def test_the_ordinals_of_a_merge_back_are_those_of_the_fork_and_cover_nothing_here() -> None:
    known = provider_thread(native=(1,), handoff_ids=("hof_1",))
    assert coverage(known, {"hof_1": handoff("hof_1", (2, 3), covered_thread_id="thr_fork")}) == {1}


def test_a_native_fork_keeps_what_its_source_was_told() -> None:
    known = provider_thread(native=(1,), thread_id="thr_fork", handoff_ids=("hof_1",))
    assert coverage(known, {"hof_1": handoff("hof_1", (2,))}) == {1, 2}


def test_missing_items_are_told_without_any_switch() -> None:
    made = plan(runs=2, known=(provider_thread(native=(1, 2), missing_item_ids=("itm_9",)),))
    assert (made.strategy, made.provider_thread_id) == ("delta_since_target_last_seen", "pth_codex")
    assert (made.run_ordinals, made.covered_run_ordinals, codes(made)) == ((), None, ["missing_items"])


def test_after_a_compaction_the_constraints_are_repeated() -> None:
    known = provider_thread(native=(1, 2), compacted=True)
    made = plan(runs=2, known=(known,))
    assert (made.strategy, codes(made)) == ("delta_since_target_last_seen", ["missing_items"])
    assert plan(runs=2, known=(known,), able={"channel": None}).strategy == "none"


def chain(count: int, *, full_at: int | None = None) -> tuple[Any, ...]:
    return tuple(
        handoff(
            f"hof_{index}",
            (2 * index,),
            strategy="full_thread_summary" if index == full_at else "delta_since_target_last_seen",
        )
        for index in range(1, count + 1)
    )


def test_too_long_a_chain_of_deltas_is_replaced_by_a_full_summary_into_the_same_conversation() -> None:
    handoffs = chain(4)
    known = provider_thread(native=(1, 3, 5, 7, 9), handoff_ids=tuple(each.id for each in handoffs))
    made = plan(runs=10, known=(known,), handoffs=handoffs)
    assert (made.strategy, made.provider_thread_id) == ("full_thread_summary", "pth_codex")
    assert made.run_ordinals == (2, 4, 6, 8, 10)
    assert codes(made) == ["missed_runs", "delta_chain_too_long"]


def test_a_full_summary_begins_the_chain_anew() -> None:
    handoffs = chain(4, full_at=2)
    known = provider_thread(native=(1, 3, 5, 7, 9), handoff_ids=tuple(each.id for each in handoffs))
    assert plan(runs=10, known=(known,), handoffs=handoffs).strategy == "delta_since_target_last_seen"


def test_a_chain_at_its_limit_is_not_too_long() -> None:
    handoffs = chain(3)
    known = provider_thread(native=(1, 3, 5, 7), handoff_ids=tuple(each.id for each in handoffs))
    assert plan(runs=8, known=(known,), handoffs=handoffs).strategy == "delta_since_target_last_seen"


STALE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "divergent": ({"status": "divergent"}, {}),
    "resume_failed": ({"status": "not_loaded"}, {"able": {"resume": False}}),
    "delivery_uncertain": ({"stale_reasons": (reason("delivery_uncertain"),)}, {}),
    "incompatible_settings": ({}, {"incompatible": {"pth_codex": reason("incompatible_settings")}}),
    "over_budget": ({}, {"extra_stale": {"pth_codex": (reason("over_budget"),)}}),
    "clean_context": ({}, {"context": "clean"}),
}


@pytest.mark.parametrize("code", STALE)
def test_a_stale_conversation_is_replaced_even_if_it_missed_nothing(code: str) -> None:
    fields, arguments = STALE[code]
    made = plan(runs=2, known=(provider_thread(native=(1, 2), **fields),), **arguments)
    assert (made.strategy, made.provider_thread_id) == ("full_thread_summary", None)
    assert (made.run_ordinals, codes(made)) == ((1, 2), [code])


def test_an_error_of_the_conversation_counts_as_a_failed_resume() -> None:
    assert codes(plan(runs=1, known=(provider_thread(native=(1,), status="error"),))) == ["resume_failed"]


def test_more_missed_runs_than_allowed_make_a_conversation_stale() -> None:
    known = (provider_thread(native=(1,)),)
    assert plan(runs=21, known=known).strategy == "delta_since_target_last_seen"
    made = plan(runs=22, known=known)
    assert (made.strategy, made.provider_thread_id, codes(made)) == (
        "full_thread_summary",
        None,
        ["too_many_missed_runs"],
    )


def test_more_handoffs_than_allowed_make_a_conversation_stale_once_it_misses_something() -> None:
    known = provider_thread(native=(1,), handoff_ids=tuple(f"hof_{index}" for index in range(7)))
    made = plan(runs=2, known=(known,))
    assert (made.provider_thread_id, codes(made)) == (None, ["too_many_handoffs"])
    assert plan(runs=1, known=(known,)).strategy == "none"


def test_a_delta_over_the_budget_makes_a_conversation_stale() -> None:
    asked: list[tuple[int, ...]] = []

    def delta_tokens(ordinals: tuple[int, ...]) -> int:
        asked.append(ordinals)
        return 16_001

    made = plan(runs=3, known=(provider_thread(native=(1,)),), delta_tokens=delta_tokens)
    assert (made.provider_thread_id, codes(made), asked) == (None, ["over_budget"], [(2, 3)])


def test_the_most_recent_conversation_that_is_not_stale_is_gone_on_with() -> None:
    old = provider_thread(native=(1,), id="pth_a")
    recent = provider_thread(native=(1, 2), id="pth_b", status="not_loaded")
    broken = provider_thread(native=(1, 2, 3), id="pth_c", status="divergent")
    made = plan(runs=3, known=(old, recent, broken))
    assert (made.provider_thread_id, codes(made)) == ("pth_b", ["missed_runs"])


def test_of_two_equally_recent_conversations_the_loaded_one_is_gone_on_with() -> None:
    loaded = provider_thread(native=(1,), id="pth_a", status="idle")
    other = provider_thread(native=(1,), id="pth_b", status="not_loaded")
    assert plan(runs=1, known=(loaded, other)).provider_thread_id == "pth_a"


def test_a_conversation_that_never_took_a_turn_is_not_gone_on_with() -> None:
    made = plan(runs=1, known=(provider_thread("claude", stale_reasons=(reason("delivery_uncertain"),)),), to="claude")
    assert (made.strategy, made.provider_thread_id, codes(made)) == (
        "full_thread_summary",
        None,
        ["delivery_uncertain"],
    )


def test_a_loaded_conversation_goes_on_without_the_capability_to_resume() -> None:
    made = plan(runs=2, known=(provider_thread(native=(1,), status="idle"),), able={"resume": False})
    assert (made.strategy, made.provider_thread_id) == ("delta_since_target_last_seen", "pth_codex")


@pytest.mark.parametrize("able", [{"channel": None}, {"delta": False, "full": False}])
def test_a_provider_that_takes_no_handoff_is_unsupported_once_there_is_something_to_tell(able: dict[str, Any]) -> None:
    known = (provider_thread(native=(1, 2)),)
    assert plan(runs=2, known=known, able=able).strategy == "none"
    assert plan(able=able).strategy == "none"
    for made in (plan(runs=3, known=known, able=able), plan(runs=2, to="claude", able=able)):
        assert (made.strategy, made.channel, made.run_ordinals) == ("unsupported", None, ())
        assert codes(made)[-1] == "no_handoff_capability"


def test_a_provider_that_takes_no_delta_is_told_everything_in_a_new_conversation() -> None:
    made = plan(runs=2, known=(provider_thread(native=(1,)),), able={"delta": False})
    assert (made.strategy, made.provider_thread_id, codes(made)) == (
        "full_thread_summary",
        None,
        ["no_handoff_capability"],
    )


def test_a_retry_elsewhere_is_told_what_the_accepted_attempt_did() -> None:
    retried = run(2, status="failed")
    known = (provider_thread(native=(1, 2)),)
    assert plan(runs=(run(1), retried), known=known, to="claude", current=retried).run_ordinals == (1, 2)


def test_a_retry_is_not_told_of_an_attempt_that_was_never_accepted() -> None:
    retried = run(2, status="failed")
    made = plan(runs=(run(1), retried), known=(provider_thread(native=(1,)),), to="claude", current=retried)
    assert made.run_ordinals == (1,)


def test_a_retry_on_the_same_conversation_is_told_nothing() -> None:
    retried = run(2, status="failed")
    made = plan(runs=(run(1), retried), known=(provider_thread(native=(1, 2)),), current=retried)
    assert made.strategy == "none"


def test_a_moved_workspace_is_a_reason_of_the_next_handoff() -> None:
    known = (provider_thread(native=(1,)),)
    assert codes(plan(runs=2, known=known, workspace_moved=True)) == ["missed_runs", "workspace_moved"]
    assert codes(plan(runs=1, known=known, workspace_moved=True)) == ["already_covered"]


def test_a_clean_context_is_remembered_even_where_nothing_can_be_told_yet() -> None:
    assert codes(plan(context="clean")) == ["first_use", "clean_context"]


def fork(**point: Any) -> Any:
    fields = {"provider_thread_id": "pth_source", "native_thread_ref": "native-codex"} | point
    return transfer("trf_f", "fork", source_point=SourcePoint(thread_id="thr_0", **fields))


SOURCE = provider_thread(native=(1, 2), id="pth_source", thread_id="thr_0")


WENT_ON = provider_thread(native=(1, 2, 3), id="pth_source", thread_id="thr_0")
INHERITED = (run(1, thread_id="thr_0"), run(2, thread_id="thr_0"))


def test_a_pending_fork_is_made_by_a_provider_that_can() -> None:
    made = plan(runs=INHERITED, known=(SOURCE,), transfers=(fork(),))
    assert (made.strategy, made.provider_thread_id, made.transfer_ids) == ("native_fork", None, ("trf_f",))
    assert (made.channel, made.run_ordinals, codes(made)) == (None, (), ["native_fork"])


def test_a_provider_that_forks_only_at_the_head_does_so_while_its_conversation_did_not_go_on() -> None:
    made = plan(runs=INHERITED, known=(SOURCE,), transfers=(fork(native_turn_ref="t1"),), able={"fork_at_turn": False})
    assert made.strategy == "native_fork"


@pytest.mark.parametrize(
    ("known", "point", "arguments"),
    [
        pytest.param(SOURCE, {}, {"to": "claude"}, id="another provider"),
        pytest.param(SOURCE, {}, {"able": {"fork": False}}, id="no capability"),
        pytest.param(SOURCE, {}, {"able": {"native_ids": "weak"}}, id="weak references"),
        pytest.param(SOURCE, {"native_thread_ref": None}, {}, id="no native reference"),
        pytest.param(WENT_ON, {"native_turn_ref": "t1"}, {"able": {"fork_at_turn": False}}, id="not at a turn"),
        pytest.param(SOURCE, {}, {"extra_stale": {"pth_source": (reason("resume_failed"),)}}, id="the fork failed"),
        pytest.param(SOURCE, {}, {"context": "clean"}, id="a clean context"),
        pytest.param(provider_thread(native=(1,), id="pth_source", thread_id="thr_0"), {}, {}, id="not all lived"),
    ],
)
def test_any_other_pending_fork_is_told(known: Any, point: dict[str, Any], arguments: dict[str, Any]) -> None:
    made = plan(runs=INHERITED, known=(known,), transfers=(fork(**point),), **arguments)
    assert (made.strategy, made.transfer_ids, made.run_ordinals) == ("full_thread_summary", ("trf_f",), (1, 2))
    assert codes(made)[0] == "portable_fork"


def test_a_fork_that_has_a_run_of_its_own_is_not_made_from_a_source_that_went_on_to_the_same_number() -> None:
    runs = (*INHERITED, run(3, status="interrupted"))
    made = plan(runs=runs, known=(WENT_ON,), transfers=(fork(native_turn_ref="t1"),))
    assert (made.strategy, made.run_ordinals) == ("full_thread_summary", (1, 2, 3))


def test_the_conversation_of_another_thread_is_never_gone_on_with() -> None:
    assert plan(runs=2, known=(SOURCE,)).provider_thread_id is None


def test_merge_backs_are_told_oldest_first_beside_the_own_strategy() -> None:
    merge_backs = (
        transfer("trf_b", "merge_back", created_at="2026-12-01T17:00:00.000Z"),
        transfer("trf_a", "merge_back", created_at="2026-12-01T18:00:00.000Z"),
        transfer("trf_c", "merge_back", status="consumed"),
        transfer("trf_d", "merge_back", target_thread_id="thr_other"),
    )
    made = plan(runs=1, known=(provider_thread(native=(1,)),), transfers=merge_backs)
    assert (made.strategy, made.transfer_ids, made.channel) == ("none", ("trf_b", "trf_a"), "separateBlock")
    assert codes(made) == ["already_covered", "merge_back"]
    assert made.reasons[-1].message == "2 forks, merged back, are told of as well."


def test_a_merge_back_into_a_provider_that_takes_no_handoff_is_unsupported() -> None:
    made = plan(
        runs=1,
        known=(provider_thread(native=(1,)),),
        transfers=(transfer("trf_a", "merge_back"),),
        able={"channel": None},
    )
    assert (made.strategy, made.transfer_ids, codes(made)[-1]) == ("unsupported", (), "no_handoff_capability")
