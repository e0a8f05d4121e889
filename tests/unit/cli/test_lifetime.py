"""How long a daemon is needed."""

import asyncio

import pytest

from midstream.server.cli import lifetime as module
from midstream.server.cli.lifetime import Lifetime


class Work:
    """Runs that are carried out until `done` is set."""

    def __init__(self) -> None:
        self.done = asyncio.Event()
        self.done.set()
        self.idle_seconds = 0.0

    async def drain(self) -> None:
        await self.done.wait()


@pytest.fixture
async def work() -> Work:
    return Work()


@pytest.fixture
async def lifetime(work: Work) -> Lifetime:
    return Lifetime(lambda: not work.done.is_set(), work.drain, lambda: work.idle_seconds)


async def lasts(waiting: asyncio.Task[None]) -> bool:
    """Say whether a daemon stays although it had every chance to end."""
    for _ in range(20):
        await asyncio.sleep(0)
    return not waiting.done()


async def test_a_daemon_waits_for_its_first_client_and_ends_with_its_last(lifetime: Lifetime) -> None:
    waiting = asyncio.ensure_future(lifetime.wait())
    assert await lasts(waiting)
    lifetime.arrive()
    lifetime.arrive()
    lifetime.depart()
    assert await lasts(waiting)
    lifetime.depart()
    assert lifetime.over
    await waiting


async def test_a_daemon_whose_first_client_never_comes_ends(
    lifetime: Lifetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_SECONDS", 0.0)
    await lifetime.wait()


async def test_a_run_that_is_carried_out_keeps_a_daemon_that_all_clients_left(lifetime: Lifetime, work: Work) -> None:
    work.done.clear()
    lifetime.arrive()
    waiting = asyncio.ensure_future(lifetime.wait())
    lifetime.depart()
    assert not lifetime.over
    assert await lasts(waiting)
    work.done.set()
    await waiting


async def test_a_client_that_comes_while_a_run_goes_on_keeps_the_daemon_beyond_its_end(
    lifetime: Lifetime, work: Work
) -> None:
    work.done.clear()
    lifetime.arrive()
    waiting = asyncio.ensure_future(lifetime.wait())
    lifetime.depart()
    assert await lasts(waiting)
    lifetime.arrive()
    work.done.set()
    assert await lasts(waiting)
    lifetime.depart()
    await waiting


async def test_an_idle_time_keeps_a_daemon_until_it_is_asked_to_give_way(lifetime: Lifetime, work: Work) -> None:
    work.idle_seconds = 600.0
    lifetime.arrive()
    waiting = asyncio.ensure_future(lifetime.wait())
    assert not lifetime.give_way()
    lifetime.depart()
    assert not lifetime.over
    assert await lasts(waiting)
    assert lifetime.give_way()
    await waiting


async def test_a_run_is_not_given_up_for_a_newcomer(lifetime: Lifetime, work: Work) -> None:
    work.done.clear()
    assert not lifetime.give_way()


async def test_stop_ends_a_daemon_that_is_still_needed(lifetime: Lifetime, work: Work) -> None:
    work.done.clear()
    lifetime.arrive()
    waiting = asyncio.ensure_future(lifetime.wait())
    lifetime.stop()
    assert lifetime.over
    await waiting
