"""All that the doctor found, for a person or as JSON."""

import json
from collections.abc import Mapping
from typing import Final

from attrs import asdict, frozen

from midstream.protocol.base import JsonObject
from midstream.protocol.converter import make_converter
from midstream.protocol.records.provider import Provider
from midstream.server.cli.doctor.daemon import RunningDaemon
from midstream.server.cli.doctor.disk import DiskUse
from midstream.server.cli.doctor.finding import Finding, Severity, counted
from midstream.server.cli.printing import columns, plain

WORST_FIRST: Final[tuple[Severity, ...]] = ("error", "warning", "ok")


@frozen(kw_only=True)
class Report:
    """What was looked at; `disk` is None where the data folder is not there or cannot be read."""

    versions: Mapping[str, str]
    paths: Mapping[str, str]
    daemon: RunningDaemon | None
    agents: tuple[Provider, ...]
    findings: tuple[Finding, ...]
    disk: DiskUse | None

    @property
    def well(self) -> bool:
        """Whether nothing is wrong with what Midstream owns."""
        return not self._count("error")

    def json(self) -> str:
        """Return it as JSON: agents as on the wire, sizes in bytes."""
        value: JsonObject = {
            "well": self.well,
            "versions": dict(self.versions),
            "paths": dict(self.paths),
            "daemon": None if self.daemon is None else asdict(self.daemon),
            "agents": [make_converter().unstructure(agent) for agent in self.agents],
            "findings": [asdict(finding) for finding in self.findings],
            "disk": None if self.disk is None else self.disk.json(),
        }
        return json.dumps(value, indent=2)

    def lines(self) -> list[str]:
        """Return it for a person, the worst first."""
        head = [", ".join(f"{name} {version}" for name, version in self.versions.items())]
        head += columns([(name, plain(path)) for name, path in self.paths.items()])
        found = sorted(self.findings, key=lambda finding: WORST_FIRST.index(finding.severity))
        body = [line for finding in found for line in _lines(finding)]
        count = f"{counted(self._count('error'), 'error')}, {counted(self._count('warning'), 'warning')}."
        return [*head, "", *body, "", *([*self.disk.lines(), ""] if self.disk else []), count]

    def _count(self, severity: Severity) -> int:
        return sum(finding.severity == severity for finding in self.findings)


def _lines(finding: Finding) -> list[str]:
    said = [f"{finding.severity:<7}  {plain(finding.subject)}: {plain(finding.message)}"]
    return said if finding.action is None else [*said, f"         → {plain(finding.action)}"]
