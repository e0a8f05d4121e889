"""What waits for one turn, in order: a slow consumer slows the reader, and so the agent."""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

from midstream.server.providers.inbox import Inbox

M = TypeVar("M")

ROOM: Final = 128 * 1024
"""Bytes of messages that may wait before the reader does."""


class Mailbox(Generic[M]):
    """Holds few messages; once it is abandoned, all that comes is given to `drop` instead."""

    def __init__(self, drop: Callable[[M], Awaitable[None]]) -> None:
        self._drop = drop
        self._inbox: Inbox[M] = Inbox(ROOM)
        self._taken: deque[M] = deque()
        self._abandoned = False

    async def put(self, message: M, size: int) -> None:
        """Take in a message of so many bytes; waits here while the box is full."""
        await self._inbox.room()
        if self._abandoned:
            await self._drop(message)
        else:
            self._inbox.add(message, size)

    def put_at_once(self, message: M) -> None:
        """Take in a message, whether there is room or not: the last one, or one that cannot wait."""
        self._inbox.add(message, 0)

    async def take(self) -> M:
        """Return the next message."""
        if not self._taken:
            self._taken.extend(await self._inbox.take())
        return self._taken.popleft()

    @property
    def has_more(self) -> bool:
        """Whether another message came together with the last one."""
        return bool(self._taken)

    async def abandon(self) -> None:
        """Take nothing out any more: what is here and still comes is dropped, so that the reader is never held up."""
        self._abandoned = True
        for message in (*self._taken, *self._inbox.drain()):
            await self._drop(message)
