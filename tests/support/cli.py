"""The command line as a user meets it: a real process, its status, and what it printed."""

import json
import subprocess
import sys
from typing import Any

from attrs import frozen

MIDSTREAM = [
    sys.executable,
    "-W",
    "error",
    "-c",
    "import sys; from midstream.server.cli.main import main; sys.exit(main())",
]


@frozen
class Done:
    """A command that has ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed, as a JSON value."""
        return json.loads(self.out)


def midstream(*arguments: object, **options: Any) -> Done:
    """Run a command to its end; a traceback is never how it may end."""
    command = [*MIDSTREAM, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=100, text=True, **options)
    assert "Traceback" not in done.stderr, done.stderr
    return Done(done.returncode, done.stdout, done.stderr)
