"""What a handoff is made from, and what of it may be told."""

from collections.abc import Mapping
from functools import cached_property

import attrs
from attrs import frozen

from midstream.protocol.base import HandoffId, ItemId, ProviderKind, Reason, RunId
from midstream.protocol.records.checkpoint import Checkpoint, FileSummary
from midstream.protocol.records.handoff import HandoffSection, HandoffStrategy, HandoffTokens, SectionKind
from midstream.protocol.records.request import RuntimeRequest
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Thread
from midstream.server.handoff.facts import Fact, Telling


@frozen
class ItemFacts:
    """An item as a handoff knows it."""

    id: ItemId
    run_id: RunId | None
    facts: tuple[Fact, ...]


@attrs.define(frozen=True, kw_only=True)
class Material:
    """All that one handoff is made from.

    `runs` are the covered runs by ordinal, those of missing items included where they are known; `items` all
    items of the covered runs that the target did not live, and the missing ones, by ordinal; `standing` the
    retained user messages of the thread that hold a constraint, oldest first; `covered_items` what earlier handoffs
    already carried to the same native conversation; `diff` the changes that `checkpoint` holds; `replaces` the
    handoffs that a full summary into an existing conversation stands in for; `unread` counts what each section would
    tell besides, and is too old to be looked at; `readable` where the target is given the reader; `of_fork` where a
    fork's runs are told to the thread that it came from.
    """

    thread: Thread
    strategy: HandoffStrategy
    runs: tuple[Run, ...]
    items: tuple[ItemFacts, ...]
    standing: tuple[ItemFacts, ...]
    covered_items: frozenset[ItemId] = frozenset()
    checkpoint: Checkpoint | None = None
    diff: tuple[FileSummary, ...] = ()
    open_requests: tuple[RuntimeRequest, ...] = ()
    target: ProviderKind
    providers_of_runs: Mapping[int, ProviderKind]
    reasons: tuple[Reason, ...] = ()
    workspace_moved: bool = False
    replaces: tuple[HandoffId, ...] = ()
    unread: Mapping[SectionKind, int] = {}
    readable: bool = False
    of_fork: bool = False

    @cached_property
    def told(self) -> tuple[ItemFacts, ...]:
        """The items to tell: those that this native conversation was not told before."""
        return tuple(item for item in self.items if item.id not in self.covered_items)

    @cached_property
    def _by_id(self) -> Mapping[str, Run]:
        return {run.id: run for run in self.runs}

    def run_of(self, item: ItemFacts) -> Run | None:
        """Return the run of an item, where it is known."""
        return self._by_id.get(item.run_id or "")

    def ordinal(self, item: ItemFacts) -> int | None:
        """Return the ordinal of the run of an item, where it is known."""
        run = self.run_of(item)
        return run.ordinal if run else None

    @cached_property
    def new(self) -> frozenset[ItemId]:
        """The ids of the items to tell."""
        return frozenset(item.id for item in self.told)

    @cached_property
    def by_section(self) -> Mapping[SectionKind, tuple[tuple[ItemFacts, Telling], ...]]:
        """What is told in each section, with the items that told it, oldest first."""
        found: dict[SectionKind, list[tuple[ItemFacts, Telling]]] = {}
        for item in self.told:
            for fact in item.facts:
                if isinstance(fact, Telling):
                    found.setdefault(fact.section, []).append((item, fact))
        return {section: tuple(told) for section, told in found.items()}

    def speaker(self, item: ItemFacts) -> str:
        """Return which provider answered in the run of an item."""
        return self.providers_of_runs.get(self.ordinal(item) or 0, "the agent")


@frozen(kw_only=True)
class Built:
    """A handoff's text.

    `summary_text` is what stands inside the fence, `sent_text` the bytes to send, fence included; `redactions` counts
    the secrets taken out of them; `item_ids` are the items that it carries to the target for the first time.
    """

    summary_text: str
    sent_text: str
    sections: tuple[HandoffSection, ...]
    tokens: HandoffTokens
    redactions: int
    item_ids: frozenset[ItemId]
