"""Values that no handoff may tell, from where people keep secrets: the environment, and the workspace's env files."""

import os
import stat
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from midstream.server.handoff.values import assigned, secret_like

LARGEST: Final = 65_536
"""Bytes of an env file; a larger one is none."""

MOST: Final = 20
"""How many env files are read."""


@cache
def environment_secrets() -> frozenset[str]:
    """Return the secret-like values of the daemon's own environment."""
    return frozenset(value for value in os.environ.values() if secret_like(value))


def workspace_secrets(workspace: Path) -> frozenset[str]:
    """Return the secret-like values of the env files at the top of a workspace."""
    return frozenset().union(*(assigned(text) for text in _env_files(workspace)))


def _env_files(workspace: Path) -> Iterator[str]:
    try:
        paths = sorted(path for path in workspace.iterdir() if path.name == ".env" or path.name.startswith(".env."))
    except OSError:
        return
    for path in paths[:MOST]:
        try:
            about = path.lstat()
            if stat.S_ISREG(about.st_mode) and about.st_size <= LARGEST:
                yield path.read_text(errors="replace")
        except OSError:
            continue
