"""The data folder: made, closed, or refused."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from midstream.server.wire.premises import secure


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    """Create everything for all the world, as long as nobody says otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_new_folder_and_those_made_above_it_are_their_owners_alone(tmp_path: Path) -> None:
    before = mode(tmp_path)
    secure(tmp_path / "a" / "b" / "data")
    assert [mode(tmp_path / name) for name in ("a", "a/b", "a/b/data")] == [0o700] * 3
    assert mode(tmp_path) == before


@pytest.mark.parametrize("name", ["midstream.db", "daemon.lock"])
def test_a_data_folder_that_was_open_is_closed_with_all_in_it(tmp_path: Path, name: str) -> None:
    data = tmp_path / "data"
    (data / "log").mkdir(parents=True, mode=0o777)
    for file in (data / name, data / "log" / "a.log"):
        file.touch(0o666)
    secure(data)
    assert [mode(path) for path in (data, data / "log", data / name, data / "log" / "a.log")] == [
        0o700,
        0o700,
        0o600,
        0o600,
    ]


def test_an_empty_folder_is_taken_and_closed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    secure(data)
    assert mode(data) == 0o700


def test_an_open_folder_of_other_things_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    (shared / "report.txt").touch(0o644)
    with pytest.raises(PermissionError, match="holds other things"):
        secure(shared)
    assert (mode(shared), mode(shared / "report.txt")) == (0o755, 0o644)


def test_a_closed_folder_of_other_things_is_taken(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir(mode=0o700)
    (tmp_path / "mine" / "report.txt").touch(0o644)
    secure(tmp_path / "mine")
    assert mode(tmp_path / "mine" / "report.txt") == 0o644


def test_what_is_linked_from_elsewhere_keeps_its_mode_there(tmp_path: Path) -> None:
    theirs = tmp_path / "object"
    theirs.touch(0o444)
    target = tmp_path / "target"
    target.touch(0o644)
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    (data / "midstream.db").touch()
    (data / "object").hardlink_to(theirs)
    (data / "link").symlink_to(target)
    secure(data)
    assert (mode(theirs), mode(target)) == (0o444, 0o644)


def test_another_users_folder_is_refused(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    os.chown(data, 65534, 65534)
    with pytest.raises(PermissionError, match="another user"):
        secure(data)
