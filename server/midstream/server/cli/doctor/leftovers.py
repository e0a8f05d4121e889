"""What a dead daemon or a deleted thread left behind: agent processes, and attachments that no thread uses."""

from collections.abc import Collection, Mapping
from pathlib import Path

from midstream.protocol.base import ThreadId
from midstream.server.cli.doctor.finding import Finding, counted, error, ok, warning
from midstream.server.cli.printing import human
from midstream.server.providers.orphans import Orphan


def look_at_orphans(orphans: Collection[Orphan]) -> Finding:
    """Say which agent processes nobody looks after."""
    if not orphans:
        return ok("processes", "no agent was left by a dead daemon")
    named = ", ".join(f"{orphan.pid} ({orphan.name})" for orphan in orphans)
    pids = " ".join(str(orphan.pid) for orphan in orphans)
    # Not an error: nothing tells whether it was this data folder's daemon.
    return warning("processes", f"left by a daemon that is dead: {named}", f"End them: kill {pids}")


def look_at_attachments(folder: Path, users: Mapping[str, Collection[ThreadId]]) -> list[Finding]:
    """Say which attachments are missing, and which nobody uses; `users` has the threads of each. Raises OSError."""
    used = {folder / thread_id / name for name, threads in users.items() for thread_id in threads}
    files = {file: file.stat().st_size for file in folder.rglob("*") if file.is_file()}
    findings = []
    if missing := used - files.keys():
        action = f"Bring back {folder} from a backup; runs that are retried without them fail."
        findings.append(error("attachments", f"{counted(len(missing), 'image')} of messages gone", action))
    if unused := {file: size for file, size in files.items() if file not in used}:
        message = f"{counted(len(unused), 'file')} that no thread uses, {human(sum(unused.values()))}"
        findings.append(warning("attachments", message, f"While no daemon runs they may be removed from {folder}."))
    return findings or [ok("attachments", f"{counted(len(files), 'image')}, each used by a thread")]
