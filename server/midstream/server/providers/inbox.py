"""What was said and nobody took down yet: bounded, so that a fast agent is slowed through its pipe."""

import asyncio
from typing import Final, Generic, TypeVar

T = TypeVar("T")
CAPACITY: Final = 1 << 20
"""Code points, or bytes, that may wait before `room` does."""


class Inbox(Generic[T]):
    """Entries gathered while the last ones are at work, taken all at once; `weight` says how large one is."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._entries: list[T] = []
        self._weight = 0
        self._closed = False
        self._filled = asyncio.Event()
        self._emptied = asyncio.Event()
        self._emptied.set()

    async def room(self) -> None:
        """Wait while too much is untaken."""
        await self._emptied.wait()

    def add(self, entry: T, weight: int) -> None:
        """Add an entry, whether there is room or not."""
        self._entries.append(entry)
        self._weight += weight
        self._filled.set()
        if self._weight > self._capacity:
            self._emptied.clear()

    def close(self) -> None:
        """Say that nothing more comes."""
        self._closed = True
        self._filled.set()

    async def take(self) -> list[T]:
        """Return all that came, at least one entry; empty once closed and taken."""
        await self._filled.wait()
        return self.drain()

    def drain(self) -> list[T]:
        """Return what waits now, and let more come."""
        entries, self._entries, self._weight = self._entries, [], 0
        self._emptied.set()
        if not self._closed:
            self._filled.clear()
        return entries
