"""The standard streams of a real process, which hands them to a daemon."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

from midstream.server.wire.framing import Decoder, encode
from support import echo_service
from support.echo_service import SECRET
from support.wire_peer import spawned


async def test_stdout_carries_nothing_but_frames_whatever_is_printed() -> None:
    async with spawned() as peer:
        await peer.open()
        assert "result" in await peer.call("thread/search", {"query": "print"})
        assert "result" in await peer.call("thread/list")
        await peer.call("shutdown")
        await peer.notify("exit")

        assert await peer.rest() == []
        assert await peer.status() == 0
        printed = (peer.folder / "log" / "stderr.log").read_text()
        assert "this is no frame" in printed
        assert "nor this" in printed


async def test_a_process_ends_when_its_stdin_does() -> None:
    async with spawned() as peer:
        await peer.open()
        await peer.hang_up()

        assert await peer.status() == 0


def test_stdin_and_stdout_may_be_files(tmp_path: Path) -> None:
    script = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}},
        {"jsonrpc": "2.0", "id": 2, "method": "thread/list", "params": {"query": "q"}},
        {"jsonrpc": "2.0", "id": 3, "method": "shutdown"},
        {"jsonrpc": "2.0", "method": "exit"},
    ]
    (tmp_path / "in").write_bytes(b"".join(map(encode, script)))
    with (tmp_path / "in").open("rb") as stdin, (tmp_path / "out").open("wb") as stdout:
        done = _run(tmp_path / "data", stdin=stdin, stdout=stdout)

    answers = [json.loads(frame) for frame in Decoder().feed((tmp_path / "out").read_bytes())]  # type: ignore[arg-type]
    assert [answer["id"] for answer in answers] == [1, 2, 3]
    assert done.returncode == 0


def test_a_daemon_started_with_nothing_on_stdin_ends(tmp_path: Path) -> None:
    assert _run(tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode == 0


async def test_a_client_that_never_reads_does_not_make_the_daemon_grow() -> None:
    async with spawned() as peer:
        await peer.open()
        await peer.call("thread/subscribe", {"threadId": "thr_1"})
        flooding = await peer.ask("item/output", {"itemId": "itm_1", "field": "text", "limit": 1500})
        assert peer.process.stderr is not None
        async with asyncio.timeout(30):
            while b"The flood is over." not in await peer.process.stderr.readline():
                pass

        grown = int((await peer.answer(flooding))["result"]["text"])
        assert grown < 40 * 1024  # KiB; nearly 200 MiB were told
        assert [message["method"] for message in peer.told].count("thread/reset") == 1


async def test_log_lines_go_to_stderr_the_file_and_the_client_and_quote_nobody(tmp_path: Path) -> None:
    async with spawned(tmp_path / "logs" / "midstream.log") as peer:
        await peer.open()
        await peer.call("thread/search", {"query": "crash"})
        told = await peer.until("window/logMessage")
        await peer.notify("exit")

        assert await peer.status() == 1
        assert told["params"]["type"] == 1
        file = (tmp_path / "logs" / "midstream.log").read_text()
        for text in (told["params"]["message"], await peer.stderr(), file):
            assert "thread/search failed with ValueError" in text
            assert SECRET not in text


async def test_neither_a_log_file_that_fails_nor_a_stderr_that_nobody_reads_stops_the_daemon(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    async with spawned(tmp_path / "file" / "midstream.log") as peer:
        await peer.open()
        for _ in range(300):
            assert "error" in await peer.call("thread/search", {"query": "crash"})


def _run(folder: Path, **streams: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        [sys.executable, "-m", "support.echo_service", str(folder)],
        cwd=Path(echo_service.__file__).parents[1],
        stderr=subprocess.PIPE,
        timeout=30,
        check=False,
        **streams,
    )
