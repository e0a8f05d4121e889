"""What a restore is about to do, written down before the first file is touched."""

import json
import os
from pathlib import Path

from attrs import frozen

from midstream.server.checkpoints.model import Step, Version


@frozen
class Journal:
    """The steps of a restore below `folder`, which is known by device and inode.

    `mark` begins the names of its passing files there.
    """

    folder: Path
    device: int
    inode: int
    mark: str
    steps: tuple[Step, ...]

    def save(self, file: Path) -> None:
        """Write the journal so that it is there whole, or not at all."""
        part = file.with_suffix(".part")
        steps = [[os.fsdecode(step.path), _pair(step.before), _pair(step.after)] for step in self.steps]
        with part.open("w") as out:
            where = {"folder": str(self.folder), "device": self.device, "inode": self.inode}
            json.dump({**where, "mark": self.mark, "steps": steps}, out)
            out.flush()
            os.fsync(out.fileno())
        part.replace(file)


def load(file: Path) -> Journal | None:
    """Return the journal that a restore left behind, or None."""
    try:
        fields = json.loads(file.read_text())
    except FileNotFoundError:
        return None
    steps = (Step(os.fsencode(path), _version(before), _version(after)) for path, before, after in fields["steps"])
    where = Path(fields["folder"]), fields["device"], fields["inode"]
    return Journal(*where, fields["mark"], tuple(steps))


def _pair(version: Version | None) -> tuple[str, str] | None:
    return None if version is None else (version.mode, version.blob)


def _version(pair: tuple[str, str] | None) -> Version | None:
    return None if pair is None else Version(*pair)
