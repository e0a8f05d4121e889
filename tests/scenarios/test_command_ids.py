"""The same command again: the first answer, and nothing done twice."""

from pathlib import Path
from typing import Any

import pytest

from scenarios.steps import answer, selection
from support.editor import Editor, Refused, command_id, editor_on


async def twice(editor: Editor, method: str, **params: Any) -> Any:
    """Send a command twice with one id and return its one answer."""
    once = command_id()
    first = await editor.call(method, command_id=once, **params)
    assert await editor.call(method, command_id=once, **params) == first
    return first


async def test_each_kind_of_command_is_carried_out_once(editor: Editor, workspace: Path) -> None:
    made = await twice(
        editor,
        "thread/create",
        workspace=workspace.as_uri(),
        selection=selection("rehearsal"),
        runtime_mode="approvalRequired",
    )
    thread = made.thread
    await editor.call("thread/subscribe", thread_id=thread.id)
    run = (await twice(editor, "run/start", thread_id=thread.id, message={"text": "run true\nfail: no"})).run
    request = await editor.asked(run)
    queued = (await twice(editor, "run/start", thread_id=thread.id, message={"text": "say: later"})).run
    await twice(editor, "run/edit", run_id=queued.id, text="say: changed")
    await twice(editor, "run/cancel", run_id=queued.id)
    await twice(editor, "request/respond", request_id=request.id, decision="accept")
    assert (await editor.ended(run)).status == "failed"
    again = await twice(editor, "run/retry", run_id=run.id)
    assert [attempt.ordinal for attempt in again.run.attempts] == [1, 2]
    request = next(
        told.request
        for told in [await editor.until(lambda n: _asks_again(n, run.id, request.id))]
        if hasattr(told, "request")
    )
    await answer(editor, request, "decline")
    await editor.ended(run)
    previewed = await twice(editor, "handoff/preview", thread_id=thread.id, selection=selection("understudy"))
    read = await editor.read(thread)
    assert [handoff.id for handoff in read.handoffs] == [handoff.id for handoff in previewed.handoffs]
    assert [known.id for known in read.runs] == [run.id, queued.id]
    assert len(read.runs[0].attempts) == 2


def _asks_again(notification: Any, run_id: str, answered: str) -> bool:
    request = getattr(notification, "request", None)
    return request is not None and request.run_id == run_id and request.id != answered and request.status == "pending"


async def test_a_command_whose_daemon_was_killed_right_after_it_answered_is_not_done_again(
    tmp_path: Path, workspace: Path
) -> None:
    once, switch = command_id(), command_id()
    async with editor_on(tmp_path / "data", "--rehearsal") as editor:
        thread = await editor.new_thread(workspace)
        chosen = await editor.call(
            "provider/switch", thread_id=thread.id, selection=selection("understudy"), command_id=switch
        )
        first = await editor.begin(thread, "append once.txt: x", command_id=once)
        await editor.kill()
    async with editor_on(tmp_path / "data", "--rehearsal") as editor:
        assert await editor.begin(thread, "append once.txt: x", command_id=once) == first
        again = await editor.call(
            "provider/switch", thread_id=thread.id, selection=selection("understudy"), command_id=switch
        )
        assert again == chosen
        (run,) = (await editor.read(thread)).runs
        assert run.id == first.id
        assert run.status in ("interrupted", "completed")
        with pytest.raises(Refused) as refused:
            await editor.call("run/interrupt", run_id=run.id, command_id=once)
        assert (refused.value.code, refused.value.kind) == (4008, "commandIdConflict")


async def test_an_error_is_not_remembered(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    once = command_id()
    with pytest.raises(Refused) as refused:
        await editor.begin(thread, "say: one", "nobody", command_id=once)
    assert (refused.value.code, refused.value.kind) == (4002, "providerUnknown")
    run = await editor.say(thread, "say: one", "rehearsal", command_id=once)
    assert run.status == "completed"


async def test_commands_without_an_id_are_each_carried_out(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    runs = [await editor.say(thread, "append a.txt: x") for _ in range(2)]
    assert [run.ordinal for run in runs] == [1, 2]
    assert (workspace / "a.txt").read_text().split() == ["x", "x"]


async def test_a_repeat_is_answered_though_its_image_is_gone(editor: Editor, workspace: Path, tmp_path: Path) -> None:
    thread = await editor.new_thread(workspace)
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"pixels")
    message = {
        "text": "say: seen",
        "attachments": [{"type": "image", "mimeType": "image/png", "uri": picture.as_uri()}],
    }
    once = command_id()
    first = await editor.call("run/start", thread_id=thread.id, message=message, command_id=once)
    picture.unlink()
    assert await editor.call("run/start", thread_id=thread.id, message=message, command_id=once) == first
    await editor.ended(first.run)
