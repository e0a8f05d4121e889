"""Writing to a store as the runtime does: thread by thread, each with its own sequence."""

from typing import Any

from attrs import define, field

from midstream.server.graph.events import Event, TextAppended
from midstream.server.store import Commit, Store, Write


@define
class ThreadLog:
    """One thread's writes, each going on where the one before ended."""

    store: Store
    thread_id: str = "thr_1"
    sequence: int = 0
    _ends: dict[tuple[str, str, str | None], int] = field(factory=dict)

    def write(self, *events: Event, **fields: Any) -> Write:
        """Return the thread's next write."""
        first = self.sequence + 1
        self.sequence += sum(not isinstance(event, TextAppended) for event in events)
        return Write(thread_id=self.thread_id, first_sequence=first, events=events, **fields)

    async def commit(self, *events: Event, **fields: Any) -> Commit:
        return await self.store.commit(self.write(*events, **fields))

    def text(self, item_id: str, text: str, name: str = "text", path: str | None = None) -> TextAppended:
        """Return the next piece of an item's text."""
        key = (item_id, name, path)
        offset = self._ends.get(key, 0)
        self._ends[key] = offset + len(text)
        return TextAppended(item_id, name, path, offset, text)
