"""Pages of a thread's items, and stretches of their fields."""

from pathlib import Path
from typing import Any

import pytest

from midstream.protocol.records.item import Item
from midstream.protocol.records.thread import Thread
from support.editor import Editor, Refused


async def ids(editor: Editor, thread: Thread, **params: Any) -> list[str]:
    """Return the ids of a page."""
    return [item.id for item in (await editor.call("thread/items", thread_id=thread.id, **params)).items]


async def story(editor: Editor, workspace: Path) -> tuple[Thread, list[Item]]:
    """Make a thread of two runs, and return all of its items."""
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "think: hm\nsay: one\nrun echo hello\ntodo: a | b\nwrite a.txt: x\ndecide: yes")
    await editor.say(thread, "say: two")
    return thread, await editor.items(thread)


async def test_pages_lie_where_their_anchor_says(editor: Editor, workspace: Path) -> None:
    thread, items = await story(editor, workspace)
    order = [item.id for item in items]
    assert [item.ordinal for item in items] == sorted({item.ordinal for item in items})
    assert len(order) >= 9
    page = await editor.call("thread/items", thread_id=thread.id, limit=3)
    assert [item.id for item in page.items] == order[:3]
    assert (page.previous_item_id, page.next_item_id) == (None, order[2])
    page = await editor.call("thread/items", thread_id=thread.id, after_item_id=order[2], limit=3)
    assert [item.id for item in page.items] == order[3:6]
    assert (page.previous_item_id, page.next_item_id) == (order[3], order[5])
    page = await editor.call("thread/items", thread_id=thread.id, before_item_id=order[3], limit=2)
    assert [item.id for item in page.items] == order[1:3]
    assert (page.previous_item_id, page.next_item_id) == (order[1], order[2])
    page = await editor.call("thread/items", thread_id=thread.id, last=True, limit=2)
    assert [item.id for item in page.items] == order[-2:]
    assert (page.previous_item_id, page.next_item_id) == (order[-2], None)
    page = await editor.call("thread/items", thread_id=thread.id, around_item_id=order[4], limit=4)
    assert order[4] in [item.id for item in page.items]
    assert [item.id for item in page.items] == order[2:6]
    for middle in (order[0], order[-1]):
        assert middle in await ids(editor, thread, around_item_id=middle, limit=3)


async def test_walking_pages_either_way_meets_every_item_once(editor: Editor, workspace: Path) -> None:
    thread, items = await story(editor, workspace)
    order = [item.id for item in items]
    for limit in (1, 2, len(order)):
        page = await editor.call("thread/items", thread_id=thread.id, limit=limit)
        walked = [item.id for item in page.items]
        while page.next_item_id is not None:
            page = await editor.call("thread/items", thread_id=thread.id, after_item_id=page.next_item_id, limit=limit)
            walked += [item.id for item in page.items]
        assert walked == order
        page = await editor.call("thread/items", thread_id=thread.id, last=True, limit=limit)
        walked = [item.id for item in page.items]
        while page.previous_item_id is not None:
            page = await editor.call(
                "thread/items", thread_id=thread.id, before_item_id=page.previous_item_id, limit=limit
            )
            walked = [item.id for item in page.items] + walked
        assert walked == order


async def test_a_page_past_either_end_is_empty_and_leads_back(editor: Editor, workspace: Path) -> None:
    thread, items = await story(editor, workspace)
    order = [item.id for item in items]
    after = await editor.call("thread/items", thread_id=thread.id, after_item_id=order[-1])
    assert (after.items, after.next_item_id) == ((), None)
    before = await editor.call("thread/items", thread_id=thread.id, before_item_id=order[0])
    assert (before.items, before.previous_item_id) == ((), None)


async def test_a_runs_items_are_those_with_its_id(editor: Editor, workspace: Path) -> None:
    thread, items = await story(editor, workspace)
    runs = (await editor.read(thread)).runs
    for run in runs:
        wanted = [item.id for item in items if item.run_id == run.id]
        assert wanted
        assert await ids(editor, thread, run_id=run.id) == wanted
        assert await ids(editor, thread, run_id=run.id, last=True, limit=1) == wanted[-1:]
        assert await ids(editor, thread, run_id=run.id, after_item_id=wanted[0]) == wanted[1:]


async def test_a_thread_without_runs_has_an_empty_page_at_its_sequence(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    page = await editor.call("thread/items", thread_id=thread.id)
    assert (page.items, page.previous_item_id, page.next_item_id) == ((), None, None)
    assert page.sequence == (await editor.read(thread)).sequence


async def test_fields_are_read_in_stretches_and_only_where_they_are_text(editor: Editor, workspace: Path) -> None:
    _, items = await story(editor, workspace)
    (command,) = [item for item in items if item.type == "command"]
    output = await editor.call("item/output", item_id=command.id, field="output", offset=1, limit=3)
    assert (output.text, output.next_offset) == ("ell", 4)
    (change,) = [item for item in items if item.type == "fileChange"]
    diff = await editor.call("item/output", item_id=change.id, field="diff", path="a.txt")
    assert "+x" in diff.text
    message = next(item for item in items if item.type == "agentMessage")
    for item, field, path, named in (
        (message, "colour", None, "field"),
        (message, "status2", None, "field"),
        (message, "ordinal", None, "field"),
        (change, "diff", "no-such.txt", "path"),
        (change, "diff", None, "path"),
    ):
        params = {"path": path} if path else {}
        with pytest.raises(Refused) as refused:
            await editor.call("item/output", item_id=item.id, field=field, **params)
        assert (refused.value.code, refused.value.data["path"]) == (-32602, named)


async def test_items_of_a_run_that_is_not_there_are_refused(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    with pytest.raises(Refused) as refused:
        await editor.call("thread/items", thread_id=thread.id, run_id="run_none")
    assert (refused.value.code, refused.value.kind) == (4001, "runNotFound")
