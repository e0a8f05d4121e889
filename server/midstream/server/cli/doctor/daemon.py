"""Whether a daemon serves the data folder: it holds the folder's lock for as long as it lives."""

import fcntl
import json
import os
from pathlib import Path
from typing import Final

from attrs import frozen

from midstream.server.cli.doctor.finding import Finding, ok, warning
from midstream.server.version import VERSION
from midstream.server.wire.doorway import LOCK, SOCKET

LOCK_BYTES: Final = 4096


@frozen(kw_only=True)
class RunningDaemon:
    """A daemon that lives, as its lock names it; None for what it had not written yet."""

    pid: int | None
    version: str | None

    def __str__(self) -> str:
        return "a daemon runs" if self.pid is None else f"a daemon runs, pid {self.pid}"


def running_daemon(folder: Path) -> RunningDaemon | None:
    """Return the daemon of a data folder, or None. Raises OSError where its lock cannot be read."""
    try:
        # Not to wait for a writer where somebody has put a pipe in its place.
        lock = os.open(folder / LOCK, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _named(os.pread(lock, LOCK_BYTES, 0))
    finally:
        os.close(lock)
    return None


def look_at_daemon(folder: Path, daemon: RunningDaemon | None) -> list[Finding]:
    """Say whether a daemon runs, and what a dead one has left."""
    if daemon is None:
        left = f"; {SOCKET} is of one that died, the next one replaces it" if os.path.lexists(folder / SOCKET) else ""
        return [ok("daemon", f"none runs{left}")]
    if daemon.version not in (None, VERSION):
        action = "Close the editors that use it; the next one to open starts a daemon of this version."
        return [warning("daemon", f"{daemon}, of version {daemon.version}, and this is {VERSION}", action)]
    return [ok("daemon", str(daemon))]


def _named(content: bytes) -> RunningDaemon:
    try:
        holder = json.loads(content)
    except (ValueError, RecursionError):
        holder = None
    fields = holder if isinstance(holder, dict) else {}
    pid, version = fields.get("pid"), fields.get("version")
    return RunningDaemon(
        pid=pid if isinstance(pid, int) else None, version=version if isinstance(version, str) else None
    )
