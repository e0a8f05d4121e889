"""The doctor's way through the command line."""

import asyncio
from pathlib import Path

from midstream.server.cli.doctor.examination import examine
from midstream.server.cli.folders import config_file, data_folder
from midstream.server.cli.printing import write


def doctor(data_dir: Path | None, config: Path | None, *, rebuild: bool, as_json: bool) -> int:
    """Print what was found; return 1 where anything is wrong with what Midstream owns, or no agent can be used."""
    folder = (data_dir or data_folder()).absolute()
    report = asyncio.run(examine(folder, config or config_file(), named=config is not None, rebuilding=rebuild))
    write([report.json()] if as_json else report.lines())
    return 0 if report.well else 1
