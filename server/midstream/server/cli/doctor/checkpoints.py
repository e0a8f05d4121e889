"""The checkpoint store: whole, and of one mind with the database."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from midstream.protocol.base import ThreadId
from midstream.server.checkpoints import GitFailed, Kept, ShadowRepository
from midstream.server.cli.doctor.finding import Finding, counted, error, ok, warning
from midstream.server.store import NamedCheckpoint

SUBJECT: Final = "checkpoints"
SECONDS: Final = 60.0
"""How long one repository may take to be looked at."""


@frozen(kw_only=True)
class Examined:
    """One shadow repository: how it is, what it keeps, and the bytes of each thread, as far as could be seen."""

    finding: Finding
    kept: tuple[Kept, ...] = ()
    sizes: Mapping[ThreadId, int] = {}


async def examine_repository(repository: ShadowRepository, seconds: float = SECONDS) -> Examined:
    """Look at one shadow repository, for so many seconds at most."""
    name = repository.workspace or str(repository.git_dir)
    kept: tuple[Kept, ...] = ()
    try:
        async with asyncio.timeout(seconds):
            kept = await repository.kept()
            faults = await repository.faults()
            sizes = {} if faults else await repository.sizes()
    except TimeoutError:
        action = f"Look at them yourself: git -C '{repository.git_dir}' fsck --connectivity-only"
        late = warning(SUBJECT, f"those of {name} could not be looked at within {seconds:g} s", action)
        return Examined(finding=late, kept=kept)
    except GitFailed as failed:
        faults, sizes = (str(failed),), {}
    if not faults:
        whole = ok(SUBJECT, f"{counted(len(kept), 'checkpoint')} of {name}, whole")
        return Examined(finding=whole, kept=kept, sizes=sizes)
    action = f"Bring back {repository.git_dir} from a backup, or move it away: checkpoints then begin anew."
    return Examined(finding=error(SUBJECT, f"those of {name} are damaged: {'; '.join(faults)}", action), kept=kept)


def compare(named: Sequence[NamedCheckpoint], kept: Sequence[Kept], folder: Path) -> list[Finding]:
    """Say which checkpoints the database names and the store has not, and the other way round; pure."""
    refs = {one.ref for one in kept}
    names = {one.ref for one in named}
    missing = [one for one in named if one.ref not in refs]
    unnamed = [one for one in kept if one.ref not in names]
    findings = []
    if missing:
        threads = ", ".join(sorted({one.thread_id for one in missing}))
        message = f"{counted(len(missing), 'checkpoint')} of {threads} gone: their diffs and files cannot be shown"
        action = f"Bring back {folder} from a backup; the conversation itself is whole."
        findings.append(error(SUBJECT, message, action))
    if unnamed:
        findings.append(ok(SUBJECT, f"{counted(len(unnamed), 'checkpoint')} kept that no thread names"))
    return findings
