"""`attach.warm` and `attach.cold`: from the start of `midstream serve` to the answer of `initialize`.

Warm: a daemon runs already. Its limit is 100 ms on a quiet machine; beside it stands the comparison with an interpreter
that starts and does nothing.
"""

import os
import subprocess
import sys
import tempfile
import time

from figures import medians, show

# A daemon is installed with its bytecode; an environment that forbids writing it would measure the compiler.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

ROUNDS = 15
LIMIT_SECONDS = 0.1
PEER_BAR = 5.0
COLD_BAR = 1.8
SERVE = "import sys; from midstream.server.cli.main import main; sys.exit(main())"
BODY = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}'


class Client:
    """A client that was answered; `seconds` is how long that took from the start of its process."""

    def __init__(self, data: str) -> None:
        began = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVE, "serve", "--data-dir", data, "--config", os.devnull],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(BODY), BODY))
        self._process.stdin.flush()
        assert self._process.stdout.readline().startswith(b"Content-Length")
        self.seconds = time.perf_counter() - began

    def leave(self) -> float:
        """Go, and return the seconds that the attaching took."""
        self._process.communicate()
        return self.seconds


def cold() -> float:
    with tempfile.TemporaryDirectory() as data:
        return Client(data).leave()


def run(*command: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, *command], check=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        first = Client(folder)
        warm, nothing = medians(ROUNDS, lambda: Client(folder).leave(), lambda: run("-S", "-c", "pass"))
        first.leave()
    show("attach.warm", warm, "s", LIMIT_SECONDS, 1.0)
    show("attach.warm_to_python", warm, "s", nothing, PEER_BAR)
    value, limit = medians(ROUNDS // 2, cold, lambda: run("-c", "import pygls.lsp.server"))
    show("attach.cold", value, "s", limit, COLD_BAR)
