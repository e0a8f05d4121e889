"""`start.initialize`: from the start of the process to the answer of `initialize`."""

import os
import subprocess
import sys
import tempfile
import time

from figures import medians, show

# A daemon is installed with its bytecode; an environment that forbids writing it would measure the compiler.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

BAR = 1.6
ROUNDS = 9
SERVE = "import sys; from midstream.server.cli.main import main; sys.exit(main())"
BODY = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}'


def to_initialize() -> float:
    with tempfile.TemporaryDirectory() as data:
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-c", SERVE, "serve", "--data-dir", data, "--config", os.devnull],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(BODY), BODY))
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"Content-Length")
        seconds = time.perf_counter() - began
        process.stdin.close()
        process.stdout.read()
        process.wait()
        return seconds


def to_import() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import pygls.lsp.server"], check=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    value, limit = medians(ROUNDS, to_initialize, to_import)
    show("start.initialize", value, "s", limit, BAR)
