"""What the reader's tools answer: text that is redacted as handoffs are, a page at a time."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Final

from attrs import frozen

from midstream.protocol.base import CheckpointId, ItemId, ProviderKind
from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.checkpoint import Checkpoint
from midstream.protocol.records.item import Item
from midstream.protocol.records.run import Run, SwitchPlan
from midstream.server.checkpoints import BadPath, CheckpointError, CheckpointStore
from midstream.server.handoff.entries import TITLES
from midstream.server.handoff.leftovers import everything
from midstream.server.handoff.naming import parse_ranges
from midstream.server.handoff.redact import Redactor
from midstream.server.handoff.render import entry, heading
from midstream.server.handoff.text import clip, one_line
from midstream.server.handoff.values import assigned
from midstream.server.reader.access import Access
from midstream.server.reader.paging import call, listing, page
from midstream.server.reader.reach import Reach, reach
from midstream.server.reader.texts import line, named, whole_text
from midstream.server.runtime.material import gather
from midstream.server.runtime.secret_values import workspace_secrets
from midstream.server.runtime.workspaces import workspace_name
from midstream.server.store import ItemAnchor, Questions, StoreFailed, asking

LISTED: Final = 50
"""Items and runs on a page."""

SEARCHED: Final = 1_000
"""Items that one search looks at."""

FOUND: Final = 20
"""Hits on a page."""

AROUND: Final = 120
"""Code points of a hit's surroundings, on each side."""

WITHOUT_END: Final = 2**62


class Unreadable(Exception):
    """There is nothing to read where an agent asked for something; the message says so to it."""


@frozen
class _Shelf:
    """What one call reads: the store, what is in reach, and what takes secrets out."""

    store: Questions
    reach: Reach
    redactor: Redactor

    def run_of(self, item: Item) -> Run | None:
        return self.reach.runs.get(item.run_id or "")


class Library:
    """The tools. Each raises Expired, and Unreadable."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def runs(self, after: int = 0) -> str:
        """List the runs: number, provider, status, checkpoint, and the beginning of the request."""
        async with self._open() as shelf:
            later = [(ordinal, run) for ordinal, run in shelf.reach.by_ordinal.items() if ordinal > after]
            lines = [
                entry(
                    f"r{ordinal} {run.provider}, {run.status}, checkpoint {run.checkpoint_id or 'none'}: "
                    + clip(one_line(shelf.redactor.text(run.message.text)), AROUND)
                )
                for ordinal, run in later[:LISTED]
            ]
            if len(later) > LISTED:
                lines.append(heading(f"More: {call('runs', after=later[LISTED - 1][0])}"))
            return listing(lines)

    async def history(self, runs: str, sections: str | None = None, offset: int = 0) -> str:
        """Tell whole what a handoff tells of these runs, such as ``1-4,7``; `sections` are the names of some."""
        kinds = set(TITLES) if sections is None else set(sections.split(","))
        if unknown := kinds - set(TITLES):
            raise Unreadable(f"There is no section {min(unknown)}; there are {','.join(TITLES)}.")
        async with self._open() as shelf:
            ordinals = tuple(_ordinals(runs, shelf.reach))
            state = shelf.reach.state
            plan = SwitchPlan(
                strategy="full_thread_summary",
                provider_thread_id=None,
                covered_thread_id=state.thread.id,
                covered_run_ordinals=None,
                run_ordinals=ordinals,
                transfer_ids=(),
                channel=None,
                reasons=(),
            )
            target = state.thread.selection.provider
            material = await gather(shelf.store, state, plan, "full_thread_summary", target, None, WITHOUT_END)
            lines: list[str] = []
            for section in everything(material, kinds):
                lines.append(heading(section.title))
                lines.extend(entry(shelf.redactor.values(told.text)) for told in section.entries)
            return page("\n".join(lines), offset, "history", runs=runs, sections=sections)

    async def items(self, runs: str | None = None, after: ItemId | None = None) -> str:
        """List the items in order, of some runs or of all, each on a line with its id."""
        async with self._open() as shelf:
            wanted = None if runs is None else set(_ordinals(runs, shelf.reach))
            lines: list[str] = []
            last = after
            async for item in _items(shelf, after):
                run = shelf.run_of(item)
                if wanted is not None and (run is None or run.ordinal not in wanted):
                    continue
                if len(lines) == LISTED:
                    lines.append(heading(f"More: {call('items', runs=runs, after=last)}"))
                    break
                lines.append(entry(line(item, run, shelf.redactor)))
                last = item.id
            return listing(lines)

    async def item(self, id: ItemId, offset: int = 0) -> str:
        """Return all that an item says, its whole output too."""
        async with self._open() as shelf:
            item = await shelf.reach.item(shelf.store, id)
            if item is None:
                raise Unreadable(f"There is no item {id} in this conversation.")
            text = await whole_text(item, shelf.run_of(item), shelf.redactor, shelf.store)
            return page(text, offset, "item", id=id)

    async def delegate(self, provider: ProviderKind, prompt: str, title: str) -> str:
        """Give work to another provider, and return what came back as the item that holds it. Raises Refused too."""
        return await self.item(await self._access.delegate(provider, prompt, title))

    async def search(self, query: str, after: ItemId | None = None) -> str:
        """Look for words in what items say, whatever their case; what is redacted is not found."""
        if not query.strip():
            raise Unreadable("An empty query finds nothing; name words to look for.")
        async with self._open() as shelf:
            lines: list[str] = []
            looked_at, last = 0, after
            async for item in _items(shelf, after):
                if looked_at == SEARCHED or len(lines) == FOUND:
                    lines.append(heading(f"More: {call('search', query=query, after=last)}"))
                    break
                looked_at, last = looked_at + 1, item.id
                run = shelf.run_of(item)
                text = await whole_text(item, run, shelf.redactor, shelf.store)
                body = text.partition("\n")[2]
                place = body.casefold().find(query.casefold())
                if place >= 0:
                    around = one_line(body[max(0, place - AROUND) : place + len(query) + AROUND])
                    lines.append(entry(f"{named(item, run)}: {around}"))
            return listing(lines)

    async def files(self, checkpoint: CheckpointId, offset: int = 0) -> str:
        """List the files of the workspace at a checkpoint."""
        async with self._open() as shelf:
            found = self._checkpoint(shelf, checkpoint)
            try:
                paths = await self._checkpoints.files(workspace_name(found.scope_id), found.ref)
            except CheckpointError:
                raise Unreadable(f"There is no checkpoint {checkpoint} in this conversation.") from None
            names = (one_line(shelf.redactor.text(path.decode(errors="replace"))) for path in paths)
            return page("\n".join(map(entry, names)), offset, "files", checkpoint=checkpoint)

    async def file(self, checkpoint: CheckpointId, path: str, offset: int = 0) -> str:
        """Return a file of the workspace at a checkpoint."""
        async with self._open() as shelf:
            found = self._checkpoint(shelf, checkpoint)
            try:
                file = await self._checkpoints.file(workspace_name(found.scope_id), found.ref, path.encode())
            except (CheckpointError, BadPath, UnicodeEncodeError):
                raise Unreadable(f"Checkpoint {checkpoint} holds no file {path}.") from None
            if b"\0" in file.content:
                raise Unreadable(f"{path} holds {len(file.content)} bytes that are no text.")
            text = file.content.decode(errors="replace")
            redactor = shelf.redactor.also(assigned(text)) if ".env" in path else shelf.redactor
            rows = redactor.text(text).split("\n")
            return page("\n".join(f"> {row}" for row in rows), offset, "file", checkpoint=checkpoint, path=path)

    @property
    def _checkpoints(self) -> CheckpointStore:
        return CheckpointStore(self._access.checkpoints)

    def _checkpoint(self, shelf: _Shelf, checkpoint_id: CheckpointId) -> Checkpoint:
        found = shelf.reach.checkpoints.get(checkpoint_id)
        if found is None or found.status != "ready":
            raise Unreadable(f"There is no checkpoint {checkpoint_id} in this conversation.")
        return found

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[_Shelf]:
        """Ask what may be read now, and open the database for one call: the daemon rewrites it when it deletes."""
        granted = await self._access.grant()
        try:
            async with asking(self._access.database) as store:
                found = await reach(store, granted.thread_id)
                if found is None:
                    raise Unreadable("The conversation is deleted.")
                secrets = granted.secrets | workspace_secrets(workspace_name(found.state.thread.workspace))
                yield _Shelf(store, found, Redactor(secrets))
        except (MidstreamError, StoreFailed) as error:
            raise Unreadable(f"Nothing can be read now: {error}") from error


def _ordinals(runs: str, reach: Reach) -> Iterator[int]:
    known = reach.by_ordinal
    try:
        yield from (ordinal for ordinal in parse_ranges(runs, max(known, default=0)) if ordinal in known)
    except ValueError:
        raise Unreadable(f"{runs} does not name runs; a call names them as 1-4,7.") from None


async def _items(shelf: _Shelf, after: ItemId | None) -> AsyncIterator[Item]:
    """Yield the items that can be read, after one of them or from the first on."""
    if after is not None and await shelf.reach.item(shelf.store, after) is None:
        raise Unreadable(f"There is no item {after} in this conversation.")
    while found := await shelf.store.items(shelf.reach.scopes, None, ItemAnchor(after=after), LISTED):
        for item in found.items:
            if shelf.reach.shows(item):
                yield item
        after = found.next_item_id
        if after is None:
            return
