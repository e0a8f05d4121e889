"""The data folder is its owner's alone, whatever the umask and whatever it was before."""

import os
import stat
from pathlib import Path
from typing import Final

OURS: Final = ("midstream.db", "daemon.lock")
"""What tells a data folder from any other."""

OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def secure(folder: Path) -> None:
    """Make the data folder where it is missing, and let nobody but this user into it.

    One that was open to others is closed, with all that is in it. That would lock others out of a folder that is not
    Midstream's, so such a one is refused.

    Raises:
        PermissionError: it is another user's, or open to others and not Midstream's.
        OSError: it cannot be made.
    """
    _make(folder.absolute())
    found = folder.stat()
    if found.st_uid != os.geteuid():
        raise PermissionError(f"{folder} is another user's; choose a folder of your own.")
    if not found.st_mode & OTHERS:
        return
    if any(folder.iterdir()) and not any((folder / name).exists() for name in OURS):
        raise PermissionError(
            f"{folder} holds other things and is open to other users;"
            " choose a folder for Midstream alone, or close this one with chmod 700."
        )
    folder.chmod(stat.S_IRWXU)
    for path in folder.rglob("*"):
        _close(path)


def _make(folder: Path) -> None:
    """Make a folder, and those above it, for their owner alone; mkdir's own `parents` leaves those to the umask."""
    if not folder.is_dir():
        _make(folder.parent)
        folder.mkdir(mode=stat.S_IRWXU, exist_ok=True)


def _close(path: Path) -> None:
    found = path.lstat()
    # A file with a second name is the user's own too: git's objects are linked into the checkpoints.
    linked = stat.S_ISREG(found.st_mode) and found.st_nlink > 1
    if found.st_uid == os.geteuid() and not path.is_symlink() and not linked:
        path.chmod(stat.S_IMODE(found.st_mode) & ~OTHERS)
