"""Looking at everything in turn. What a check cannot do is a finding too, and keeps no other check from its work."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from midstream.protocol.base import ThreadId
from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.config import Config
from midstream.server.checkpoints import CheckpointError, repositories
from midstream.server.cli.doctor.agents import look_at_agents
from midstream.server.cli.doctor.checkpoints import compare, examine_repository
from midstream.server.cli.doctor.daemon import RunningDaemon, look_at_daemon, running_daemon
from midstream.server.cli.doctor.database import EMPTY, Contents, look_at_database
from midstream.server.cli.doctor.disk import DiskUse, disk_use
from midstream.server.cli.doctor.finding import Finding, error, ok
from midstream.server.cli.doctor.folder import look_at_folder, readable
from midstream.server.cli.doctor.leftovers import look_at_attachments, look_at_orphans
from midstream.server.cli.doctor.rebuild import rebuild
from midstream.server.cli.doctor.report import Report
from midstream.server.cli.doctor.versions import versions
from midstream.server.cli.probing import probed
from midstream.server.providers.orphans import orphans
from midstream.server.runtime.settings import read_file
from midstream.server.store import StoreFailed, inspecting

DATABASE: Final = "midstream.db"


async def examine(folder: Path, config: Path, *, named: bool, rebuilding: bool) -> Report:
    """Look at everything and return what was found."""
    examination = Examination(folder)
    settings = read_file(config, Config(), named=named)
    for problem in settings.problems:
        examination.add(error("configuration", problem.message, f"Correct {config}; what is wrong in it is not used."))
    found = await versions(examination.findings)
    daemon = await examination.data_folder(rebuilding=rebuilding)
    with examination.guarded("processes"):
        examination.add(look_at_orphans(orphans()))
    agents = await probed(settings.config)
    examination.add(*look_at_agents(agents, config))
    return Report(
        versions=found,
        paths={
            "data": str(folder),
            "database": str(folder / DATABASE),
            "log": str(folder / "log" / "midstream.log"),
            "configuration": str(config),
        },
        daemon=daemon,
        agents=agents,
        findings=tuple(examination.findings),
        disk=examination.disk,
    )


class Examination:
    """One data folder, and what was found of it so far."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.findings: list[Finding] = []
        self.disk: DiskUse | None = None

    def add(self, *findings: Finding) -> None:
        """Note what was found."""
        self.findings.extend(findings)

    @contextmanager
    def guarded(self, subject: str) -> Iterator[None]:
        """Note what could not be looked at, and why."""
        try:
            yield
        except MidstreamError as problem:
            # The last sentence of these says what to do.
            message, _, action = problem.message.rpartition(". ")
            self.add(error(subject, message, action))
        except (StoreFailed, CheckpointError, OSError) as problem:
            action = f"Look at who may read and write {self._folder}, and at the room on its disk."
            self.add(error(subject, str(problem), action))
        except Exception as problem:  # a doctor that falls over tells nothing
            message = f"could not be looked at: {type(problem).__name__}: {problem}"
            self.add(error(subject, message, "Report this, it is a fault of Midstream."))

    async def data_folder(self, *, rebuilding: bool) -> RunningDaemon | None:
        """Look at all that is in the data folder; return the daemon that serves it."""
        daemon = None
        with self.guarded("data folder"):
            self.add(look_at_folder(self._folder))
        if not readable(self._folder):
            return None
        with self.guarded("daemon"):
            daemon = running_daemon(self._folder)
            self.add(*look_at_daemon(self._folder, daemon))
        if rebuilding:
            with self.guarded("rebuild"):
                self.add(await rebuild(self._folder / DATABASE, daemon))
        contents = self._database(daemon)
        sizes = await self._checkpoints(contents)
        if contents is not None:
            with self.guarded("attachments"):
                self.add(*look_at_attachments(self._folder / "attachments", contents.images))
        with self.guarded("disk use"):
            self.disk = disk_use(self._folder, contents or EMPTY, sizes)
        return daemon

    def _database(self, daemon: RunningDaemon | None) -> Contents | None:
        path = self._folder / DATABASE
        with self.guarded("database"):
            if not path.exists():
                self.add(ok("database", "not there yet"))
                return EMPTY
            with inspecting(path) as inspection:
                findings, contents = look_at_database(inspection, path, daemon, datetime.now(UTC))
            self.add(*findings)
            return contents
        return None

    async def _checkpoints(self, contents: Contents | None) -> dict[ThreadId, int]:
        folder = self._folder / "checkpoints"
        sizes: dict[ThreadId, int] = {}
        with self.guarded("checkpoints"):
            examined = [await examine_repository(repository) for repository in repositories(folder)]
            self.add(*(one.finding for one in examined))
            for one in examined:
                for thread_id, size in one.sizes.items():
                    sizes[thread_id] = sizes.get(thread_id, 0) + size
            if contents is not None:
                self.add(*compare(contents.checkpoints, [kept for one in examined for kept in one.kept], folder))
        return sizes
