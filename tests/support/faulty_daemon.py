"""A daemon on its own stdio that kills itself at a point: ``python -m support.faulty_daemon DATA_FOLDER``.

``MIDSTREAM_FAULT_FOLDER`` names a folder. In it the file ``armed``, once it is there, holds the name of the point to
die at, or `fail` and that of a commit that fails once, or nothing; the points that are reached from then on are
written to ``reached``, a line each. The file ``back``, where it is there, says by how many milliseconds the clock is
slow. The product knows nothing of this: its methods are wrapped here.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import Any

from midstream.server.cli.server import Launch, Server
from midstream.server.providers.registry import Registry
from midstream.server.runtime import attachments, engine
from midstream.server.runtime.checkpointing import Checkpointer
from midstream.server.runtime.clock import system_clock
from midstream.server.runtime.daemon import Daemon
from midstream.server.runtime.lanes import EffectWorker
from midstream.server.store import Store, StoreFailed
from midstream.server.wire.connection import Connection
from midstream.server.wire.logs import configure
from midstream.server.wire.stdio import open_writer, read_chunks
from support.fault_points import COMMANDS, OUTSIDE


def faults() -> Path:
    """Return the folder of faults."""
    return Path(os.environ["MIDSTREAM_FAULT_FOLDER"])


def reach(point: str) -> None:
    """Note that a point is reached, and where it is the one die, or fail once as a full disk does."""
    if not (armed := faults() / "armed").exists():
        return
    with (faults() / "reached").open("a") as reached:
        reached.write(f"{point}\n")
    fault = armed.read_text()
    if fault == point:
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == f"fail {point}":
        armed.unlink()
        raise StoreFailed("no room, says the test")


def watch(owner: Any, name: str, label: str) -> None:
    """Wrap a coroutine method, or one that yields a turn's events."""
    method = getattr(owner, name)

    @wraps(method)
    async def call(*args: Any, **kwargs: Any) -> Any:
        reach(f"before {label}.{name}")
        result = await method(*args, **kwargs)
        reach(f"after {label}.{name}")
        return result

    @wraps(method)
    async def events(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
        reach(f"before {label}.{name}")
        async with aclosing(method(*args, **kwargs)) as happening:
            async for event in happening:
                yield event
        reach(f"after {label}.{name}")

    setattr(owner, name, events if name == "run_turn" else call)


def watch_commits() -> None:
    """Tell commits by the command that was decided for them, and by the effects that they end."""
    deciding = ContextVar("deciding", default="")
    effects: dict[int, str] = {}
    commit, submit = Store.commit, EffectWorker.submit

    def noting(decide: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(decide)
        def noted(*args: Any) -> Any:
            deciding.set(next(name for arg in args if (name := type(arg).__name__) in COMMANDS))
            return decide(*args)

        return noted

    async def committed(self: Store, write: Any) -> Any:
        points = [f"commit of {deciding.get()}"] if write.first_sequence else []
        for effect_id in write.done:
            reach(f"after effect {effects.get(effect_id)}")
        for point in points:
            reach(f"before {point}")
        result = await commit(self, write)
        for point in points:
            reach(f"after {point}")
        return result

    def submitted(self: EffectWorker, stored: Any) -> None:
        effects[stored.id] = type(stored.effect).__name__
        reach(f"before effect {effects[stored.id]}")
        submit(self, stored)

    for name in ("decide", "create", "fork", "spawn"):
        setattr(engine, name, noting(getattr(engine, name)))
    Store.commit, EffectWorker.submit = committed, submitted  # type: ignore[method-assign]


def watch_providers() -> None:
    """Watch each driver as it is found, and each session as it is opened."""
    find = Registry.driver

    def found(self: Registry, kind: str) -> Any:
        driver: Any = find(self, kind)
        if not hasattr(driver, "watched"):
            driver.watched = True
            start = driver.open

            async def opened(workspace: Path) -> Any:
                session = await start(workspace)
                for name in OUTSIDE["Session"]:
                    watch(session, name, "Session")
                return session

            driver.open = opened
            for name in OUTSIDE["Driver"]:
                watch(driver, name, "Driver")
        return driver

    Registry.driver = found  # type: ignore[method-assign]


def slow_the_clock() -> None:
    """Let the daemon go by a clock that can be put back."""
    back, start = faults() / "back", Daemon.open.__func__  # type: ignore[attr-defined]

    def clock() -> int:
        return system_clock() - (int(back.read_text()) if back.exists() else 0)

    Daemon.open = classmethod(lambda cls, *args: start(cls, *args, clock=clock))  # type: ignore[method-assign, assignment]


def watch_files() -> None:
    """Watch what writes files of the daemon's own."""
    for owner in (Checkpointer, attachments.AttachmentStore):
        for name in OUTSIDE[owner.__name__]:
            watch(owner, name, owner.__name__)

    class Named(type(Path())):  # type: ignore[misc]
        """A path that shows when a file's content is written and its name is not yet its own."""

        def replace(self, target: Any) -> Any:
            reach("within AttachmentStore.stored")
            return super().replace(target)

    attachments.Path = Named  # type: ignore[attr-defined]


async def serve(data: Path) -> int:
    """Serve one client on stdin and stdout until it is gone and no run is active."""
    server = Server(data)
    configure(server.hub, data / "log" / "midstream.log", lambda: False)
    connection = Connection(server.service_for(Launch(config=os.devnull, rehearsal=True)))
    stdin, stdout = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    await open_writer(stdout, connection.outbox)
    try:
        status = await connection.serve(read_chunks(stdin))
        await server.drain()
        return status
    finally:
        await server.aclose()


def main(data: Path) -> None:
    """Serve, watched, and exit."""
    watch_commits()
    watch_providers()
    watch_files()
    slow_the_clock()
    sys.exit(asyncio.run(serve(data)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
