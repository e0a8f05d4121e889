"""The database: whole, of this version, in step with its log, and nothing in it that is stuck."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from attrs import frozen

from midstream.protocol.base import ThreadId
from midstream.server.cli.doctor.daemon import RunningDaemon
from midstream.server.cli.doctor.finding import Finding, counted, error, ok, warning
from midstream.server.cli.doctor.threads import look_at_threads
from midstream.server.cli.printing import human
from midstream.server.store import VERSION, Inspection, NamedCheckpoint, StoredBytes

SUBJECT: Final = "database"
LARGE_WAL: Final = 64_000_000
"""Bytes beyond which a write-ahead log is not being written back, as it should be every few megabytes."""


@frozen(kw_only=True)
class Contents:
    """What the database names, for those who look at the rest of the data folder."""

    titles: Mapping[ThreadId, str]
    checkpoints: tuple[NamedCheckpoint, ...] = ()
    images: Mapping[str, frozenset[ThreadId]]
    sizes: tuple[StoredBytes, ...] = ()


EMPTY: Final = Contents(titles={}, images={})


def look_at_database(
    inspection: Inspection, path: Path, daemon: RunningDaemon | None, now: datetime
) -> tuple[list[Finding], Contents | None]:
    """Say how the database is, and what it names where that can be read. Raises MidstreamError, StoreFailed."""
    if damage := inspection.damage():
        action = f"Move {path} away, or bring back a copy of it; its threads are lost otherwise."
        return [error(SUBJECT, f"damaged: {'; '.join(damage)}", action)], None
    if inspection.version < VERSION:
        action = "Start midstream serve once, which brings it up to date."
        return [warning(SUBJECT, f"whole, of the older version {inspection.version}", action)], None
    findings = [*_figures(inspection, path)]
    findings += look_at_threads(inspection.live_threads(), daemon_runs=daemon is not None, now=now)
    return findings, _contents(inspection)


def _figures(inspection: Inspection, path: Path) -> list[Finding]:
    wal = _size(path.with_name(f"{path.name}-wal"))
    effects = counted(inspection.pending_effects(), "pending effect")
    findings = [ok(SUBJECT, f"whole, version {inspection.version}, write-ahead log {human(wal)}, {effects}")]
    if strays := inspection.strays():
        action = "Run midstream doctor --rebuild while no daemon runs: it makes the tables anew from the log."
        findings.append(error(SUBJECT, f"its tables and its log disagree in {counted(strays, 'place')}", action))
    if wal > LARGE_WAL:
        action = "Close whatever else has the database open, and start midstream serve anew."
        findings.append(warning(SUBJECT, f"its write-ahead log has grown to {human(wal)}", action))
    return findings


def _contents(inspection: Inspection) -> Contents:
    entries = [entry for archived in (False, True) for entry in inspection.threads(workspace=None, archived=archived)]
    return Contents(
        titles={entry.thread.id: entry.thread.title for entry in entries},
        checkpoints=inspection.checkpoints(),
        images=inspection.images(),
        sizes=inspection.sizes(),
    )


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
