"""The inbox: all that came is taken at once, and what is too much waits."""

import asyncio

import pytest

from midstream.server.providers.inbox import CAPACITY, Inbox


async def test_all_that_came_meanwhile_is_taken_at_once() -> None:
    inbox: Inbox[int] = Inbox()
    for number in range(3):
        await inbox.room()
        inbox.add(number, 1)
    assert await inbox.take() == [0, 1, 2]


async def test_a_full_inbox_makes_its_writer_wait_until_it_is_emptied() -> None:
    inbox: Inbox[int] = Inbox()
    inbox.add(1, CAPACITY + 1)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await inbox.room()
    waiting = asyncio.ensure_future(inbox.room())
    assert await inbox.take() == [1]
    await waiting
    inbox.add(3, 1)
    assert await inbox.take() == [3]


async def test_a_closed_inbox_gives_what_it_has_and_then_nothing() -> None:
    inbox: Inbox[int] = Inbox()
    inbox.add(1, 1)
    inbox.close()
    assert await inbox.take() == [1]
    assert await inbox.take() == []
