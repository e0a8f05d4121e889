"""How visitors are received."""

import asyncio
import errno
import os
import socket
from pathlib import Path

import pytest

from midstream.server.wire import doorway, reception
from midstream.server.wire.reception import Reception, Visitor


class Guests:
    """Keeps who was let in."""

    def __init__(self, *, ending: bool = False) -> None:
        self.ending = ending
        self.inside = 0
        self.visitors: asyncio.Queue[Visitor] = asyncio.Queue()

    def arrive(self) -> bool:
        self.inside += not self.ending
        return not self.ending

    async def visit(self, visitor: Visitor) -> None:
        await self.visitors.put(visitor)

    def depart(self) -> None:
        self.inside -= 1

    def give_way(self) -> bool:
        return False


async def test_a_daemon_that_is_ending_welcomes_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    receiving = Reception(doorway.listen(), "1", Guests(ending=True))
    with doorway.dial() or pytest.fail("nobody listens") as knocking:
        knocking.sendall(doorway.line(version="1", launch={}, begun=0))
        assert await asyncio.to_thread(knocking.recv, 100) == b""
    await receiving.close()
    await receiving.join()


async def test_one_who_goes_after_the_welcome_is_counted_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    guests = Guests()
    receiving = Reception(doorway.listen(), "1", guests)
    with doorway.dial() or pytest.fail("nobody listens") as knocking:
        knocking.sendall(doorway.line(version="1", launch={}, begun=0))
        assert await asyncio.to_thread(knocking.recv, 100) == doorway.line(welcome=True)
        assert guests.inside == 1
    await receiving.close()
    await receiving.join()
    assert guests.inside == 0
    assert guests.visitors.empty()


async def test_a_daemon_out_of_descriptors_lets_in_who_waits_once_some_are_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reception, "AGAIN_SECONDS", 0)
    loop = asyncio.get_running_loop()
    accept = loop.sock_accept
    failures = [OSError(errno.EMFILE, os.strerror(errno.EMFILE))] * 3

    async def failing(listener: socket.socket) -> tuple[socket.socket, object]:
        if failures:
            raise failures.pop()
        return await accept(listener)

    monkeypatch.setattr(loop, "sock_accept", failing)
    guests = Guests()
    receiving = Reception(doorway.listen(), "1", guests)
    with doorway.dial() or pytest.fail("nobody listens") as knocking:
        knocking.sendall(doorway.line(version="1", launch={}, begun=0))
        assert await asyncio.to_thread(knocking.recv, 100) == doorway.line(welcome=True)
        socket.send_fds(knocking, [b"\n"], [0, 1, 2])
        visitor = await asyncio.wait_for(guests.visitors.get(), 10)
    visitor.let_go()
    assert failures == []
    await receiving.close()
    await receiving.join()
