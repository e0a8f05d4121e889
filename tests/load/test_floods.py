"""What agents say in floods: the daemon holds little of it, and clients miss none of it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from midstream.protocol.notifications import RunOutput, ThreadEvent, ThreadReset
from midstream.protocol.records.item import Item
from midstream.protocol.records.thread import Thread
from support import bad_agent_file
from support.editor import Editor, Refused, editor_on
from support.load import firehoses, peak
from support.raw import raw_client

MIB = 1 << 20
LINE = 24_000_000
PAGE = 1_000_000


@pytest.fixture
async def editor(tmp_path: Path) -> AsyncIterator[Editor]:
    """An editor on a daemon with one agent that says much."""
    async with editor_on(tmp_path / "data", config=firehoses("firehose")) as editor:
        yield editor


async def quiet_thread(editor: Editor, workspace: Path) -> Thread:
    """Make a thread that this editor does not follow, so that the test is not what is slow."""
    selection = {"provider": "firehose", "model": None}
    created = await editor.call("thread/create", workspace=workspace.as_uri(), selection=selection)
    thread: Thread = created.thread
    return thread


@pytest.mark.parametrize(
    ("words", "count", "size"),
    [("flood", 4_000, 4_096), ("flood", 30_000, 200), ("tools", 400, 40_000), ("inputs", 400, 40_000)],
)
async def test_the_daemons_memory_does_not_grow_with_what_an_agent_says(
    editor: Editor, workspace: Path, words: str, count: int, size: int
) -> None:
    thread = await quiet_thread(editor, workspace)
    async with raw_client(editor.data, limit=MIB // 16) as stalled:
        await stalled.initialize(config=firehoses("firehose"))
        await stalled.result("thread/subscribe", {"threadId": thread.id})
        peaks = []
        for times in (1, 1, 4):
            assert (await editor.say(thread, f"{words} {count * times} {size}")).status == "completed"
            peaks.append(peak(editor.daemon_pid()))
        assert peaks[2] - peaks[1] < 16 * MIB


async def whole(editor: Editor, item: Item, field: str) -> str:
    """Return a field of an item, page by page."""
    pages: list[str] = []
    offset = 0
    while offset is not None:
        page = await editor.call("item/output", item_id=item.id, field=field, offset=offset, limit=PAGE)
        pages.append(page.text)
        offset = page.next_offset
    return "".join(pages)


@pytest.mark.parametrize(("words", "type_", "field"), [("tools", "tool", "output"), ("inputs", "tool", "input")])
async def test_24_mb_on_one_line_are_stored_whole_and_sent_to_nobody(
    editor: Editor, workspace: Path, words: str, type_: str, field: str
) -> None:
    thread = await quiet_thread(editor, workspace)
    await editor.call("thread/subscribe", thread_id=thread.id)
    run = await editor.say(thread, f"{words} 1 {LINE}")
    (item,) = [item for item in await editor.items(thread, run) if item.type == type_]
    assert await whole(editor, item, field) == "x" * LINE
    (mark,) = item.shortened or ()
    assert (mark.field, LINE - mark.tail_offset) == (field, mark.head_length)
    assert len(getattr(item, field)) < 10_000
    await editor.until(lambda n: isinstance(n, ThreadEvent) and n.record == item)
    assert not editor.all_told(ThreadReset)
    first = peak(editor.daemon_pid())
    for _ in range(3):
        await editor.say(thread, f"{words} 1 {LINE}")
    assert peak(editor.daemon_pid()) - first < LINE


async def test_24_mb_in_one_chunk_of_a_message_reset_no_client_that_reads(editor: Editor, workspace: Path) -> None:
    thread = await quiet_thread(editor, workspace)
    await editor.call("thread/subscribe", thread_id=thread.id)
    run = await editor.say(thread, f"flood 1 {LINE}\nflood 1 100")
    large, _ = [item for item in await editor.items(thread, run) if item.type == "agentMessage"]
    await editor.until(lambda n: isinstance(n, ThreadEvent) and n.record == large)
    assert len(await whole(editor, large, "text")) == pytest.approx(LINE, abs=20)
    assert not editor.all_told(ThreadReset)
    assert sum(len(output.text) for output in editor.all_told(RunOutput)) < PAGE


async def test_an_agent_that_starts_slowly_holds_up_nothing_else_of_its_thread(tmp_path: Path, workspace: Path) -> None:
    script = {"initialize": [{"wait": "never"}]}
    config = {"providers": {"slow": bad_agent_file.provider(tmp_path / "slow", script), **firehoses("f")["providers"]}}
    async with editor_on(tmp_path / "data", config=config) as editor:
        thread = await editor.new_thread(workspace, "f")
        slow = {"provider": "slow", "model": None}
        asks = [
            editor.begin(thread, "hello", "slow"),
            editor.call("provider/switch", thread_id=thread.id, selection=slow),
            editor.call("handoff/preview", thread_id=thread.id, selection=slow),
        ]
        waiting = [asyncio.ensure_future(ask) for ask in asks]
        await editor.call("thread/update", thread_id=thread.id, title="not held up")
        assert (await editor.read(thread)).thread.title == "not held up"
        assert not any(ask.done() for ask in waiting)
    for ask in waiting:
        with pytest.raises(Refused):
            await ask
