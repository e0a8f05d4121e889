"""Having a data folder examined in this process, with no agent to start."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen

from midstream.server.cli.doctor.examination import examine
from midstream.server.cli.doctor.report import Report


@frozen
class Examined:
    """What was found, but for the agents, of which none is configured."""

    report: Report

    def about(self, subject: str) -> list[tuple[str, str]]:
        """Return severity and message of each finding about a subject."""
        return [(found.severity, found.message) for found in self.report.findings if found.subject == subject]

    @property
    def errors(self) -> list[tuple[str, str]]:
        """Return subject and message of what is wrong; for each there is something to do."""
        wrong = [found for found in self.report.findings if found.severity == "error" and found.subject != "agents"]
        assert all(found.action for found in wrong), wrong
        return [(found.subject, found.message) for found in wrong]

    @property
    def wrong(self) -> list[str]:
        """Return the subjects of what is wrong."""
        return [subject for subject, _ in self.errors]


async def examined(data: Path, config: Path = Path(os.devnull), *, rebuilding: bool = False) -> Examined:
    """Examine a data folder."""
    return Examined(await examine(data, config, named=False, rebuilding=rebuilding))


@contextmanager
def locked(folder: Path, content: bytes) -> Iterator[None]:
    """Hold a data folder's lock as its daemon does, with `content` in it."""
    lock = os.open(folder / "daemon.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.ftruncate(lock, 0)
        os.write(lock, content)
        yield
    finally:
        os.close(lock)
