"""What waits for one turn, in order: a slow consumer slows the reader, and so the agent."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

M = TypeVar("M")

CAPACITY: Final = 32


class Mailbox(Generic[M]):
    """Holds few messages; once it is abandoned, all that comes is given to `drop` instead."""

    def __init__(self, drop: Callable[[M], Awaitable[None]]) -> None:
        self._drop = drop
        self._messages: asyncio.Queue[M] = asyncio.Queue()
        self._room = asyncio.Semaphore(CAPACITY)
        self._abandoned = False

    async def put(self, message: M) -> None:
        """Take a message in; waits here while the box is full."""
        if not self._abandoned:
            await self._room.acquire()
        if self._abandoned:
            await self._drop(message)
        else:
            self._messages.put_nowait(message)

    def put_last(self, message: M) -> None:
        """Take in a message after which none comes; waits for nobody."""
        self._messages.put_nowait(message)

    async def take(self) -> M:
        """Return the next message."""
        message = await self._messages.get()
        self._room.release()
        return message

    async def abandon(self) -> None:
        """Take nothing out any more: what is here and still comes is dropped, so that the reader is never held up."""
        self._abandoned = True
        self._room.release()
        while not self._messages.empty():
            await self._drop(self._messages.get_nowait())
