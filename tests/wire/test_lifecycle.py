"""From `initialize` to the end of the process."""

import asyncio
import os
import signal
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest

from midstream.protocol.methods.table import METHODS, NOTIFICATIONS
from support.editor import PATIENCE, SERVE, Refused, daemon_pid, editor_on, process_gone, providers
from support.raw import RawClient, notification, raw_client, request


async def test_initialize_tells_the_protocol_its_version_and_its_names(unopened: RawClient) -> None:
    result = await unopened.initialize()
    assert result["serverInfo"] == {"name": "midstream", "version": version("midstream")}
    assert "executeCommandProvider" not in result["capabilities"]
    told = result["capabilities"]["experimental"]["midstream"]
    assert (told["protocolVersion"], told["configProblems"]) == (1, [])
    assert told["notifications"] == sorted(NOTIFICATIONS)
    assert told["methods"] == sorted(set(told["methods"]))


async def test_the_listed_methods_are_exactly_those_that_are_answered(unopened: RawClient) -> None:
    listed = (await unopened.initialize())["capabilities"]["experimental"]["midstream"]["methods"]
    answered = []
    for method in METHODS:
        answer = await unopened.ask(method, {"threadId": 1, "runId": 1, "query": 1})
        if answer.get("error", {}).get("code") != -32601:
            answered.append(method)
    assert sorted(answered) == listed
    assert {"thread/create", "run/start", "handoff/preview", "request/respond"} <= set(listed) < set(METHODS)


async def test_before_initialize_every_request_is_refused_and_nothing_is_lost(unopened: RawClient) -> None:
    for method in ("thread/list", "shutdown", "no/such"):
        assert (await unopened.error(method, {}))["code"] == -32002
    await unopened.initialize()
    assert (await unopened.result("thread/list")) == {"threads": [], "nextCursor": None}


async def test_a_second_initialize_is_refused(raw: RawClient) -> None:
    assert (await raw.error("initialize", {"capabilities": {}, "processId": None}))["code"] == -32600
    assert (await raw.result("thread/list"))["threads"] == []


async def test_what_is_sent_right_behind_initialize_is_answered(unopened: RawClient) -> None:
    params = {"capabilities": {}, "processId": None, "initializationOptions": {"native": True}}
    await unopened.send(request(1, "initialize", params), notification("initialized", {}), request(2, "thread/list"))
    assert "capabilities" in (await unopened.answer_to(1))["result"]
    assert (await unopened.answer_to(2))["result"]["threads"] == []


async def test_a_failed_initialize_can_be_repeated(unopened: RawClient) -> None:
    refused = await unopened.error("initialize", {"capabilities": {}, "processId": "mine"})
    assert (refused["code"], refused["data"]["path"]) == (-32602, "processId")
    await unopened.initialize()
    assert (await unopened.result("thread/list"))["threads"] == []


async def test_after_shutdown_only_exit_is_taken(raw: RawClient) -> None:
    assert (await raw.ask("shutdown"))["result"] is None
    assert (await raw.error("thread/list"))["code"] == -32600
    assert (await raw.error("shutdown"))["code"] == -32600
    await raw.send(notification("exit"))
    assert await raw.status() == 0


async def test_exit_without_shutdown_is_status_1(raw: RawClient) -> None:
    await raw.send(notification("exit"))
    assert await raw.status() == 1


async def test_exit_before_initialize_is_status_1(unopened: RawClient) -> None:
    await unopened.send(notification("exit"))
    assert await unopened.status() == 1


async def test_shutdown_answers_what_is_still_in_flight(raw: RawClient, workspace: Path) -> None:
    thread = await raw.new_thread(workspace)
    run = await raw.begin(thread, "run true")
    await raw.until("request/opened")
    await raw.send(request("wait", "run/wait", {"runId": run}), request("down", "shutdown"), notification("exit"))
    answers = {message["id"]: message for message in await raw.rest() if "id" in message and "method" not in message}
    assert answers["wait"]["error"]["code"] == -32800
    assert answers["down"]["result"] is None


async def test_the_end_of_stdin_ends_the_daemon(raw: RawClient) -> None:
    await raw.send(request("last", "thread/list"))
    await raw.close_input()
    assert await raw.status() == 0
    assert [message["result"]["threads"] for message in raw.heard if message.get("id") == "last"] == [[]]


async def test_the_end_of_the_clients_process_ends_the_daemon(unopened: RawClient) -> None:
    client = subprocess.Popen(["sleep", "600"])
    try:
        params = {"capabilities": {}, "processId": client.pid}
        await unopened.result("initialize", params)
    finally:
        client.kill()
        client.wait()
    assert await unopened.status() == 0


async def test_a_client_that_is_dead_already_ends_the_daemon(unopened: RawClient) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    await unopened.send(request(1, "initialize", {"capabilities": {}, "processId": dead.pid}))
    assert await unopened.status() == 0


async def test_a_run_goes_on_to_its_end_when_its_client_is_gone(tmp_path: Path, workspace: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    async with raw_client(tmp_path / "data", "--rehearsal") as client:
        await client.initialize()
        thread = await client.new_thread(workspace, mode="fullAccess")
        run = await client.begin(thread, f"run cat {gate}\nsay: afterwards")
        opening = asyncio.create_task(asyncio.to_thread(gate.open, "w"))
        try:
            writer = await asyncio.wait_for(asyncio.shield(opening), PATIENCE)
        except TimeoutError:
            gate.open("r+").close()
            raise
        await client.close_input()
        assert await client.status() == 0
        pid = daemon_pid(tmp_path / "data")
        writer.write("open")
        writer.close()
        await process_gone(pid)
    async with editor_on(tmp_path / "data", "--rehearsal") as editor:
        ended = (await editor.call("run/wait", run_id=run)).run
        assert ended.status == "completed"
        items = (await editor.call("thread/items", thread_id=thread)).items
        assert [item.text for item in items if item.type == "agentMessage"] == ["afterwards"]


async def test_sigterm_ends_the_daemon_and_its_agents(tmp_path: Path, workspace: Path) -> None:
    async with editor_on(tmp_path / "data", "--rehearsal") as editor:
        thread = await editor.new_thread(workspace)
        run = await editor.begin(thread, "say: working\nsleep 600000")
        await editor.until_output(run, "working")
        pid = next(n.record.pid for n in editor.told if getattr(n, "type", "") == "providerSession")
        watch = os.pidfd_open(pid)
        gone = asyncio.Event()
        asyncio.get_running_loop().add_reader(watch, gone.set)
        try:
            os.kill(editor.daemon_pid(), signal.SIGTERM)
            await asyncio.wait_for(editor.process.wait(), PATIENCE)
            await asyncio.wait_for(gone.wait(), PATIENCE)
        finally:
            asyncio.get_running_loop().remove_reader(watch)
            os.close(watch)


async def test_a_cancelled_wait_is_minus_32800_and_the_run_goes_on(raw: RawClient, workspace: Path) -> None:
    thread = await raw.new_thread(workspace)
    run = await raw.begin(thread, "run true")
    asked = (await raw.until("request/opened"))["params"]["request"]
    await raw.send(request("wait", "run/wait", {"runId": run}), notification("$/cancelRequest", {"id": "wait"}))
    assert (await raw.answer_to("wait"))["error"]["code"] == -32800
    await raw.result("request/respond", {"requestId": asked["id"], "decision": "accept"})
    assert (await raw.result("run/wait", {"runId": run}))["run"]["status"] == "completed"


async def test_a_start_cancelled_before_its_commit_changes_nothing(tmp_path: Path, workspace: Path) -> None:
    async with raw_client(tmp_path / "data") as client:
        await client.initialize(config={"providers": providers("slow", flags=["--start-delay", "600000"])})
        thread = await client.new_thread(workspace, "slow")
        before = await client.result("thread/read", {"threadId": thread})
        start = request("start", "run/start", {"threadId": thread, "message": {"text": "say: never"}})
        await client.send(start, notification("$/cancelRequest", {"id": "start"}))
        assert (await client.answer_to("start"))["error"]["code"] == -32800
        assert await client.result("thread/read", {"threadId": thread}) == before


async def test_cancelling_what_is_answered_or_was_never_asked_changes_nothing(raw: RawClient) -> None:
    await raw.send(request(7, "thread/list"))
    await raw.answer_to(7)
    for params in ({"id": 7}, {"id": "unknown"}, {"id": None}, {}, None, [7]):
        await raw.send(notification("$/cancelRequest", params))
    assert (await raw.result("thread/list"))["threads"] == []
    assert raw.heard == []


async def test_two_requests_in_flight_cannot_have_the_same_id(raw: RawClient, workspace: Path) -> None:
    thread = await raw.new_thread(workspace)
    run = await raw.begin(thread, "run true")
    await raw.until("request/opened")
    wait = request("same", "run/wait", {"runId": run})
    await raw.send(wait, wait)
    assert (await raw.answer_to("same"))["error"]["code"] == -32600
    await raw.send(notification("$/cancelRequest", {"id": "same"}))
    assert (await raw.answer_to("same"))["error"]["code"] == -32800
    await raw.stop(run)


async def test_a_daemon_that_was_killed_leaves_a_thread_that_can_go_on(tmp_path: Path, workspace: Path) -> None:
    async with editor_on(tmp_path / "data", "--rehearsal") as editor:
        thread = await editor.new_thread(workspace)
        run = await editor.begin(thread, "say: partial\nsleep 600000")
        await editor.until_output(run, "partial")
        await editor.kill()
    async with editor_on(tmp_path / "data", "--rehearsal") as editor:
        interrupted = (await editor.call("run/wait", run_id=run.id)).run
        assert interrupted.status == "interrupted"
        texts = [item.text for item in await editor.items(thread, run) if item.type == "agentMessage"]
        assert texts == ["partial"]
        assert (await editor.say(thread, "say: on")).status == "completed"


async def test_a_data_folder_from_the_options_is_used_where_the_command_line_names_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
    wanted = tmp_path / "wanted"
    process = await asyncio.create_subprocess_exec(
        *SERVE,
        "serve",
        "--config",
        os.devnull,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    client = RawClient(process)
    try:
        await client.initialize(dataDir=str(wanted))
        assert (wanted / "midstream.db").is_file()
        assert (await client.ask("shutdown"))["result"] is None
        await client.send(notification("exit"))
        assert await client.status() == 0
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_a_refusal_reaches_a_well_behaved_client_as_an_error(tmp_path: Path) -> None:
    async with editor_on(tmp_path / "data") as editor:
        with pytest.raises(Refused) as refused:
            await editor.call_raw("session/scan", {})
        assert refused.value.code == -32601
