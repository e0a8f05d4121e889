"""The versions of what Midstream is made of and stands on."""

import platform
import sqlite3
from typing import Final

from midstream.server.checkpoints import GitFailed, git_version
from midstream.server.cli.doctor.finding import Finding, error
from midstream.server.version import VERSION

MISSING: Final = "missing"


async def versions(findings: list[Finding]) -> dict[str, str]:
    """Return the versions by name; what is missing is noted in `findings`."""
    try:
        git = await git_version()
    except GitFailed as failed:
        git = MISSING
        findings.append(error("git", f"{failed}; no checkpoint can be taken", "Install Git, and put it on the PATH."))
    return {
        "midstream": VERSION,
        "python": platform.python_version(),
        "git": git,
        "sqlite": sqlite3.sqlite_version,
    }
