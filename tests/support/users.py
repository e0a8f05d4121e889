"""Other users of the machine, whom a test that runs as root can become."""

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

OWNER, OUTSIDER = 65534, 65533
"""Two unprivileged users: whose daemon it is, and who has no business there."""

BECOME_OWNER = f"""
import os, sys
os.umask(0)
os.setgroups([])
os.setgid({OWNER})
os.setuid({OWNER})
from midstream.server.cli.main import main
sys.exit(main())
"""
READABLE = """
import json, os, sys
readable = []
for path in json.load(sys.stdin):
    try:
        os.listdir(path) if os.path.isdir(path) else os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    except OSError:
        continue
    readable.append(path)
print(json.dumps(readable))
"""


@cache
def interpreter() -> str:
    """Return a Python of this version that every user can run."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (sys.executable, shutil.which(version, path="/usr/local/bin:/usr/bin")):
        if python is not None and _run(OUTSIDER, python, "import attrs", check=False).returncode == 0:
            return python
    raise AssertionError(f"install a {version} that other users can run")


def search_path() -> str:
    """Return where the project and its dependencies are, for any interpreter."""
    return os.pathsep.join(path for path in sys.path if path and not path.startswith(sys.base_prefix + os.sep))


def readable_by(uid: int, paths: list[Path]) -> list[str]:
    """Return which of these files and folders a user can read."""
    names = json.dumps([str(path) for path in paths])
    found: list[str] = json.loads(_run(uid, interpreter(), READABLE, names).stdout)
    return found


def _run(uid: int, python: str, code: str, said: str = "", *, check: bool = True) -> subprocess.CompletedProcess[str]:
    options: dict[str, Any] = {"user": uid, "group": uid, "extra_groups": [], "cwd": "/"}
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": search_path()}
    try:
        return subprocess.run(
            [python, "-c", code], input=said, text=True, capture_output=True, env=environment, check=check, **options
        )
    except PermissionError as error:  # the interpreter itself is out of reach
        return subprocess.CompletedProcess(python, 126, "", str(error))
