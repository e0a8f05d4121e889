"""The kinds of error of the protocol, each where a client meets it."""

import json
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from midstream.server.store.migrations import APPLICATION_ID, VERSION
from midstream.server.store.opening import Claim
from support import bad_agent_file
from support.editor import Editor, Refused, command_id, editor_on, providers
from support.raw import RawClient, raw_client


async def refused(editor: Editor, method: str, **params: Any) -> Refused:
    """Send a request that must be refused."""
    with pytest.raises(Refused) as caught:
        await editor.call(method, **params)
    return caught.value


async def test_what_does_not_exist_is_4001_with_its_kind_and_id(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    run = await editor.say(thread, "say: hello")
    here = {"thread_id": thread.id}
    message = {"text": "say: hello"}
    attempts: list[tuple[str, dict[str, Any], str, str]] = [
        *(
            (method, {"thread_id": "thr_none"}, "threadNotFound", "threadId")
            for method in (
                "thread/read",
                "thread/items",
                "thread/subscribe",
                "thread/update",
                "thread/archive",
                "thread/unarchive",
                "queue/resume",
                "handoff/preview",
                "handoff/list",
                "checkpoint/list",
                "request/list",
            )
        ),
        ("run/start", {"thread_id": "thr_none", "message": message}, "threadNotFound", "threadId"),
        (
            "provider/switch",
            {"thread_id": "thr_none", "selection": {"provider": "understudy", "model": None}},
            "threadNotFound",
            "threadId",
        ),
        *(
            (method, {"run_id": "run_none", **more}, "runNotFound", "runId")
            for method, more in (
                ("run/wait", {}),
                ("run/interrupt", {}),
                ("run/retry", {}),
                ("run/cancel", {}),
                ("run/steer", {"text": "x"}),
                ("run/edit", {"text": "x"}),
                ("run/reorder", {"before_run_id": None}),
            )
        ),
        *(("thread/items", {**here, anchor: "itm_none"}, "itemNotFound", "itemId") for anchor in ANCHORS),
        ("item/output", {"item_id": "itm_none", "field": "text"}, "itemNotFound", "itemId"),
        ("handoff/read", {"handoff_id": "hof_none"}, "handoffNotFound", "handoffId"),
        ("run/start", {**here, "message": message, "handoff_ids": ["hof_none"]}, "handoffNotFound", "handoffId"),
        ("checkpoint/file", {"checkpoint_id": "ckp_none", "path": "a"}, "checkpointNotFound", "checkpointId"),
        ("checkpoint/diff", {**here, "from_": "ckp_none", "to": "workspace"}, "checkpointNotFound", "checkpointId"),
        (
            "checkpoint/diff",
            {**here, "from_": run.checkpoint_id, "to": "ckp_none"},
            "checkpointNotFound",
            "checkpointId",
        ),
        ("request/respond", {"request_id": "req_none", "decision": "accept"}, "requestNotFound", "requestId"),
    ]
    for method, params, kind, name in attempts:
        error = await refused(editor, method, **params)
        assert (error.code, error.kind) == (4001, kind), method
        assert error.data[name].endswith("_none"), method
        assert error.data[name] in error.message, method


ANCHORS = ("after_item_id", "before_item_id", "around_item_id")


async def test_an_item_of_another_thread_is_not_found_in_this_one(editor: Editor, workspace: Path) -> None:
    one, other = await editor.new_thread(workspace), await editor.new_thread(workspace)
    run = await editor.say(one, "say: hello")
    (item, *_) = await editor.items(one, run)
    for anchor in ANCHORS:
        error = await refused(editor, "thread/items", thread_id=other.id, **{anchor: item.id})
        assert error.kind == "itemNotFound"


async def test_providers_that_cannot_be_used_are_4002_and_nothing_changes(tmp_path: Path, workspace: Path) -> None:
    login = {"error": {"code": -32000, "message": "Please log in."}}
    config = {
        "providers": {
            "missing": {"driver": "acp", "command": ["no-such-agent-anywhere"]},
            "unset": {"driver": "acp"},
            "stranger": bad_agent_file.provider(tmp_path / "stranger", {"session/new": [login]}),
            "guard": bad_agent_file.provider(tmp_path / "guard", {"initialize": [login]}),
        }
    }
    expected = {
        "nobody": "providerUnknown",
        "missing": "providerUnavailable",
        "unset": "providerUnavailable",
        "codex": "providerUnavailable",
        "stranger": "providerUnauthenticated",
        "guard": "providerUnauthenticated",
    }
    async with editor_on(tmp_path / "data", "--rehearsal", config=config) as editor:
        thread = await editor.new_thread(workspace)
        before = await editor.read(thread)
        for provider, kind in expected.items():
            selection = {"provider": provider, "model": None}
            for method, params in (
                ("run/start", {"message": {"text": "say: hello"}}),
                ("provider/switch", {}),
                ("handoff/preview", {}),
            ):
                error = await refused(editor, method, thread_id=thread.id, selection=selection, **params)
                assert (error.code, error.kind) == (4002, kind), (provider, method)
                assert error.data["provider"] == provider
                assert error.message
        assert await editor.read(thread) == before
        listed = {provider.kind: provider for provider in (await editor.call("provider/list")).providers}
        assert listed["stranger"].authenticated is listed["guard"].authenticated is False
        assert listed["rehearsal"].authenticated is True
        assert not listed["missing"].installed
        assert not listed["codex"].installed
        assert all(listed[kind].problem is not None for kind in expected if kind != "nobody")
        assert listed["rehearsal"].problem is None


async def test_a_thread_needs_a_configured_provider(editor: Editor, workspace: Path) -> None:
    selection = {"provider": "nobody", "model": None}
    error = await refused(editor, "thread/create", workspace=workspace.as_uri(), selection=selection)
    assert (error.code, error.kind) == (4002, "providerUnknown")
    assert (await editor.call("thread/list")).threads == ()


async def test_a_capability_that_the_provider_lacks_is_4003(tmp_path: Path, workspace: Path) -> None:
    config = {"providers": providers("deaf", flags=["--no-steer"])}
    async with editor_on(tmp_path / "data", config=config) as editor:
        thread = await editor.new_thread(workspace, "deaf", runtime_mode="approvalRequired")
        run = await editor.begin(thread, "run true")
        request = await editor.asked(run)
        before = await editor.read(thread)
        for error in (
            await refused(editor, "run/steer", run_id=run.id, text="say: more"),
            await refused(editor, "run/start", thread_id=thread.id, message={"text": "x"}, delivery="steer"),
        ):
            assert (error.code, error.kind, error.data["capability"]) == (4003, "unsupported", "steer")
        assert await editor.read(thread) == before
        await editor.call("request/respond", request_id=request.id, decision="accept")
        await editor.ended(run)


async def test_what_does_not_fit_the_state_is_4004_with_the_status(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace, runtime_mode="approvalRequired")
    start = {"thread_id": thread.id, "message": {"text": "say: more"}}
    idle = await refused(editor, "run/start", delivery="steer", **start)
    assert (idle.code, idle.kind, idle.data["status"]) == (4004, "invalidState", "idle")
    assert (await refused(editor, "run/start", delivery="restart", **start)).kind == "invalidState"
    done = await editor.say(thread, "say: hello")
    active = await editor.begin(thread, "run true")
    request = await editor.asked(active)
    queued = await editor.begin(thread, "say: later")
    other = {"provider": "understudy", "model": None}
    for method, params, status in (
        ("run/interrupt", {"run_id": done.id}, "completed"),
        ("run/steer", {"run_id": done.id, "text": "x"}, "completed"),
        ("run/retry", {"run_id": done.id}, "completed"),
        ("run/cancel", {"run_id": done.id}, "completed"),
        ("run/edit", {"run_id": active.id, "text": "x"}, "waiting"),
        ("run/cancel", {"run_id": active.id}, "waiting"),
        ("run/retry", {"run_id": active.id}, "waiting"),
        ("run/reorder", {"run_id": queued.id, "before_run_id": active.id}, "waiting"),
        ("run/steer", {"run_id": queued.id, "text": "x"}, "queued"),
        ("run/interrupt", {"run_id": queued.id}, "queued"),
        ("run/start", {**start, "delivery": "steer", "selection": other}, "waiting"),
    ):
        error = await refused(editor, method, **params)
        assert (error.code, error.kind) == (4004, "invalidState"), method
        assert error.data["status"] == status, method
    await editor.call("request/respond", request_id=request.id, decision="accept")
    await editor.ended(queued)
    await editor.call("thread/archive", thread_id=thread.id)
    assert (await refused(editor, "run/start", **start)).kind == "invalidState"


async def test_a_request_of_a_daemon_that_was_killed_is_4005(tmp_path: Path, workspace: Path) -> None:
    async with editor_on(tmp_path / "data", "--rehearsal") as editor:
        thread = await editor.new_thread(workspace, runtime_mode="approvalRequired")
        request = await editor.asked(await editor.begin(thread, "run touch never.txt"))
        await editor.kill()
    async with editor_on(tmp_path / "data", "--rehearsal") as editor:
        error = await refused(editor, "request/respond", request_id=request.id, decision="accept")
        assert (error.code, error.kind) == (4005, "requestNotResumable")
        assert error.data["requestId"] == request.id
        read = await editor.read(thread)
        assert [known.status for known in read.requests] == ["expired"]
        assert [run.status for run in read.runs] == ["interrupted"]
        assert not (workspace / "never.txt").exists()


async def test_a_workspace_that_is_no_folder_here_is_4006(editor: Editor, workspace: Path) -> None:
    for uri in (
        (workspace / "missing").as_uri(),
        (workspace / "kept.txt").as_uri(),
        "https://example.org/project",
        "file://elsewhere/project",
        "project",
        "",
        "file:///nul%00l",
    ):
        error = await refused(editor, "thread/create", workspace=uri)
        assert (error.code, error.kind, error.data["workspace"]) == (4006, "workspaceInvalid", uri)
    thread = await editor.new_thread(workspace)
    shutil.move(workspace, workspace.with_name("moved"))
    error = await refused(editor, "run/start", thread_id=thread.id, message={"text": "say: hello"})
    assert (error.code, error.kind) == (4006, "workspaceInvalid")
    assert (await editor.read(thread)).runs == ()


async def test_a_command_id_used_again_for_something_else_is_4008(editor: Editor, workspace: Path) -> None:
    once = command_id()
    created = await editor.call("thread/create", workspace=workspace.as_uri(), command_id=once)
    again = await editor.call("thread/create", workspace=workspace.as_uri(), command_id=once)
    assert again == created
    for method, params in (
        ("thread/create", {"workspace": workspace.as_uri(), "title": "another"}),
        ("thread/archive", {"thread_id": created.thread.id}),
    ):
        error = await refused(editor, method, command_id=once, **params)
        assert (error.code, error.kind, error.data["commandId"]) == (4008, "commandIdConflict", once)
    assert [thread.id for thread in (await editor.call("thread/list")).threads] == [created.thread.id]


async def test_the_first_answer_stands_even_where_the_command_would_be_refused_now(
    editor: Editor, workspace: Path
) -> None:
    once = command_id()
    created = await editor.call("thread/create", workspace=workspace.as_uri(), command_id=once)
    shutil.move(workspace, workspace.with_name("moved"))
    assert await editor.call("thread/create", workspace=workspace.as_uri(), command_id=once) == created


async def test_errors_are_not_remembered_under_a_command_id(editor: Editor, workspace: Path) -> None:
    once = command_id()
    later = workspace / "later"
    assert (await refused(editor, "thread/create", workspace=later.as_uri(), command_id=once)).code == 4006
    later.mkdir()
    assert (await editor.call("thread/create", workspace=later.as_uri(), command_id=once)).thread.id


async def test_a_budget_that_nothing_fits_is_4009_and_nothing_is_committed(tmp_path: Path, workspace: Path) -> None:
    async with editor_on(tmp_path / "data", "--rehearsal", config={"handoff": {"budgetTokens": 1}}) as editor:
        thread = await editor.new_thread(workspace)
        await editor.say(thread, "say: hello")
        before = await editor.read(thread)
        selection = {"provider": "understudy", "model": None}
        for method, params in (
            ("handoff/preview", {"budget_tokens": 1}),
            ("provider/switch", {}),
            ("run/start", {"message": {"text": "say: there"}}),
        ):
            error = await refused(editor, method, thread_id=thread.id, selection=selection, **params)
            assert (error.code, error.kind) == (4009, "handoffOverBudget"), method
        assert await editor.read(thread) == before
        wide = {"thread_id": thread.id, "selection": selection, "budget_tokens": 16_000}
        assert len((await editor.call("handoff/preview", **wide)).handoffs) == 1


async def initialize_error(data: Path) -> dict[str, Any]:
    """Return the error of a daemon that cannot open its store; it says so in an answer, and ends as asked."""
    async with raw_client(data) as client:
        params = {"capabilities": {}, "initializationOptions": {"native": True}}
        return await client.error("initialize", params)


async def test_a_store_that_another_process_has_open_is_4010_until_that_one_lets_go(tmp_path: Path) -> None:
    data = tmp_path / "data"
    claim = Claim(data / "midstream.db")
    async with raw_client(data) as client:
        params = {"capabilities": {}, "initializationOptions": {"native": True}}
        error = await client.error("initialize", params)
        assert (error["code"], error["data"]["kind"]) == (4010, "storeLocked")
        claim.release()
        await client.initialize()


async def test_a_damaged_store_is_4010_and_stays_as_it_is(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    file = data / "midstream.db"
    file.write_bytes(b"This is no database. " * 500)
    error = await initialize_error(data)
    assert (error["code"], error["data"]["kind"]) == (4010, "storeCorrupt")
    assert str(file) in error["message"]
    assert file.read_bytes() == b"This is no database. " * 500


async def test_a_store_of_a_later_version_is_4010(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    with closing(sqlite3.connect(data / "midstream.db")) as connection:
        connection.execute("CREATE TABLE events (position INTEGER PRIMARY KEY)")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
        connection.commit()
    error = await initialize_error(data)
    assert (error["code"], error["data"]["kind"]) == (4010, "storeNewer")


async def test_no_error_answer_shows_a_traceback_or_a_file_of_the_program(raw: RawClient, workspace: Path) -> None:
    for method, params in (
        ("thread/read", {"threadId": "thr_none"}),
        ("thread/read", []),
        ("thread/create", {"workspace": "\0"}),
        ("thread/list", {"cursor": "no cursor of ours"}),
        ("thread/list", {"cursor": "🌊" * 100}),
        ("thread/list", {"query": "%'\"; DROP TABLE threads"}),
    ):
        said = json.dumps(await raw.ask(method, params))
        assert "Traceback" not in said
        assert ".py" not in said
        assert sys.prefix not in said
        assert "-32603" not in said, said
