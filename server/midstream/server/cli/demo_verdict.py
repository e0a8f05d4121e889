"""Whether the example held, judged by what the daemon and the agents said of it."""

import json
from collections.abc import Mapping

from attrs import frozen

from midstream.protocol.base import ProviderKind
from midstream.protocol.records.handoff import ContextHandoff
from midstream.protocol.records.provider import ProviderThread
from midstream.protocol.records.read import ThreadRead


@frozen(kw_only=True)
class Evidence:
    """The thread after its story, its handoffs in full, and what each agent recalled, as JSON text."""

    read: ThreadRead
    handoffs: tuple[ContextHandoff, ...]
    story: tuple[tuple[ProviderKind, str], ...]
    recalled: Mapping[ProviderKind, str]


def faults(evidence: Evidence) -> list[str]:
    """Return what did not hold; nothing means that all of it did."""
    first, second = dict.fromkeys(provider for provider, _ in evidence.story)
    return [
        *_run_faults(evidence),
        *_handoff_faults(evidence, first, second),
        *_thread_faults(evidence, first, (1, 2, 3, 4, 5, 9), 1),
        *_thread_faults(evidence, second, (6, 7, 8), 1),
        *_recall_faults(evidence, first, (1, 2, 3, 4, 5, 9), {9: 1}),
        *_recall_faults(evidence, second, (6, 7, 8), {6: 0}),
    ]


def threads_of(evidence: Evidence, provider: ProviderKind) -> list[ProviderThread]:
    """Return the native conversations of a provider."""
    return [known for known in evidence.read.provider_threads if known.provider == provider]


def _run_faults(evidence: Evidence) -> list[str]:
    faults = []
    if [run.ordinal for run in evidence.read.runs] != list(range(1, len(evidence.story) + 1)):
        faults.append("the runs are not counted 1 to 9")
    for run, (provider, _) in zip(evidence.read.runs, evidence.story, strict=False):
        if run.status != "completed" or run.provider != provider:
            faults.append(f"run {run.ordinal} on {run.provider} is {run.status}")
    return faults


def _handoff_faults(evidence: Evidence, first: ProviderKind, second: ProviderKind) -> list[str]:
    expected = [((1, 2, 3, 4, 5), "full_thread_summary"), ((6, 7, 8), "delta_since_target_last_seen")]
    found = [(handoff.run_ordinals, handoff.strategy) for handoff in evidence.handoffs]
    faults = [] if found == expected else [f"the handoffs are {found}, not {expected}"]
    lost = [known for known in evidence.handoffs if known.delivery is None or known.delivery.status != "delivered"]
    return [*faults, *(f"handoff {handoff.id} was not delivered" for handoff in lost)]


def _thread_faults(evidence: Evidence, provider: ProviderKind, natives: tuple[int, ...], handoffs: int) -> list[str]:
    threads = threads_of(evidence, provider)
    if len(threads) != 1:
        return [f"{provider} has {len(threads)} native conversations, not one that was resumed"]
    if threads[0].native_run_ordinals != natives or len(threads[0].handoff_ids) != handoffs:
        return [f"{provider} lived {threads[0].native_run_ordinals} and got {len(threads[0].handoff_ids)} handoffs"]
    return []


def _recall_faults(
    evidence: Evidence, provider: ProviderKind, natives: tuple[int, ...], handoff_before: Mapping[int, int]
) -> list[str]:
    """Compare all that an agent received in the user's role with its runs' messages and its handoffs."""
    expected = []
    for ordinal in natives:
        if ordinal in handoff_before and handoff_before[ordinal] < len(evidence.handoffs):
            expected.append(evidence.handoffs[handoff_before[ordinal]].sent_text)
        expected.append(evidence.story[ordinal - 1][1])
    entries = json.loads(evidence.recalled[provider])
    received = [entry["text"] for entry in entries if entry["role"] == "user"]
    if received[: len(expected)] != expected:
        return [f"{provider} did not receive exactly its own runs and its handoff"]
    return []
