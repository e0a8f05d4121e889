"""How a daemon opens its data folder, and closes it."""

from pathlib import Path

import pytest

from midstream.protocol.records.config import Config, StoreConfig
from midstream.server.runtime.daemon import Daemon
from midstream.server.wire.hub import Hub


async def daemon_on(folder: Path, config: Config | None = None) -> Daemon:
    return await Daemon.open(folder, config or Config(), Hub(), {})


@pytest.mark.parametrize(("durable", "synchronous"), [(False, 1), (True, 2)])
async def test_a_durable_store_waits_for_the_disk_at_each_commit(
    tmp_path: Path, durable: bool, synchronous: int
) -> None:
    daemon = await daemon_on(tmp_path, Config(store=StoreConfig(durable=durable)))
    try:
        pragma = "PRAGMA synchronous"
        row = await daemon.store._writing.run(lambda connection: connection.execute(pragma).fetchone())
        assert row == (synchronous,)
    finally:
        await daemon.aclose()


async def test_a_daemon_closes_its_store_although_something_else_cannot_be_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: object) -> None:
        raise OSError("broken")

    monkeypatch.setattr("midstream.server.checkpoints.CheckpointStore.aclose", fail)
    monkeypatch.setattr("midstream.server.runtime.attendance.Attendance.aclose", fail)
    daemon = await daemon_on(tmp_path)
    with pytest.raises(OSError, match="broken"):
        await daemon.aclose()
    monkeypatch.undo()
    await (await daemon_on(tmp_path)).aclose()


async def test_a_daemon_that_cannot_open_lets_go_of_its_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(_: object) -> None:
        raise OSError("broken")

    monkeypatch.setattr(Daemon, "_recover", fail)
    with pytest.raises(OSError, match="broken"):
        await daemon_on(tmp_path)
    monkeypatch.undo()
    await (await daemon_on(tmp_path)).aclose()


async def test_a_daemon_removes_what_a_killed_one_left_half_written(tmp_path: Path) -> None:
    half = tmp_path / "attachments" / "tmpx.partial"
    half.parent.mkdir()
    half.write_bytes(b"half")
    await (await daemon_on(tmp_path)).aclose()
    assert not half.exists()
