"""The process that an editor starts: it hands its own pipes to the folder's daemon, and waits for the exit status.

Nothing passes through it: the daemon reads and writes the editor's pipes itself.
"""

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable

from midstream.server.wire import doorway

PATIENCE_SECONDS = 30.0
"""How long a daemon that is just ending, or just starting, is waited for."""
RETRY_SECONDS = 0.01
DIED = "The daemon ended unexpectedly; the folder log/ in the data folder says why."


class Unattached(Exception):
    """No daemon took the editor's pipes: why, and what to do."""


def attach(version: str, launch: dict[str, object], begun: bytes, become: Callable[[int, socket.socket], None]) -> int:
    """Give this process' pipes to the daemon of the current folder, and return the connection's exit status.

    Where there is no daemon a new process becomes it: `become` gets the held lock and the listening socket. `launch` is
    what the first client decides for all; `begun` is what was read from stdin already.

    Raises:
        Unattached: the daemon is of another version, cannot start, or does not answer.
        NotOurs: the folder's socket belongs to another user.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    started = False
    refusal: dict[str, object] = {}
    while time.monotonic() < deadline and refusal.get("leaving") is not False:
        if (lock := doorway.claim(version)) is not None:
            if started:
                raise Unattached(DIED)
            started = True
            _start(lock, version, become)
        if (connection := doorway.dial()) is not None:
            with connection:
                connection.settimeout(PATIENCE_SECONDS)
                answers = connection.makefile("rb")
                hello = doorway.line(version=version, launch=launch, begun=len(begun))
                if (answer := _introduce(connection, hello + begun, answers.readline)).get("welcome"):
                    connection.settimeout(None)
                    socket.send_fds(connection, [b"\n"], [0, 1, 2])
                    return _wait(answers.readline)
                refusal = answer
        time.sleep(RETRY_SECONDS)
    if refusal:
        raise Unattached(
            f"Midstream {refusal['version']} serves this data folder (process {refusal['pid']}), and this is "
            f"{version}: close the editors that use it, or choose another data folder."
        )
    raise Unattached("The daemon of this data folder does not answer; `midstream doctor` says which process it is.")


def _introduce(connection: socket.socket, hello: bytes, read: Callable[[], bytes]) -> dict[str, object]:
    """Return the daemon's answer, empty where it was just ending; only one that welcomes gets the pipes."""
    try:
        connection.sendall(hello)
        answer = read()
    except (BrokenPipeError, ConnectionResetError, TimeoutError):
        return {}
    return dict(json.loads(answer)) if answer else {}


def _wait(read: Callable[[], bytes]) -> int:
    """Let go of the pipes, and wait for the end of the connection, and of the daemon where it ends too."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    try:
        status = read()
        read()
    except ConnectionResetError:
        status = b""
    if status:
        return int(json.loads(status)["status"])
    sys.stderr.write(f"midstream: {DIED}\n")
    return 1


def _start(lock: int, version: str, become: Callable[[int, socket.socket], None]) -> None:
    """Let a process of its own, which ends with no editor, become the daemon."""
    listener = doorway.listen()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # one that an editor ignores would hide the ends of children
    if os.fork() == 0:
        status = 1
        try:
            os.setsid()
            if os.fork() == 0:  # no child of the editor's, which may kill all of its own
                doorway.sign(lock, version)
                _detach(lock, listener.fileno())
                become(lock, listener)
            status = 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:  # never back into what the editor started
            os._exit(status)
    os.wait()
    os.close(lock)
    listener.close()


def _detach(*kept: int) -> None:
    """Keep nothing of the editor's: what is printed goes to a file."""
    os.makedirs("log", mode=0o700, exist_ok=True)  # noqa: PTH103
    nothing = os.open(os.devnull, os.O_RDONLY)
    printed = os.open("log/stderr.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for descriptor, source in ((0, nothing), (1, printed), (2, printed)):
        os.dup2(source, descriptor)
    first, second = sorted(kept)
    os.closerange(3, first)
    os.closerange(first + 1, second)
    os.closerange(second + 1, os.sysconf("SC_OPEN_MAX"))
