"""`midstream serve`: gives an editor's pipes to the daemon of a data folder, which it starts where there is none.

Every start of an editor waits for this, so what only the daemon needs is imported by the daemon alone.
"""

import os
import socket
import sys

from midstream.server.cli.opening import FirstMessage
from midstream.server.version import VERSION
from midstream.server.wire import doorway
from midstream.server.wire.attaching import Unattached, attach


def serve(data_dir: str | None, config: str | None, *, rehearsal: bool) -> int:
    """Serve one client, and return the exit status of its connection."""
    first = FirstMessage()
    launch: dict[str, object] = {"config": None if config is None else os.path.abspath(config), "rehearsal": rehearsal}  # noqa: PTH100
    try:
        doorway.enter(data_dir or first.data_dir() or _default_folder())
        return attach(VERSION, launch, first.begun, _become_daemon)
    except Unattached as problem:
        first.refuse("storeLocked", str(problem))
    except doorway.NotOurs as problem:
        first.refuse("storeLocked", str(problem))
    except OSError as problem:
        first.refuse("storeLocked", f"The data folder cannot be used: {problem}")
    except KeyboardInterrupt:
        pass
    return 1


def _default_folder() -> str:
    from midstream.server.cli.folders import data_folder

    return str(data_folder())


def _become_daemon(lock: int, listener: socket.socket) -> None:
    from midstream.server.cli.daemon import run_daemon

    run_daemon(listener)
    os.close(lock)
    sys.stderr.flush()
