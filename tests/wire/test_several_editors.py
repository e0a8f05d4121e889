"""Several editors on one data folder: one daemon, which outlives each of them while it is needed."""

import asyncio
import fcntl
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from midstream.protocol.notifications import ThreadEvent
from midstream.server.version import VERSION
from support.editor import PATIENCE, SERVE, Editor, daemon_pid, editor_on, process_gone, serve_command
from support.raw import RawClient, framed, raw_client, request

OTHER_VERSION = [*SERVE[:-1], "import midstream.server.version as v; v.VERSION = '9.9.9'; " + SERVE[-1]]

HEAVY = {"asyncio", "attr", "attrs", "cattrs", "pygls", "lsprotocol", "orjson", "aiosqlite", "sqlite3"}


@pytest.fixture
async def pair(tmp_path: Path) -> AsyncIterator[tuple[Editor, Editor]]:
    """Two editors on one data folder, of which the first started the daemon."""
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(editor_on(tmp_path / "data", "--rehearsal"))
        second = await stack.enter_async_context(editor_on(tmp_path / "data", "--rehearsal"))
        yield first, second


def problems(editor: Editor) -> list[str]:
    """Return the keys of what was wrong with an editor's configuration."""
    told = editor.capabilities_told["capabilities"]["experimental"]["midstream"]
    return [problem["key"] for problem in told["configProblems"]]


async def refused(command: list[str]) -> tuple[dict[str, Any], str]:
    """Start a client that no daemon serves; return the error that it is answered, and its stderr."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    said, printed = await asyncio.wait_for(
        process.communicate(framed(request("first", "initialize", {"capabilities": {}}))), PATIENCE
    )
    assert process.returncode == 1
    answer = json.loads(said.partition(b"\r\n\r\n")[2])
    assert answer["id"] == "first"
    return answer["error"], printed.decode()


async def test_two_editors_see_one_thread_live_and_both_may_act(pair: tuple[Editor, Editor], workspace: Path) -> None:
    first, second = pair
    thread = await first.new_thread(workspace)
    await second.call("thread/subscribe", thread_id=thread.id)
    run = await first.begin(thread, "say: from the first")
    await second.until_output(run, "from the first")
    again = await second.say(thread, "say: from the second", "understudy")
    await first.until_run(again, "completed")
    await second.ended(run)
    for editor in pair:
        await editor.until_run(again, "completed")
    events = [[(e.sequence, e.record) for e in editor.all_told(ThreadEvent) if e.sequence > 1] for editor in pair]
    assert events[0] == events[1]
    assert first.daemon_pid() == second.daemon_pid()


async def test_an_approval_that_one_editor_answers_is_closed_in_the_other(
    pair: tuple[Editor, Editor], workspace: Path
) -> None:
    first, second = pair
    thread = await first.new_thread(workspace, runtime_mode="approvalRequired")
    run = await first.begin(thread, "run true")
    asked = await second.asked(run)
    await second.call("request/respond", request_id=asked.id, decision="accept")
    await first.until(lambda n: type(n).__name__ == "RequestClosed" and n.request.id == asked.id)  # type: ignore[union-attr]
    assert (await first.ended(run)).status == "completed"


async def test_the_daemon_outlives_the_editor_that_started_it(pair: tuple[Editor, Editor], workspace: Path) -> None:
    first, second = pair
    pid = first.daemon_pid()
    thread = await second.new_thread(workspace)
    children = psutil.Process(first.process.pid).children(recursive=True)
    assert children == []  # an editor that kills all that it started kills no daemon
    first.process.kill()
    await first.process.wait()
    assert (await second.say(thread, "say: still here")).status == "completed"
    assert second.daemon_pid() == pid
    assert await second.leave() == 0
    await process_gone(pid)


async def test_the_first_editor_may_leave_before_the_second(pair: tuple[Editor, Editor], workspace: Path) -> None:
    first, second = pair
    thread = await first.new_thread(workspace)
    assert await first.leave() == 0
    assert (await second.say(thread, "say: still here")).status == "completed"


async def test_a_daemon_stays_for_its_idle_time_and_the_next_editor_finds_its_agents_warm(
    tmp_path: Path, workspace: Path
) -> None:
    data, config = tmp_path / "data", {"daemon": {"idleMinutes": 10}}
    async with editor_on(data, "--rehearsal", config=config) as editor:
        thread = await editor.new_thread(workspace)
        run = await editor.say(thread, "say: one")
        pid = editor.daemon_pid()
    assert psutil.pid_exists(pid)
    async with editor_on(data, "--rehearsal", config={"daemon": {"idleMinutes": 0}}) as editor:
        assert editor.daemon_pid() == pid
        assert problems(editor) == []  # whoever is alone is the first
        await editor.call("thread/subscribe", thread_id=thread.id)
        again = await editor.say(thread, "say: two")
        assert again.provider_thread_id == run.provider_thread_id
        assert len({s.id for s in (n.record for n in editor.all_told(ThreadEvent)) if hasattr(s, "pid")}) <= 1
    await process_gone(pid)


async def test_another_editors_flags_and_options_are_problems_that_it_is_told(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with editor_on(data, config={"handoff": {"maxHandoffs": 3}}) as first:
        assert problems(first) == []
        async with editor_on(data, "--rehearsal", config={"handoff": {"maxHandoffs": 4}}) as second:
            assert problems(second) == ["--rehearsal", "config"]
            assert {p.kind for p in (await second.call("provider/list")).providers} == {"codex", "claude"}
        async with editor_on(data, config={"handoff": {"maxHandoffs": 3}}) as third:
            assert problems(third) == []


async def test_editors_that_start_at_once_get_one_daemon(tmp_path: Path) -> None:
    for attempt in range(5):
        data = tmp_path / str(attempt)
        async with AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(raw_client(data)) for _ in range(4)]
            await asyncio.gather(*(client.initialize() for client in clients))
            pid = daemon_pid(data)
            daemons = [p.pid for p in psutil.process_iter(["cmdline"]) if is_daemon(p, data)]
            assert daemons == [pid]


def is_daemon(process: psutil.Process, data: Path) -> bool:
    """Say whether a process is a daemon that works in this folder."""
    try:
        return process.ppid() == 1 and Path(process.cwd()) == data
    except psutil.Error:
        return False


async def test_editors_that_come_and_go_while_a_daemon_ends_are_all_served(tmp_path: Path) -> None:
    data = tmp_path / "data"

    async def visit(_: int) -> None:
        async with raw_client(data) as client:
            await client.initialize()
            assert await client.result("thread/list") == {"threads": [], "nextCursor": None}

    async def visits() -> None:
        for number in range(6):
            await visit(number)

    await asyncio.gather(visits(), visits(), visits())


async def test_what_a_killed_daemon_left_needs_nobody(tmp_path: Path, workspace: Path) -> None:
    data = tmp_path / "data"
    async with editor_on(data, "--rehearsal") as editor:
        thread = await editor.new_thread(workspace)
        await editor.kill()
    assert (data / "daemon.sock").exists()
    assert (data / "daemon.lock").exists()
    async with editor_on(data, "--rehearsal") as editor:
        assert (await editor.read(thread)).thread.id == thread.id


async def test_a_stopped_editor_process_keeps_nobody_waiting(pair: tuple[Editor, Editor], workspace: Path) -> None:
    first, second = pair
    thread = await first.new_thread(workspace)
    first.process.send_signal(signal.SIGSTOP)
    assert (await second.say(thread, "say: nobody is in the way")).status == "completed"
    first.process.send_signal(signal.SIGCONT)


async def test_sigterm_to_what_an_editor_started_ends_that_connection_alone(pair: tuple[Editor, Editor]) -> None:
    first, second = pair
    first.process.terminate()
    assert await first.process.wait() == -signal.SIGTERM
    assert (await second.call("thread/list")).threads == ()


async def test_exit_without_shutdown_is_status_1_for_that_editor_alone(pair: tuple[Editor, Editor]) -> None:
    first, second = pair
    first.protocol.notify("exit", None)
    assert await asyncio.wait_for(first.process.wait(), PATIENCE) == 1
    assert (await second.call("thread/list")).threads == ()


async def test_a_midstream_of_another_version_is_told_which_one_serves_and_what_to_do(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with editor_on(data) as editor:
        error, printed = await refused([*OTHER_VERSION, "serve", "--data-dir", str(data), "--config", os.devnull])
        assert (error["code"], error["data"]["kind"]) == (4010, "storeLocked")
        for words in (VERSION, "9.9.9", str(editor.daemon_pid()), "close"):
            assert words in error["message"]
        assert error["message"] in printed
        assert (await editor.call("thread/list")).threads == ()


async def test_a_daemon_of_another_version_that_only_waits_gives_way(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with editor_on(data, config={"daemon": {"idleMinutes": 10}}) as editor:
        pid = editor.daemon_pid()
    process = await asyncio.create_subprocess_exec(
        *OTHER_VERSION, "serve", "--data-dir", str(data), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    client = RawClient(process)
    assert (await client.initialize())["serverInfo"]["version"] == "9.9.9"
    assert daemon_pid(data) != pid
    await process_gone(pid)
    await client.close_input()
    assert await client.status() == 0


async def test_the_socket_and_the_lock_are_the_owners_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"
    before = os.umask(0)
    try:
        async with editor_on(data):
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in data.iterdir()}
    finally:
        os.umask(before)
    assert (modes["daemon.sock"], modes["daemon.lock"]) == (0o600, 0o600)
    assert stat.S_IMODE(data.stat().st_mode) == 0o700


async def test_another_user_is_turned_away_even_where_the_socket_is_open_to_all(tmp_path: Path) -> None:
    reachable = Path("/tmp") / f"midstream-{os.getpid()}"
    try:
        async with editor_on(reachable) as editor:
            knock = (
                "import os, socket, sys; os.setuid(65534); s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
                "sys.exit(len(s.recv(1)))"
            )
            sock = reachable / "daemon.sock"
            command = [sys.executable, "-S", "-c", knock, str(sock)]
            plainly = await asyncio.to_thread(subprocess.run, command, capture_output=True)
            assert b"PermissionError" in plainly.stderr
            reachable.chmod(0o755)
            sock.chmod(0o666)
            turned_away = await asyncio.to_thread(subprocess.run, command, capture_output=True)
            assert turned_away.returncode == 0, turned_away.stderr
            assert "another user" in (reachable / "log" / "midstream.log").read_text()
            assert (await editor.call("thread/list")).threads == ()
    finally:
        shutil.rmtree(reachable)


async def test_a_socket_that_another_user_put_there_is_not_spoken_to(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as trap, (data / "daemon.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        trap.bind(str(data / "daemon.sock"))
        trap.listen()
        os.chown(data / "daemon.sock", 65534, 65534)
        error, _ = await refused(serve_command(data))
        assert "not a socket of this user" in error["message"]


@pytest.mark.parametrize("words", [b"", b"\n", b"not json\n", b"{}\n", b"[]\n", b"x" * 70_000])
async def test_whoever_knocks_without_manners_disturbs_nobody(tmp_path: Path, words: bytes) -> None:
    data = tmp_path / "d"
    async with editor_on(data) as editor:
        with socket.socket(socket.AF_UNIX) as knocking:
            knocking.settimeout(PATIENCE)
            await asyncio.to_thread(knocking.connect, str(data / "daemon.sock"))
            knocking.sendall(words)
            knocking.shutdown(socket.SHUT_WR)
            with suppress(ConnectionResetError):
                assert await asyncio.to_thread(knocking.recv, 1) == b""
        assert (await editor.call("thread/list")).threads == ()


async def test_the_data_folder_may_be_named_in_the_first_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "elsewhere"))
    data = tmp_path / "named"
    process = await asyncio.create_subprocess_exec(
        *SERVE, "serve", "--config", os.devnull, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    client = RawClient(process)
    await client.initialize(dataDir=str(data))
    async with editor_on(data) as editor:
        assert editor.daemon_pid() == daemon_pid(data)
    assert not (tmp_path / "elsewhere").exists()
    await client.close_input()
    assert await client.status() == 0


@pytest.mark.parametrize(
    "first", [b"Content-Length: 3\r\n\r\n{{{", b"Content-Length: 2\r\n\r\n[]", b"Nonsense\r\n\r\n"]
)
async def test_a_first_message_that_is_none_is_the_daemons_to_refuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: bytes
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    process = await asyncio.create_subprocess_exec(*SERVE, "serve", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    client = RawClient(process)
    await client.send_bytes(first)
    assert (await client.next())["error"]["code"] in (-32700, -32600)
    await client.close_input()
    assert await client.status() == 0


async def test_a_path_longer_than_a_socket_can_hold_is_no_matter(tmp_path: Path) -> None:
    data = tmp_path / ("long" * 50) / "data"
    async with editor_on(data) as editor:
        assert (await editor.call("thread/list")).threads == ()


async def test_a_data_folder_that_cannot_be_used_is_said_to_the_client(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    error, printed = await refused(serve_command(tmp_path / "file"))
    assert error["code"] == 4010
    assert str(tmp_path / "file") in error["message"]
    assert error["message"] in printed


async def test_attaching_to_a_daemon_imports_nothing_heavy(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with editor_on(data) as editor:
        show = SERVE[-1].replace("sys.exit(main())", "status = main(); print(*sys.modules, file=sys.stderr)")
        command = [*SERVE[:-1], show, "serve", "--data-dir", str(data), "--config", os.devnull]
        process = await asyncio.create_subprocess_exec(
            *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        client = RawClient(process)
        await client.initialize()
        await client.close_input()
        await client.status()
        assert process.stderr is not None
        imported = {name.partition(".")[0] for name in (await process.stderr.read()).decode().split()}
        assert "midstream" in imported
        assert not imported & {
            "asyncio",
            "attrs",
            "attr",
            "cattrs",
            "pygls",
            "lsprotocol",
            "orjson",
            "aiosqlite",
            "sqlite3",
        }
        assert (await editor.call("thread/list")).threads == ()


async def test_a_client_whose_daemon_dies_ends_with_status_1_and_says_so(tmp_path: Path) -> None:
    data = tmp_path / "data"
    process = await asyncio.create_subprocess_exec(
        *serve_command(data), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    client = RawClient(process)
    await client.initialize()
    os.kill(daemon_pid(data), signal.SIGKILL)
    assert await client.status() == 1
    assert process.stderr is not None
    assert "ended unexpectedly" in (await process.stderr.read()).decode()


async def test_a_daemon_that_does_not_answer_is_not_waited_for_without_end(tmp_path: Path) -> None:
    data = tmp_path / "data"
    hasty = [*SERVE[:-1], "import midstream.server.wire.attaching as a; a.PATIENCE_SECONDS = 0.3; " + SERVE[-1]]
    async with editor_on(data) as editor:
        os.kill(editor.daemon_pid(), signal.SIGSTOP)
        try:
            process = await asyncio.create_subprocess_exec(
                *hasty, "serve", "--data-dir", str(data), stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            error = await RawClient(process).error("initialize", {"capabilities": {}})
            assert await asyncio.wait_for(process.wait(), PATIENCE) == 1
        finally:
            os.kill(editor.daemon_pid(), signal.SIGCONT)
        assert "does not answer" in error["message"]
        assert (await editor.call("thread/list")).threads == ()


async def test_an_editor_that_ignores_the_ends_of_its_children_is_served_too(tmp_path: Path, workspace: Path) -> None:
    data = tmp_path / "data"
    ignoring = (
        "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        ignoring,
        *serve_command(data, "--rehearsal"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    client = RawClient(process)
    await client.initialize()
    run = await client.begin(await client.new_thread(workspace, mode="fullAccess"), "run true\nsay: done")
    assert (await client.result("run/wait", {"runId": run}))["run"]["status"] == "completed"
    await client.close_input()
    assert await client.status() == 0
