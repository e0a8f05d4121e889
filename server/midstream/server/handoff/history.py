"""What a switch is decided from: the stored records of one thread, the provider to enter, and the thresholds."""

from collections.abc import Mapping

from attrs import frozen

from midstream.protocol.base import HandoffId, ProviderKind
from midstream.protocol.records.handoff import ContextTransfer, HandoffInfo
from midstream.protocol.records.provider import Capabilities, ProviderThread
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import ModelSelection, RuntimeMode, Thread
from midstream.server.handoff.coverage import coverage

COVERED = frozenset({"completed", "failed", "interrupted"})
"""The statuses of runs that a provider has to know of."""


@frozen(kw_only=True)
class Target:
    """The provider that answers next, with what it is asked to run as and what it can do."""

    provider: ProviderKind
    selection: ModelSelection
    runtime_mode: RuntimeMode
    capabilities: Capabilities


@frozen(kw_only=True)
class Policy:
    """The budget of a handoff in tokens, and the counts beyond which a conversation is stale or a chain too long."""

    budget_tokens: int
    max_missed_runs: int = 20
    max_handoffs: int = 6
    max_delta_chain: int = 3


@frozen(kw_only=True)
class History:
    """What is stored of one thread.

    `runs` are its own and inherited ones, by ordinal; queued, cancelled and rolled-back ones are ignored. Of
    `transfers` the pending ones that move context into this thread count. `provider_threads` of another thread
    serve only as the source of a native fork.
    """

    thread: Thread
    runs: tuple[Run, ...]
    provider_threads: tuple[ProviderThread, ...]
    handoffs: Mapping[HandoffId, HandoffInfo]
    transfers: tuple[ContextTransfer, ...] = ()

    def to_tell(self, current: Run | None) -> tuple[int, ...]:
        """Return the ordinals that the next provider has to know of, ascending.

        The run being planned is one of them only on a retry, once an earlier attempt of it was accepted somewhere.
        """
        told = {
            run.ordinal
            for run in self.runs
            if run.ordinal is not None and run.status in COVERED and (current is None or run.id != current.id)
        }
        if current is not None and current.ordinal is not None:
            own = (known for known in self.provider_threads if known.thread_id == self.thread.id)
            lived = any(current.ordinal in known.native_run_ordinals for known in own)
            told |= {current.ordinal} if lived else set()
        return tuple(sorted(told))

    def covered_by(self, known: ProviderThread) -> frozenset[int]:
        """Return the ordinals that a provider thread knows of."""
        return coverage(known, self.handoffs)

    def conversations_of(self, provider: ProviderKind) -> tuple[ProviderThread, ...]:
        """Return this thread's native conversations with a provider, the best to go on with first."""
        own = (
            known
            for known in self.provider_threads
            if known.thread_id == self.thread.id
            and known.provider == provider
            and known.native_ref is not None
            and known.subagent_item_id is None
        )
        return tuple(sorted(own, key=_preference, reverse=True))

    def pending(self, type_: str) -> tuple[ContextTransfer, ...]:
        """Return the transfers of a type that wait for this thread's next run, oldest first."""
        waiting = (
            transfer
            for transfer in self.transfers
            if transfer.status == "pending" and transfer.type == type_ and transfer.target_thread_id == self.thread.id
        )
        return tuple(sorted(waiting, key=lambda transfer: (transfer.created_at, transfer.id)))


def _preference(known: ProviderThread) -> tuple[int, bool, str]:
    """The most recent first, among those a loaded one; ids sort by creation."""
    return known.last_run_ordinal or 0, loaded(known), known.id


def loaded(known: ProviderThread) -> bool:
    """Return whether a live agent process holds the conversation, so that nothing has to be resumed."""
    return known.status in ("idle", "active")
