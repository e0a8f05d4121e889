"""Choosing how the next provider catches up. Pure: the same records give the same plan."""

from collections.abc import Callable, Mapping

import attrs
from attrs import frozen

from midstream.protocol.base import ProviderThreadId, Reason, RunRange
from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.handoff import ContextTransfer, HandoffStrategy
from midstream.protocol.records.provider import ProviderThread
from midstream.protocol.records.run import PlanStrategy, Run, SwitchPlan
from midstream.protocol.records.thread import NextContext
from midstream.server.handoff.forking import native_source
from midstream.server.handoff.history import History, Policy, Target
from midstream.server.handoff.naming import run_list
from midstream.server.handoff.staleness import (
    CLEAN_CONTEXT,
    Signals,
    deltas_in_chain,
    distinct,
    outdated,
    unusable,
)

__all__ = ["History", "Policy", "Target", "plan_switch"]


def plan_switch(
    history: History,
    target: Target,
    policy: Policy,
    *,
    context: NextContext = "auto",
    current: Run | None = None,
    incompatible: Mapping[ProviderThreadId, Reason] = {},
    extra_stale: Mapping[ProviderThreadId, tuple[Reason, ...]] = {},
    delta_tokens: Callable[[tuple[int, ...]], int] | None = None,
    workspace_moved: bool = False,
    wanted: HandoffStrategy | None = None,
) -> SwitchPlan:
    """Decide how `target` catches up with a thread before its next run.

    `current` is the run being planned. `incompatible` are the native conversations whose driver declares that
    they cannot take the new settings; `extra_stale` those found unusable just now (a resume, a native fork or a
    budget that failed); `delta_tokens` returns the tokens of the smallest delta over some run ordinals.
    `strategy` is `unsupported` where something has to be told that the provider cannot take. `wanted` is the
    strategy that the user asks for.

    Raises:
        MidstreamError: invalidState, where what is wanted cannot be done here.
    """
    signals = Signals(context=context, incompatible=incompatible, extra_stale=extra_stale, delta_tokens=delta_tokens)
    switch = _Switch(history, target, policy, signals, history.to_tell(current))
    choice = switch.choose() if wanted is None else switch.as_wanted(wanted)
    if context == "clean":
        choice = choice.because(CLEAN_CONTEXT)
    if workspace_moved and choice.handed_over:
        choice = choice.because(Reason(code="workspace_moved", message="The workspace moved since the earlier runs."))
    return _with_merge_backs(choice, history, target)


@frozen(kw_only=True)
class _Choice:
    strategy: PlanStrategy
    reasons: tuple[Reason, ...]
    known: ProviderThread | None = None
    ordinals: tuple[int, ...] = ()
    transfers: tuple[ContextTransfer, ...] = ()

    @property
    def handed_over(self) -> bool:
        return self.strategy in ("delta_since_target_last_seen", "full_thread_summary", "checkpoint_summary")

    def because(self, *reasons: Reason) -> "_Choice":
        return attrs.evolve(self, reasons=distinct((*self.reasons, *reasons)))


@frozen
class _Switch:
    history: History
    target: Target
    policy: Policy
    signals: Signals
    to_tell: tuple[int, ...]

    def choose(self) -> _Choice:
        stale: list[Reason] = []
        for known in self.history.conversations_of(self.target.provider):
            if not self.history.covered_by(known):
                # One that never took a turn holds nothing to go on with, but may tell why another one is begun.
                stale.extend(known.stale_reasons)
                continue
            reasons = self._stale(known)
            if not reasons:
                return self._go_on(known)
            stale.extend(reasons)
        if not self.to_tell:
            first = Reason(code="first_use", message="This thread has no earlier run to tell of.")
            return _Choice(strategy="none", reasons=distinct((first, *stale)), transfers=self.history.pending("fork"))
        return self._begin(distinct(stale))

    def as_wanted(self, wanted: HandoffStrategy) -> _Choice:
        conversations = (known for known in self.history.conversations_of(self.target.provider) if self._usable(known))
        known = next((known for known in conversations if self._missed(known) or known.missing_item_ids), None)
        if not self.to_tell or wanted == "manual_context":
            raise _impossible(
                "There is nothing to tell yet." if not self.to_tell else "Edit a handoff to write your own."
            )
        if wanted == "delta_since_target_last_seen":
            if known is None:
                raise _impossible(f"{self.target.provider} has no earlier conversation here that missed something.")
            able, ordinals = self._can(delta=True), self._missed(known)
        else:
            lived = known.native_run_ordinals if known is not None else ()
            able, ordinals = self._can(delta=False), tuple(o for o in self.to_tell if o not in lived)
        reasons = _why_told(known, self._missed(known)) if known else _never_saw(self.target.provider, self.to_tell)
        if not able:
            return self._unsupported(reasons)
        forks = () if known else self.history.pending("fork")
        return _Choice(strategy=wanted, known=known, ordinals=ordinals, transfers=forks, reasons=reasons)

    def _usable(self, known: ProviderThread) -> bool:
        return bool(self.history.covered_by(known)) and not unusable(known, self.target, self.signals)

    def _stale(self, known: ProviderThread) -> tuple[Reason, ...]:
        reasons = unusable(known, self.target, self.signals)
        missed = self._missed(known)
        if reasons or not (missed or known.missing_item_ids):
            return reasons
        handoff = self.target.capabilities.handoff
        if handoff.full and not handoff.delta:
            message = f"{known.provider} cannot be told only what it missed."
            return (Reason(code="no_handoff_capability", message=message),)
        return outdated(known, missed, self.policy, self.signals)

    def _missed(self, known: ProviderThread) -> tuple[int, ...]:
        covered = self.history.covered_by(known)
        return tuple(ordinal for ordinal in self.to_tell if ordinal not in covered)

    def _go_on(self, known: ProviderThread) -> _Choice:
        missed = self._missed(known)
        reasons = _why_told(known, missed)
        able = self._can(delta=True)
        if not reasons and not (known.compacted and able):
            message = f"{known.provider} already knows every run of this thread."
            return _Choice(strategy="none", known=known, reasons=(Reason(code="already_covered", message=message),))
        if not able:
            return self._unsupported(reasons)
        chain = deltas_in_chain(known, self.history)
        if chain > self.policy.max_delta_chain and self._can(delta=False):
            message = (
                f"{known.provider} was told in {chain} parts since its last full summary; "
                f"up to {self.policy.max_delta_chain} are chained."
            )
            return _Choice(
                strategy="full_thread_summary",
                known=known,
                ordinals=tuple(ordinal for ordinal in self.to_tell if ordinal not in known.native_run_ordinals),
                reasons=(*reasons, Reason(code="delta_chain_too_long", message=message)),
            )
        return _Choice(
            strategy="delta_since_target_last_seen",
            known=known,
            ordinals=missed,
            reasons=reasons or (_compacted(known),),
        )

    def _begin(self, stale: tuple[Reason, ...]) -> _Choice:
        forks = self.history.pending("fork")
        for fork in forks:
            source = native_source(fork, self.history, self.target, self.signals, self.to_tell)
            if source is not None:
                message = f"{source.provider} forks the conversation itself, with all that it knows."
                reason = Reason(code="native_fork", message=message)
                return _Choice(strategy="native_fork", transfers=forks, reasons=(reason,))
        reasons = stale or _never_saw(self.target.provider, self.to_tell)
        if forks:
            message = f"{self.target.provider} cannot fork the conversation itself, so it is told what happened."
            reasons = (Reason(code="portable_fork", message=message), *stale)
        if not self._can(delta=False):
            return self._unsupported(reasons)
        return _Choice(strategy="full_thread_summary", ordinals=self.to_tell, transfers=forks, reasons=reasons)

    def _can(self, *, delta: bool) -> bool:
        handoff = self.target.capabilities.handoff
        return handoff.channel is not None and (handoff.delta if delta else handoff.full)

    def _unsupported(self, reasons: tuple[Reason, ...]) -> _Choice:
        return _Choice(strategy="unsupported", reasons=reasons).because(_takes_none(self.target))


def _with_merge_backs(choice: _Choice, history: History, target: Target) -> SwitchPlan:
    merge_backs = history.pending("merge_back")
    handoff = target.capabilities.handoff
    if merge_backs:
        several = f"{len(merge_backs)} forks, merged back, are told of as well."
        message = several if len(merge_backs) > 1 else "What a fork did, merged back, is told as well."
        choice = choice.because(Reason(code="merge_back", message=message))
        if not (handoff.delta and handoff.channel):
            choice = _Choice(strategy="unsupported", reasons=choice.reasons).because(_takes_none(target))
    unsupported = choice.strategy == "unsupported"
    return SwitchPlan(
        strategy=choice.strategy,
        provider_thread_id=choice.known.id if choice.known else None,
        covered_thread_id=history.thread.id if choice.handed_over else None,
        covered_run_ordinals=RunRange(from_=choice.ordinals[0], to=choice.ordinals[-1]) if choice.ordinals else None,
        run_ordinals=choice.ordinals,
        transfer_ids=() if unsupported else tuple(transfer.id for transfer in (*choice.transfers, *merge_backs)),
        channel=handoff.channel if choice.handed_over or (merge_backs and not unsupported) else None,
        reasons=choice.reasons,
    )


def _why_told(known: ProviderThread, missed: tuple[int, ...]) -> tuple[Reason, ...]:
    reasons = []
    if missed:
        reasons.append(Reason(code="missed_runs", message=f"{known.provider} has not seen {run_list(missed)}."))
    if known.missing_item_ids:
        message = f"{known.provider} missed a part of runs that it took part in."
        reasons.append(Reason(code="missing_items", message=message))
    return tuple(reasons)


def _never_saw(provider: str, ordinals: tuple[int, ...]) -> tuple[Reason, ...]:
    return (
        Reason(code="first_use", message=f"{provider} takes part in this thread for the first time."),
        Reason(code="missed_runs", message=f"{provider} has not seen {run_list(ordinals)}."),
    )


def _impossible(message: str) -> MidstreamError:
    return MidstreamError("invalidState", f"{message} Leave the strategy out to have it chosen.")


def _compacted(known: ProviderThread) -> Reason:
    # The protocol has no code of its own for it: what a compaction dropped is missing from the conversation.
    message = f"{known.provider} shortened its own history, so your standing constraints are repeated."
    return Reason(code="missing_items", message=message)


def _takes_none(target: Target) -> Reason:
    return Reason(code="no_handoff_capability", message=f"{target.provider} cannot be told what happened without it.")
