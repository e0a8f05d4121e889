"""Why a native conversation should not be gone on with; each reason is told to the user."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from attrs import frozen

from midstream.protocol.base import ProviderThreadId, Reason
from midstream.protocol.records.provider import ProviderThread
from midstream.protocol.records.thread import NextContext
from midstream.server.handoff.coverage import taken
from midstream.server.handoff.history import History, Policy, Target, loaded

CLEAN_CONTEXT = Reason(code="clean_context", message="You asked for a clean context.")


@frozen(kw_only=True)
class Signals:
    """What is known beside the records: what drivers declare, what failed just now, what the user asked for.

    `delta_tokens` returns the tokens of the smallest delta over some run ordinals.
    """

    context: NextContext
    incompatible: Mapping[ProviderThreadId, Reason]
    extra_stale: Mapping[ProviderThreadId, tuple[Reason, ...]]
    delta_tokens: Callable[[tuple[int, ...]], int] | None


def unusable(known: ProviderThread, target: Target, signals: Signals) -> tuple[Reason, ...]:
    """Return why a conversation cannot be gone on with at all, even where it has missed nothing."""
    return distinct(_unusable(known, target, signals))


def _unusable(known: ProviderThread, target: Target, signals: Signals) -> Iterator[Reason]:
    if signals.context == "clean":
        yield CLEAN_CONTEXT
    yield from known.stale_reasons
    yield from signals.extra_stale.get(known.id, ())
    if known.id in signals.incompatible:
        yield signals.incompatible[known.id]
    if known.status == "divergent":
        message = f"What {known.provider} remembers is no longer what this thread says happened."
        yield Reason(code="divergent", message=message)
    if known.status == "error":
        yield Reason(code="resume_failed", message=f"The earlier conversation with {known.provider} broke off.")
    if not target.capabilities.resume and not loaded(known):
        yield Reason(code="resume_failed", message=f"{known.provider} cannot resume an earlier conversation.")


def outdated(known: ProviderThread, missed: tuple[int, ...], policy: Policy, signals: Signals) -> tuple[Reason, ...]:
    """Return why a conversation that has to be told of something is better replaced than told."""
    return tuple(_outdated(known, missed, policy, signals))


def _outdated(known: ProviderThread, missed: tuple[int, ...], policy: Policy, signals: Signals) -> Iterator[Reason]:
    if len(missed) > policy.max_missed_runs:
        message = f"{known.provider} missed {len(missed)} runs; up to {policy.max_missed_runs} are caught up on."
        yield Reason(code="too_many_missed_runs", message=message)
    if len(known.handoff_ids) > policy.max_handoffs:
        message = (
            f"The conversation with {known.provider} took {len(known.handoff_ids)} handoffs already; "
            f"up to {policy.max_handoffs} are given."
        )
        yield Reason(code="too_many_handoffs", message=message)
    tokens = signals.delta_tokens(missed) if signals.delta_tokens else 0
    if tokens > policy.budget_tokens:
        message = (
            f"What {known.provider} missed takes {tokens} tokens even when shortened; "
            f"{policy.budget_tokens} are allowed."
        )
        yield Reason(code="over_budget", message=message)


def deltas_in_chain(known: ProviderThread, history: History) -> int:
    """Return how many deltas a conversation took since its start or its last full summary."""
    chain = 0
    for handoff in taken(known, history.handoffs):
        chain = 0 if handoff.strategy in ("full_thread_summary", "checkpoint_summary") else chain + 1
    return chain


def distinct(reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """Return the reasons with each code once, the first message of it kept."""
    by_code: dict[str, Reason] = {}
    for reason in reasons:
        by_code.setdefault(reason.code, reason)
    return tuple(by_code.values())
