"""Which runs a native conversation knows of: those that it lived, and those that a delivered handoff told it."""

from collections.abc import Mapping

from midstream.protocol.base import HandoffId
from midstream.protocol.records.handoff import HandoffInfo
from midstream.protocol.records.provider import ProviderThread


def coverage(known: ProviderThread, handoffs: Mapping[HandoffId, HandoffInfo]) -> frozenset[int]:
    """Return the ordinals of the runs that a provider thread covers."""
    told = (ordinal for handoff in taken(known, handoffs) for ordinal in handoff.run_ordinals)
    return frozenset(known.native_run_ordinals).union(told)


def taken(known: ProviderThread, handoffs: Mapping[HandoffId, HandoffInfo]) -> tuple[HandoffInfo, ...]:
    """Return the handoffs of the thread's own history that a provider thread took, oldest first.

    Merge-backs are not among them: their ordinals count in the history of a fork. Those that a native fork
    inherited are: up to the fork point both threads count alike.
    """
    named = (handoffs[handoff_id] for handoff_id in known.handoff_ids if handoff_id in handoffs)
    return tuple(handoff for handoff in named if _delivered(handoff) and _of_own_history(handoff))


def _delivered(handoff: HandoffInfo) -> bool:
    return handoff.delivery is not None and handoff.delivery.status == "delivered"


def _of_own_history(handoff: HandoffInfo) -> bool:
    return handoff.covered_thread_id in (None, handoff.thread_id)
