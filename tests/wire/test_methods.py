"""What each method answers where nothing is wrong; runs, requests, streams and items have suites of their own."""

import asyncio
from pathlib import Path

import pytest

from midstream.protocol.notifications import CheckpointCaptured, HandoffProgress
from support.editor import Editor, Refused, editor_on, providers

UNDERSTUDY = {"provider": "understudy", "model": None}


async def test_a_thread_is_made_without_a_provider_and_named_by_its_first_message(
    editor: Editor, workspace: Path
) -> None:
    thread = (await editor.call("thread/create", workspace=workspace.as_uri())).thread
    assert (thread.title, thread.status, thread.origin) == ("", "idle", "native")
    assert thread.selection.provider == "rehearsal"
    assert thread.lineage.root_thread_id == thread.id
    assert (await editor.read(thread)).provider_threads == ()
    await editor.say(thread, "say: the first words")
    assert (await editor.read(thread)).thread.title == "say: the first words"


async def test_threads_are_listed_newest_first_in_pages(editor: Editor, workspace: Path) -> None:
    elsewhere = workspace.with_name("elsewhere")
    elsewhere.mkdir()
    folders = (workspace, elsewhere, workspace)
    made = [
        (await editor.call("thread/create", workspace=folder.as_uri(), title=f"Thread {number}")).thread
        for number, folder in enumerate(folders)
    ]
    newest_first = [thread.id for thread in reversed(made)]
    assert [thread.id for thread in (await editor.call("thread/list")).threads] == newest_first
    page = await editor.call("thread/list", limit=2)
    rest = await editor.call("thread/list", limit=2, cursor=page.next_cursor)
    assert [thread.id for thread in (*page.threads, *rest.threads)] == newest_first
    assert rest.next_cursor is None
    found = await editor.call("thread/list", workspace=elsewhere.as_uri())
    assert [thread.id for thread in found.threads] == [made[1].id]
    assert [thread.id for thread in (await editor.call("thread/list", query="read 2")).threads] == [made[2].id]


async def test_a_thread_is_renamed_archived_and_taken_out_again(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace, title="Old")
    changed = (await editor.call("thread/update", thread_id=thread.id, title="New", runtime_mode="readOnly")).thread
    assert (changed.title, changed.runtime_mode) == ("New", "readOnly")
    archived = (await editor.call("thread/archive", thread_id=thread.id)).thread
    assert archived.archived_at is not None
    assert (await editor.call("thread/list")).threads == ()
    assert [known.id for known in (await editor.call("thread/list", archived=True)).threads] == [thread.id]
    assert (await editor.call("thread/unarchive", thread_id=thread.id)).thread.archived_at is None
    assert [known.id for known in (await editor.call("thread/list")).threads] == [thread.id]


async def test_providers_are_listed_with_what_they_can_do(editor: Editor) -> None:
    listed = {provider.kind: provider for provider in (await editor.call("provider/list")).providers}
    assert set(listed) == {"rehearsal", "understudy", "codex", "claude"}
    rehearsal = listed["rehearsal"]
    assert (rehearsal.driver, rehearsal.installed, rehearsal.authenticated) == ("acp", True, True)
    assert rehearsal.capabilities.steer
    assert rehearsal.capabilities.handoff.channel is not None
    again = {provider.kind: provider for provider in (await editor.call("provider/list", refresh=True)).providers}
    assert again == listed


async def test_a_switch_is_planned_for_the_next_run_and_starts_no_provider(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "write a.txt: one")
    switched = await editor.call("provider/switch", thread_id=thread.id, selection=UNDERSTUDY)
    assert switched.thread.selection.provider == "understudy"
    assert (switched.plan.strategy, switched.plan.run_ordinals) == ("full_thread_summary", (1,))
    read = await editor.read(thread)
    assert [known.provider for known in read.provider_threads] == ["rehearsal"]
    run = await editor.say(thread, "say: here")
    assert run.provider == "understudy"
    clean = await editor.call(
        "provider/switch", thread_id=thread.id, selection={"provider": "rehearsal", "model": None}, context="clean"
    )
    assert clean.thread.next_context == "clean"
    assert [reason.code for reason in clean.plan.reasons] == ["clean_context"]


async def test_a_previewed_handoff_is_sent_by_the_run_that_names_it(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "write a.txt: one\ndecide: blue")
    preview = await editor.call("handoff/preview", thread_id=thread.id, selection=UNDERSTUDY)
    (handoff,) = preview.handoffs
    assert (handoff.status, handoff.strategy, handoff.delivery) == ("ready", "full_thread_summary", None)
    assert "blue" in handoff.summary_text
    assert handoff.summary_text in handoff.sent_text
    assert (await editor.call("handoff/read", handoff_id=handoff.id)).handoff == handoff
    listed = (await editor.call("handoff/list", thread_id=thread.id)).handoffs
    assert [(info.id, info.status) for info in listed] == [(handoff.id, "ready")]
    run = await editor.say(thread, "say: here", "understudy", handoff_ids=[handoff.id])
    assert run.context_handoff_id == handoff.id
    sent = (await editor.call("handoff/read", handoff_id=handoff.id)).handoff
    assert (sent.target_run_id, sent.sent_text) == (run.id, handoff.sent_text)
    assert sent.delivery is not None
    assert sent.delivery.status == "delivered"
    phases = [n.phase for n in editor.all_told(HandoffProgress) if n.run_id == run.id]
    assert phases[0] == "deciding"
    assert phases[-2:] == ["delivering", "delivered"]


async def test_a_named_handoff_that_the_thread_outgrew_is_replaced(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "say: one")
    (old,) = (await editor.call("handoff/preview", thread_id=thread.id, selection=UNDERSTUDY)).handoffs
    await editor.say(thread, "say: two")
    answer = await editor.call(
        "run/start",
        thread_id=thread.id,
        message={"text": "say: here"},
        selection=UNDERSTUDY,
        handoff_ids=[old.id],
    )
    (replaced,) = answer.replaced_handoffs
    assert replaced.from_ == old.id
    run = await editor.ended(answer.run)
    assert run.context_handoff_id == replaced.to
    handoffs = {info.id: info for info in (await editor.read(thread)).handoffs}
    assert (handoffs[old.id].status, handoffs[old.id].superseded_by) == ("superseded", replaced.to)
    assert handoffs[replaced.to].run_ordinals == (1, 2)


async def test_the_files_of_a_run_can_be_compared_and_read(editor: Editor, workspace: Path) -> None:
    (workspace / "raw.bin").write_bytes(b"\x00\xff\xfe")
    thread = await editor.new_thread(workspace)
    run = await editor.say(thread, "write a.txt: one 🌊\ndelete kept.txt")
    listed = (await editor.call("checkpoint/list", thread_id=thread.id)).checkpoints
    assert {run.baseline_checkpoint_id, run.checkpoint_id} <= {checkpoint.id for checkpoint in listed}
    assert [checkpoint.id for checkpoint in listed] == sorted(checkpoint.id for checkpoint in listed)
    between = {"thread_id": thread.id, "from_": run.baseline_checkpoint_id, "to": run.checkpoint_id}
    diff = await editor.call("checkpoint/diff", **between, patch=True)
    assert {file.path: file.status for file in diff.files} == {"a.txt": "added", "kept.txt": "deleted"}
    assert "+one 🌊" in diff.patch
    assert (await editor.call("checkpoint/diff", **between)).patch is None
    one = await editor.call("checkpoint/diff", **between, path="a.txt", patch=True)
    assert "kept" not in one.patch
    (workspace / "a.txt").write_text("changed\n")
    now = await editor.call("checkpoint/diff", thread_id=thread.id, from_=run.checkpoint_id, to="workspace")
    assert {file.path: file.status for file in now.files} == {"a.txt": "modified"}
    text = await editor.call("checkpoint/file", checkpoint_id=run.checkpoint_id, path="a.txt")
    assert (text.encoding, text.content.strip(), text.mode) == ("utf-8", "one 🌊", "100644")
    assert text.bytes == len(text.content.encode())
    binary = await editor.call("checkpoint/file", checkpoint_id=run.checkpoint_id, path="raw.bin")
    assert (binary.encoding, binary.content, binary.bytes) == ("base64", "AP/+", 3)
    captured = [n for n in editor.all_told(CheckpointCaptured) if n.checkpoint.id == run.checkpoint_id]
    assert [n.run_id for n in captured] == [run.id]


async def test_an_image_is_stored_by_its_content_and_given_back_without_it(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    image = {"type": "image", "mimeType": "image/png", "base64": "aGVsbG8="}
    file = {"type": "file", "uri": (workspace / "kept.txt").as_uri()}
    answer = await editor.call(
        "run/start", thread_id=thread.id, message={"text": "say: seen", "attachments": [image, file]}
    )
    stored, kept = answer.run.message.attachments
    assert (stored.mime_type, stored.bytes, stored.uri) == ("image/png", 5, None)
    assert stored.sha256 == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    assert kept.uri == file["uri"]
    assert (await editor.ended(answer.run)).status == "completed"


async def test_work_on_a_thread_goes_on_while_another_agent_is_slow_to_start(tmp_path: Path, workspace: Path) -> None:
    config = {"providers": {**providers("slow", flags=["--start-delay", "600000"]), **providers("quick")}}
    async with editor_on(tmp_path / "data", config=config) as editor:
        slow = await editor.new_thread(workspace, "slow")
        quick = await editor.new_thread(workspace, "quick")
        starting = asyncio.ensure_future(editor.begin(slow, "say: late"))
        assert (await editor.say(quick, "say: at once")).status == "completed"
        assert not starting.done()
        assert await editor.leave() == 0
        with pytest.raises(Refused) as refused:
            await starting
        assert refused.value.code == -32800


async def test_threads_are_listed_by_any_name_of_their_workspace(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    link = workspace.with_name("link")
    link.symlink_to(workspace)
    page = await editor.call("thread/list", workspace=link.as_uri())
    assert [known.id for known in page.threads] == [thread.id]
    assert (await editor.call("thread/list", workspace=workspace.with_name("gone").as_uri())).threads == ()
