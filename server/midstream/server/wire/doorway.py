"""Who is the daemon of a data folder, and how it is reached: a lock and a socket in the folder.

All names are relative: a socket's path may hold about 100 bytes, so both sides work inside the folder. Every start of
an editor imports this, so it stands on light modules alone.
"""

import fcntl
import json
import os
import socket
import stat
import struct
import sys
from contextlib import suppress

LOCK = "daemon.lock"
SOCKET = "daemon.sock"
HELLO_BYTES = 64 * 1024
BACKLOG = 64


class NotOurs(Exception):
    """The socket, or who speaks through it, belongs to another user."""


def enter(folder: str) -> None:
    """Make the data folder where it is missing, see that it is this user's alone, and work inside it.

    Raises:
        OSError: it cannot be used.
    """
    if not _is_private(folder):
        from pathlib import Path  # which costs 6 ms, and is rarely needed here

        from midstream.server.wire.premises import secure

        secure(Path(folder))
    os.chdir(folder)


def _is_private(folder: str) -> bool:
    try:
        found = os.stat(folder)  # noqa: PTH116
    except FileNotFoundError:
        return False
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IRWXG | stat.S_IRWXO)


def claim(version: str) -> int | None:
    """Return the folder's lock, held until its last descriptor closes, or None where another process holds it."""
    lock = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    sign(lock, version)
    return lock


def sign(lock: int, version: str) -> None:
    """Write who holds the lock: this process."""
    os.ftruncate(lock, 0)
    os.pwrite(lock, json.dumps({"pid": os.getpid(), "version": version}).encode(), 0)


def listen() -> socket.socket:
    """Return the folder's socket; for the holder of the lock, so that an older one is nobody's."""
    forget()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)  # from its first moment it is the owner's alone
    try:
        listener.bind(SOCKET)
    finally:
        os.umask(before)
    listener.listen(BACKLOG)
    return listener


def forget() -> None:
    """Remove the socket."""
    with suppress(FileNotFoundError):
        os.unlink(SOCKET)  # noqa: PTH108


def dial() -> socket.socket | None:
    """Return a connection to the daemon, or None while nobody listens.

    Raises:
        NotOurs: the socket belongs to another user.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        found = os.lstat(SOCKET)
        if found.st_uid != os.geteuid() or not stat.S_ISSOCK(found.st_mode):
            raise NotOurs(f"{os.path.abspath(SOCKET)} is not a socket of this user; remove it.")  # noqa: PTH100
        connection.connect(SOCKET)
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return None
    except BaseException:
        connection.close()
        raise
    return connection


def peer_uid(connection: socket.socket) -> int:
    """Return the user at the other end."""
    if sys.platform == "linux":
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", credentials)[1])
    sol_local, local_peercred = 0, 1  # <sys/un.h> of macOS and the BSDs: struct xucred {version, uid, …}
    return int(struct.unpack("2I", connection.getsockopt(sol_local, local_peercred, 8))[1])


def line(**values: object) -> bytes:
    """Return one line of what the two sides say to each other."""
    return json.dumps(values).encode() + b"\n"
