"""Disks that are full, and folders that cannot be written."""

import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import pytest_asyncio

from crash.stage import Stage
from crash.verdict import goes_on, nothing_is_broken
from support.editor import Refused

SIZE = "16m"
NO_RIGHTS = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]
"""What takes root's right to write everywhere from a command."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest_asyncio.fixture(loop_scope="session")
async def stage(tmp_path: Path, disk: Path) -> AsyncIterator[Stage]:
    """A stage whose data folder is on the small disk, and nothing else of it."""
    stage = Stage(tmp_path / "home", data=disk / "data")
    try:
        yield stage
    finally:
        await stage.close()


def fill(disk: Path) -> Path:
    """Fill a disk to its last byte, and return the file that does."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        for size in (1 << 16, 1 << 12, 1):
            with suppress(OSError):
                while file.write(b"x" * size) == size:
                    pass
    with pytest.raises(OSError, match="No space left"):
        (disk / "more").write_bytes(b"x" * 4096)
    (disk / "more").unlink()
    return ballast


async def test_a_run_on_a_disk_that_fills_up_ends_once_there_is_room_and_its_client_is_told_once(
    stage: Stage, disk: Path
) -> None:
    editor = await stage.start()
    thread = await editor.new_thread(stage.workspace, "moody")
    await editor.say(thread, stage.words())
    run = await stage.busy(editor, thread)
    ballast = fill(disk)
    stage.open_gate()
    await editor.until_logged("cannot be stored and is tried until it can")
    with pytest.raises(Refused, match=r"could not be stored, and nothing changed: .*Make room") as refused:
        await editor.begin(thread, stage.words())
    assert refused.value.code == -32603
    assert (await editor.read(thread)).thread.status == "running"
    ballast.unlink()
    ended = await editor.ended(run)
    assert ended.status == "failed"
    assert ended.failure is not None
    assert "cannot be stored" in ended.failure.message
    assert len([logged for logged in editor.log_messages if "is tried until it can" in logged.message]) == 1
    await goes_on(stage, editor, thread)
    assert await editor.leave() == 0
    nothing_is_broken(stage)


async def test_a_daemon_that_finds_its_disk_full_says_so_and_opens_once_there_is_room(stage: Stage, disk: Path) -> None:
    editor = await stage.start()
    thread = await editor.new_thread(stage.workspace, "moody")
    run = await stage.busy(editor, thread)
    await stage.crash()
    ballast = fill(disk)
    editor = await stage.launch()
    with pytest.raises(Refused, match="Make room"):
        await editor.start()
    ballast.unlink()
    await editor.start(config={"providers": {}})
    assert (await editor.ended(run)).status == "interrupted"
    assert await editor.leave() == 0
    nothing_is_broken(stage)


@pytest.mark.parametrize("locked", ["folder", "database"])
async def test_a_folder_that_cannot_be_written_is_refused_in_words_and_left_alone(tmp_path: Path, locked: str) -> None:
    stage = Stage(tmp_path / "home")
    without = NO_RIGHTS if os.geteuid() == 0 else []
    try:
        editor = await stage.start()
        thread = await editor.new_thread(stage.workspace)
        await editor.say(thread, stage.words())
        assert await editor.leave() == 0
        place = stage.data if locked == "folder" else stage.data / "midstream.db"
        before = (stage.data / "midstream.db").read_bytes()
        place.chmod(place.stat().st_mode & ~0o222)
        target = place / "new" if locked == "folder" else place
        plain = subprocess.run([*without, "sh", "-c", f"echo >> {target}"], capture_output=True, text=True, check=False)
        assert "ermission denied" in plain.stderr
        editor = await stage.launch(*without)
        with pytest.raises(Refused, match="make the folder writable"):
            await editor.start()
        assert (stage.data / "midstream.db").read_bytes() == before
        place.chmod(place.stat().st_mode | 0o200)
        await editor.start()
        assert len((await editor.read(thread)).runs) == 1
        assert await editor.leave() == 0
    finally:
        await stage.close()
