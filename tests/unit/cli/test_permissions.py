"""The commands of a user who may not read the data folder."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from midstream.server.cli.listing import list_threads
from support.doctor import examined
from support.nobody import as_nobody


@pytest.fixture
def forbidden(data: Path) -> Iterator[Path]:
    """A data folder that can be found and not entered; that this is so is looked at first."""
    closed = [folder for folder in data.parents if folder.stat().st_mode & 0o001 == 0]
    for folder in closed:
        folder.chmod(folder.stat().st_mode | 0o001)
    if os.geteuid() != 0:
        data.chmod(0)

    def enter() -> bool:
        try:
            list(data.iterdir())
        except PermissionError:
            return False
        return True

    assert not as_nobody(enter)
    yield data
    data.chmod(0o700)
    for folder in closed:
        folder.chmod(folder.stat().st_mode & ~0o001)


def test_a_data_folder_that_may_not_be_entered_is_an_error(forbidden: Path) -> None:
    errors = as_nobody(lambda: asyncio.run(examined(forbidden)).errors)
    assert errors == [("data folder", f"{forbidden} cannot be read and written by this user")]


def test_a_data_folder_that_may_not_be_found_is_an_error(forbidden: Path) -> None:
    ((subject, message),) = as_nobody(lambda: asyncio.run(examined(forbidden / "below")).errors)
    assert (subject, "Permission denied" in message) == ("data folder", True)


def test_a_database_that_may_not_be_read_is_an_error(forbidden: Path) -> None:
    if os.geteuid() != 0:
        forbidden.chmod(0o500)
        (forbidden / "midstream.db").chmod(0)
    else:
        forbidden.chmod(0o755)
    errors = as_nobody(lambda: asyncio.run(examined(forbidden)).errors)
    assert ("database", f"{forbidden / 'midstream.db'}: unable to open database file") in errors


def test_threads_that_may_not_be_read_are_not_listed(forbidden: Path) -> None:
    assert as_nobody(lambda: list_threads(forbidden, None, archived=False, as_json=False)) == 1
