"""Looking for a phrase in everything that a daemon keeps."""

import subprocess
from collections.abc import Iterator
from pathlib import Path


def files_that_hold(phrase: str, folder: Path, *, but: str = "") -> list[str]:
    """Return the names of all files below a folder that hold a phrase, git's objects unpacked; leave out `but`."""
    found = [name for name, content in _contents(folder) if phrase.casefold().encode() in content.lower()]
    return sorted(name for name in found if not but or not name.startswith(but))


def _contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield str(path.relative_to(folder)), path.read_bytes()
    for shadow in folder.rglob("shadow.git"):
        objects = ["git", "--git-dir", str(shadow), "cat-file", "--batch", "--batch-all-objects"]
        yield f"{shadow.relative_to(folder)}/objects", subprocess.run(objects, check=True, capture_output=True).stdout
