"""`thread/delete`, end to end: what goes, what stays, and who is told."""

import asyncio
import base64
import sqlite3
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from midstream.protocol.notifications import ThreadDeleted
from midstream.protocol.records.thread import Thread
from scenarios.steps import conversation, received, selection, session_of
from scenarios.test_forks import forked
from support.editor import Editor, Refused, command_id, editor_on
from support.traces import files_that_hold

PHRASE = "xylophone-quarantine-7431"
IMAGE = b"\x89PNG " + PHRASE.encode()
TIDY = "SELECT count(*) FROM effects"


async def seeded(editor: Editor, workspace: Path) -> Thread:
    """Make a thread with the phrase in every kind of thing that is kept of it."""
    thread = await editor.new_thread(workspace, title=f"About {PHRASE}")
    image = {"type": "image", "mimeType": "image/png", "base64": base64.b64encode(IMAGE).decode()}
    orders = (f"write {PHRASE}.txt: {PHRASE}", f"run echo {PHRASE}", f"todo: {PHRASE} | rest", f"say: I say {PHRASE}")
    await editor.say(thread, "\n".join((PHRASE, *orders, "stream 30 900")), command_id=command_id())
    message = {"text": f"Look: {PHRASE}", "attachments": [image]}
    run = (await editor.call("run/start", thread_id=thread.id, message=message)).run
    await editor.ended(run)
    await editor.say(thread, f"say: goodbye {PHRASE}", "understudy", command_id=command_id())
    preview = await editor.call(
        "handoff/preview", thread_id=thread.id, selection=selection("rehearsal"), command_id=command_id()
    )
    assert PHRASE in preview.handoffs[0].sent_text
    (workspace / f"{PHRASE}.txt").unlink()
    return thread


async def until_tidy(editor: Editor, data: Path) -> None:
    """Wait until every effect of the daemon was carried out."""
    with closing(sqlite3.connect(f"file:{data / 'midstream.db'}?mode=ro", uri=True)) as connection:
        while connection.execute(TIDY).fetchone() != (0,):
            await editor.call("thread/list")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


async def test_nothing_of_a_deleted_thread_is_left_and_other_threads_keep_all_of_theirs(
    data: Path, workspace: Path
) -> None:
    async with editor_on(data, "--rehearsal") as editor:
        other = await editor.new_thread(workspace)
        await editor.say(other, "write mine.txt: mine\nsay: something else")
        before = await editor.read(other)
        thread = await seeded(editor, workspace)
        await editor.say(other, "say: once more")
        kinds = {name.split("/")[0] for name in files_that_hold(PHRASE, data)}
        assert kinds == {"midstream.db-wal", "attachments", "checkpoints", "rehearsal"}
        assert await editor.call("thread/delete", thread_id=thread.id) is None
        await until_tidy(editor, data)
        assert files_that_hold(PHRASE, data, but="rehearsal/") == []
        after = await editor.read(other)
        assert after.runs[: len(before.runs)] == before.runs
        compare = {"from": after.checkpoints[0].id, "to": after.checkpoints[-1].id, "patch": True}
        diff = await editor.call("checkpoint/diff", thread_id=other.id, **compare)
        assert "+mine" in diff.patch
        await editor.say(other, "write more.txt: more")
    assert files_that_hold(PHRASE, data, but="rehearsal/") == []


async def test_clients_are_told_and_the_thread_is_unknown_from_then_on(data: Path, workspace: Path) -> None:
    async with editor_on(data, "--rehearsal") as editor, editor_on(data, "--rehearsal") as other:
        thread = await editor.new_thread(workspace)
        run = await editor.say(thread, "say: hello")
        await editor.call("thread/delete", thread_id=thread.id)
        await other.until(lambda told: told == ThreadDeleted(thread_id=thread.id))
        assert editor.all_told(ThreadDeleted) == other.all_told(ThreadDeleted) == [ThreadDeleted(thread_id=thread.id)]
        assert (await editor.call("thread/list")).threads == ()
        unknown = {
            "thread/read": {},
            "thread/subscribe": {},
            "thread/items": {},
            "handoff/list": {},
            "thread/delete": {},
        }
        for method in unknown:
            with pytest.raises(Refused, match="4001"):
                await editor.call(method, thread_id=thread.id)
        with pytest.raises(Refused, match="4001"):
            await editor.call("run/wait", run_id=run.id)


async def test_forks_outlive_the_thread_that_they_came_from_and_the_last_takes_it_along(
    data: Path, workspace: Path
) -> None:
    async with editor_on(data, "--rehearsal") as editor:
        thread = await seeded(editor, workspace)
        shown = await editor.items(thread)
        fork = await forked(editor, thread)
        inner = await forked(editor, fork)
        for gone in (thread, fork):
            await editor.call("thread/delete", thread_id=gone.id)
            with pytest.raises(Refused, match="4001"):
                await editor.call("thread/read", thread_id=gone.id)
        assert any("goes for good with the last" in message.message for message in editor.messages)
        await until_tidy(editor, data)
    async with editor_on(data, "--rehearsal") as editor:
        assert [one.id for one in (await editor.call("thread/list")).threads] == [inner.id]
        assert await editor.items(inner) == shown
        run = await editor.say(inner, "say: I go on", "understudy")
        assert run.plan is not None
        assert run.plan.run_ordinals == (1, 2, 3)
        assert PHRASE in received(await editor.recall(inner, "understudy"))[0]
        await editor.call("thread/delete", thread_id=inner.id)
        await until_tidy(editor, data)
    assert files_that_hold(PHRASE, data, but="rehearsal/") == []


async def test_the_user_is_told_which_native_conversations_remain_where(data: Path, workspace: Path) -> None:
    async with editor_on(data, "--rehearsal") as editor:
        thread = await editor.new_thread(workspace)
        await editor.say(thread, "say: hello")
        await editor.say(thread, "say: hello", "understudy")
        refs = {kind: conversation(await editor.read(thread), kind).native_ref for kind in ("rehearsal", "understudy")}
        await editor.call("thread/delete", thread_id=thread.id)
        (message,) = editor.messages
        for kind, ref in refs.items():
            assert f"{kind} {ref}" in message.message
            assert list(data.glob(f"rehearsal/{kind}/{ref}*"))
        untouched = await editor.new_thread(workspace)
        await editor.call("thread/delete", thread_id=untouched.id)
        assert editor.messages == [message]


async def test_agents_that_a_deleted_thread_alone_used_end_and_shared_ones_go_on(data: Path, workspace: Path) -> None:
    async with editor_on(data, "--rehearsal") as editor:
        thread, other = await editor.new_thread(workspace), await editor.new_thread(workspace)
        await editor.say(thread, "say: hello")
        await editor.say(thread, "say: hello", "understudy")
        await editor.say(other, "say: hello")
        read = await editor.read(thread)
        pids = [(await session_of(editor, conversation(read, kind))).pid for kind in ("rehearsal", "understudy")]
        assert [psutil.pid_exists(pid or 0) for pid in pids] == [True, True]
        await editor.call("thread/delete", thread_id=thread.id)
        await until_tidy(editor, data)
        assert [psutil.pid_exists(pid or 0) for pid in pids] == [True, False]
        assert [entry["text"] for entry in await editor.recall(other, "rehearsal")][:1] == ["say: hello"]


async def test_an_active_run_keeps_its_thread_until_it_was_interrupted(data: Path, workspace: Path) -> None:
    async with editor_on(data, "--rehearsal") as editor:
        thread = await editor.new_thread(workspace)
        run = await editor.begin(thread, "say: working\nsleep 60000")
        await editor.until_output(run, "working")
        with pytest.raises(Refused, match="interrupt it") as refused:
            await editor.call("thread/delete", thread_id=thread.id)
        assert (refused.value.kind, refused.value.data["runId"]) == ("invalidState", run.id)
        await editor.call("run/interrupt", run_id=run.id)
        await editor.ended(run)
        await editor.call("thread/delete", thread_id=thread.id)


async def test_queued_runs_end_as_cancelled_for_those_who_wait_for_them(data: Path, workspace: Path) -> None:
    async with editor_on(data, "--rehearsal") as editor:
        thread = await editor.new_thread(workspace)
        await editor.begin(thread, "sleep 60000")
        queued = await editor.begin(thread, "say: later", delivery="queue")
        await editor.kill()
    async with editor_on(data, "--rehearsal") as editor:
        await editor.call("thread/subscribe", thread_id=thread.id)
        waiting = asyncio.ensure_future(editor.ended(queued))
        await editor.call("run/edit", run_id=queued.id, text="say: later still")  # comes to the thread after the wait
        await editor.call("thread/delete", thread_id=thread.id)
        assert (await waiting).status == "cancelled"


async def test_a_command_of_a_deleted_thread_is_not_done_again_and_the_deletion_answers_as_it_did(
    data: Path, workspace: Path
) -> None:
    start, delete = command_id(), command_id()
    async with editor_on(data, "--rehearsal") as editor:
        thread = await editor.new_thread(workspace)
        message = {"text": "say: hello"}
        run = await editor.call("run/start", thread_id=thread.id, message=message, command_id=start)
        await editor.ended(run.run)
        await editor.call("thread/delete", thread_id=thread.id, command_id=delete)
    async with editor_on(data, "--rehearsal") as editor:
        with pytest.raises(Refused, match="was deleted since") as refused:
            await editor.call("run/start", thread_id=thread.id, message=message, command_id=start)
        assert refused.value.kind == "threadNotFound"
        with pytest.raises(Refused, match="4008"):
            await editor.call("run/start", thread_id=thread.id, message={"text": "other"}, command_id=start)
        assert await editor.call("thread/delete", thread_id=thread.id, command_id=delete) is None
        assert editor.all_told(ThreadDeleted) == []


async def test_a_daemon_killed_right_after_the_answer_leaves_no_traces_once_it_started_anew(
    data: Path, workspace: Path
) -> None:
    async with editor_on(data, "--rehearsal") as editor:
        await editor.say(await editor.new_thread(workspace), "say: something else")
        thread = await seeded(editor, workspace)
        await editor.call("thread/delete", thread_id=thread.id)
        await editor.kill()
    async with editor_on(data, "--rehearsal") as editor:
        await until_tidy(editor, data)
        assert files_that_hold(PHRASE, data, but="rehearsal/") == []
