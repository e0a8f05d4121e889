"""Work that is finished once it has begun, however often its waiter is cancelled."""

import asyncio

import pytest

from midstream.server.runtime.cancellation import finish, finish_first


async def cancelled_twice(waiter: "asyncio.Task[str]", may_end: asyncio.Event) -> None:
    for _ in range(2):
        await asyncio.sleep(0)
        waiter.cancel()
        await asyncio.sleep(0)
    assert not waiter.done()
    may_end.set()


async def work(may_end: asyncio.Event) -> str:
    await may_end.wait()
    return "done"


async def test_a_cancellation_that_came_too_late_is_dropped() -> None:
    may_end = asyncio.Event()
    waiter = asyncio.ensure_future(finish(work(may_end)))
    await cancelled_twice(waiter, may_end)
    assert await waiter == "done"


async def test_a_cancellation_is_raised_only_after_the_work_is_done() -> None:
    may_end = asyncio.Event()
    waiter = asyncio.ensure_future(finish_first(work(may_end)))
    await cancelled_twice(waiter, may_end)
    with pytest.raises(asyncio.CancelledError):
        await waiter


async def test_work_that_fails_fails_its_waiter() -> None:
    async def failing() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await finish_first(failing())
