"""Merging forks back, over the wire: fixed when asked for, told with the parent's next run."""

from pathlib import Path

import pytest

from midstream.protocol.records.item import HandoffItem, MergeBackItem
from scenarios.steps import received, selection
from scenarios.test_forks import forked
from support.editor import Editor, Refused


async def test_forks_that_were_merged_back_are_told_once_in_order_and_outlive_their_threads(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "say: root")
    transfers = []
    for name in ("left", "right"):
        fork = await forked(editor, thread)
        await editor.say(fork, f"say: from the {name}")
        transfers.append((await editor.call("thread/mergeBack", thread_id=fork.id)).transfer)
        await editor.call("thread/delete", thread_id=fork.id)
    shown = [item.transfer_id for item in await editor.items(thread) if isinstance(item, MergeBackItem)]
    assert shown == [transfer.id for transfer in transfers]
    assert (await editor.read(thread)).thread.pending_transfer_ids == tuple(shown)

    run = await editor.say(thread, "say: next")
    assert len(run.handoff_ids) == 2
    told = [item for item in await editor.items(thread, run) if isinstance(item, HandoffItem)]
    assert [(item.from_providers, item.to_provider) for item in told] == [(("rehearsal",), "rehearsal")] * 2
    assert [one.status for one in (await editor.read(thread)).transfers] == ["consumed", "consumed"]
    texts = received(await editor.recall(thread, "rehearsal"))
    assert [("from the left" in text, "from the right" in text) for text in texts[1:3]] == [
        (True, False),
        (False, True),
    ]
    assert all("What a fork of this conversation did, by its own numbers: run 2" in text for text in texts[1:3])
    assert texts[3] == "say: next"
    assert not any("root" in text for text in texts[1:3])


async def test_a_second_merge_back_carries_only_what_is_new(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "say: root")
    fork = await forked(editor, thread)
    await editor.say(fork, "say: early")
    first = (await editor.call("thread/mergeBack", thread_id=fork.id)).transfer
    with pytest.raises(Refused) as refused:
        await editor.call("thread/mergeBack", thread_id=fork.id)
    assert refused.value.kind == "invalidState"
    await editor.say(fork, "say: late")
    second = (await editor.call("thread/mergeBack", thread_id=fork.id)).transfer
    assert second.base_point == first.source_point
    text = (await editor.call("handoff/read", handoff_id=second.resolution.handoff_id)).handoff.sent_text
    assert ("late" in text, "early" in text) == (True, False)


async def test_a_pending_merge_back_can_be_taken_back_and_given_again(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "say: root")
    fork = await forked(editor, thread)
    await editor.say(fork, "say: from the fork")
    transfer = (await editor.call("thread/mergeBack", thread_id=fork.id)).transfer
    assert (await editor.call("transfer/cancel", transfer_id=transfer.id)).transfer.status == "superseded"
    run = await editor.say(thread, "say: next")
    assert run.handoff_ids == ()
    again = (await editor.call("thread/mergeBack", thread_id=fork.id)).transfer
    assert [one.id for one in (await editor.call("transfer/list", thread_id=thread.id)).transfers] == [
        transfer.id,
        again.id,
    ]
    assert (await editor.say(thread, "say: then")).handoff_ids == (again.resolution.handoff_id,)
    with pytest.raises(Refused) as refused:
        await editor.call("transfer/cancel", transfer_id=again.id)
    assert (refused.value.kind, refused.value.data["status"]) == ("invalidState", "consumed")


async def test_a_merge_back_waits_again_where_the_run_that_consumed_it_is_rolled_back(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "say: root")
    fork = await forked(editor, thread)
    await editor.say(fork, "say: from the fork")
    transfer = (await editor.call("thread/mergeBack", thread_id=fork.id)).transfer
    await editor.say(thread, "say: next")
    back = await editor.call("thread/rollback", thread_id=thread.id, to_run_ordinal=1)
    assert back.thread.pending_transfer_ids == (transfer.id,)
    run = await editor.say(thread, "say: instead", "understudy")
    assert transfer.resolution.handoff_id in run.handoff_ids
    assert any("from the fork" in text for text in received(await editor.recall(thread, "understudy")))


async def test_what_a_fork_rolled_back_is_told_no_more(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "say: root")
    fork = await forked(editor, thread)
    await editor.say(fork, "say: from the fork")
    transfer = (await editor.call("thread/mergeBack", thread_id=fork.id)).transfer
    await editor.call("thread/rollback", thread_id=fork.id, to_run_ordinal=1)
    await editor.until(
        lambda n: getattr(getattr(n, "record", None), "id", "") == transfer.id and n.record.status == "superseded"
    )  # type: ignore[union-attr]
    assert (await editor.say(thread, "say: next")).handoff_ids == ()


async def test_what_one_provider_took_of_a_fork_is_told_to_each_other_once(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "think: root", "understudy")
    await editor.say(thread, "think: with another", "rehearsal")
    fork = await forked(editor, thread)
    await editor.say(fork, "think: from the fork")
    await editor.call("thread/mergeBack", thread_id=fork.id)
    await editor.call("thread/delete", thread_id=fork.id)
    await editor.say(thread, "think: takes it", "rehearsal")
    preview = await editor.call("handoff/preview", thread_id=thread.id, selection=selection("understudy"))
    delta, again = preview.handoffs
    run = await editor.say(thread, "think: is told of it", "understudy")
    assert run.handoff_ids[1] == again.id
    assert "from the fork" not in delta.sent_text
    for provider in ("rehearsal", "understudy"):
        await editor.say(thread, "think: and on", provider)
    texts = received(await editor.recall(thread, "understudy"))
    assert sum("from the fork" in text for text in texts) == 1
    transfers = (await editor.read(thread)).transfers
    assert [one.type for one in transfers if one.source_thread_id == fork.id] == ["merge_back", "provider_handoff"]
    back = await editor.call("thread/rollback", thread_id=thread.id, to_run_ordinal=3)
    assert again.id in back.superseded_handoff_ids
    assert back.thread.pending_transfer_ids == ()
