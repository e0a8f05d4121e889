"""The data folder itself: is it there, is it ours, is it ours alone, and is there room."""

import os
import shutil
import stat
from pathlib import Path
from typing import Final

from midstream.server.cli.doctor.finding import Finding, error, ok, warning
from midstream.server.cli.printing import human

ROOM: Final = 200_000_000
"""Free bytes below which a run may soon not be stored."""
ELSEWHERE: Final = "choose another one with --data-dir"


def look_at_folder(folder: Path) -> Finding:
    """Say whether the data folder can be used. Raises OSError."""
    try:
        found = folder.stat()
    except FileNotFoundError:
        return ok("data folder", "not there yet; the first midstream serve makes it")
    except NotADirectoryError:
        return error("data folder", f"{folder} lies below a file", f"Move the file away, or {ELSEWHERE}.")
    if not stat.S_ISDIR(found.st_mode):
        return error("data folder", f"{folder} is no folder", f"Move it away, or {ELSEWHERE}.")
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        message = f"{folder} cannot be read and written by this user"
        return error("data folder", message, f"Make it yours (chown, chmod), or {ELSEWHERE}.")
    if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        return warning("data folder", f"{folder} is open to other users", f"Close it to them: chmod go= '{folder}'")
    free = shutil.disk_usage(folder).free
    if free < ROOM:
        return warning("data folder", f"only {human(free)} are free on its disk", "Make room: runs need it.")
    return ok("data folder", f"private; {human(free)} are free on its disk")


def readable(folder: Path) -> bool:
    """Whether there is a folder whose content can be looked at."""
    return os.access(folder, os.R_OK | os.X_OK) and folder.is_dir()
