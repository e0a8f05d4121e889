"""How a client stays in step with a thread: subscriptions, replays, and text as it is written."""

from collections.abc import Iterable
from pathlib import Path

from midstream.protocol.notifications import Notification, RunOutput, ThreadChanged, ThreadEvent, ThreadReset
from midstream.protocol.records.item import Item
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Thread
from support import bad_agent_file
from support.editor import Editor, editor_on


def events(told: Iterable[Notification], thread: Thread) -> list[ThreadEvent]:
    """Return a thread's events, in the order in which they came."""
    return [n for n in told if isinstance(n, ThreadEvent) and n.thread_id == thread.id]


def joined(outputs: Iterable[RunOutput]) -> str:
    """Return the text that a client has after these outputs; a gap between them fails."""
    text = ""
    for output in outputs:
        assert output.offset <= len(text)
        text = text[: output.offset] + output.text
    return text


async def whole(editor: Editor, item: Item, field: str = "text") -> str:
    """Return a field of an item as `item/output` gives it, page by page."""
    pages, offset = [], 0
    while offset is not None:
        page = await editor.call("item/output", item_id=item.id, field=field, offset=offset)
        pages.append(page.text)
        assert page.next_offset in (None, offset + len(page.text))
        offset = page.next_offset
    return "".join(pages)


async def settled(editor: Editor, thread: Thread) -> list[ThreadEvent]:
    """Return all events of a thread up to its head, once they have come."""
    head = (await editor.read(thread)).sequence
    await editor.until(lambda n: isinstance(n, ThreadEvent) and n.thread_id == thread.id and n.sequence == head)
    return events(editor.told, thread)


async def test_a_first_subscription_gets_a_snapshot_and_then_every_event_once(editor: Editor, workspace: Path) -> None:
    created = await editor.call("thread/create", workspace=workspace.as_uri(), runtime_mode="fullAccess")
    thread = created.thread
    subscribed = await editor.call("thread/subscribe", thread_id=thread.id)
    assert subscribed.snapshot == await editor.read(thread)
    assert subscribed.sequence == subscribed.snapshot.sequence
    for text in ("say: one", "write a.txt: two"):
        await editor.say(thread, text)
    told = await settled(editor, thread)
    assert [event.sequence for event in told] == list(
        range(subscribed.sequence + 1, (await editor.read(thread)).sequence + 1)
    )


async def test_a_replay_from_the_beginning_folds_to_what_is_read(editor: Editor, workspace: Path) -> None:
    created = await editor.call("thread/create", workspace=workspace.as_uri(), runtime_mode="fullAccess")
    thread = created.thread
    run = await editor.say(thread, "write a.txt: one\nsay: done")
    subscribed = await editor.call("thread/subscribe", thread_id=thread.id, after_sequence=0)
    assert (subscribed.sequence, subscribed.snapshot) == (0, None)
    told = await settled(editor, thread)
    read = await editor.read(thread)
    assert [event.sequence for event in told] == list(range(1, read.sequence + 1))
    newest = {(event.type, event.record.id): event.record for event in told}
    assert newest["thread", thread.id] == read.thread
    assert [newest["run", run.id]] == list(read.runs)
    for type_, records in (
        ("providerThread", read.provider_threads),
        ("checkpoint", read.checkpoints),
        ("transfer", read.transfers),
        ("handoff", read.handoffs),
        ("request", read.requests),
    ):
        assert sorted((r for (t, _), r in newest.items() if t == type_), key=lambda r: r.id) == sorted(
            records, key=lambda r: r.id
        )
    shown = sorted((r for (t, _), r in newest.items() if t == "item"), key=lambda item: item.ordinal)
    assert shown == await editor.items(thread)


async def test_after_a_restart_the_missing_events_follow_without_a_gap(tmp_path: Path, workspace: Path) -> None:
    data = tmp_path / "data"
    async with editor_on(data, "--rehearsal") as editor:
        thread = await editor.new_thread(workspace)
        await editor.say(thread, "say: one")
        live = await settled(editor, thread)
        middle = live[len(live) // 2].sequence
    async with editor_on(data, "--rehearsal") as editor:
        subscribed = await editor.call("thread/subscribe", thread_id=thread.id, after_sequence=middle)
        assert (subscribed.sequence, subscribed.snapshot) == (middle, None)
        replayed = await settled(editor, thread)
        assert [event.sequence for event in replayed] == list(range(middle + 1, replayed[-1].sequence + 1))
        known = {event.sequence: event for event in live}
        assert [event for event in replayed if event.sequence in known] == [
            event for event in live if event.sequence > middle
        ]
        await editor.say(thread, "say: two")
        assert [event.sequence for event in await settled(editor, thread)] == list(
            range(middle + 1, (await editor.read(thread)).sequence + 1)
        )


async def test_a_sequence_that_never_was_gets_a_snapshot(editor: Editor, workspace: Path) -> None:
    thread = (await editor.call("thread/create", workspace=workspace.as_uri())).thread
    read = await editor.read(thread)
    for after in (read.sequence + 1, 10**9, -1):
        subscribed = await editor.call("thread/subscribe", thread_id=thread.id, after_sequence=after)
        assert (subscribed.sequence, subscribed.snapshot) == (read.sequence, read)
    subscribed = await editor.call("thread/subscribe", thread_id=thread.id, after_sequence=read.sequence)
    assert (subscribed.sequence, subscribed.snapshot) == (read.sequence, None)


async def test_who_does_not_follow_a_thread_is_told_no_event_of_it(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "say: followed")
    await settled(editor, thread)
    assert await editor.call("thread/unsubscribe", thread_id=thread.id) is None
    seen = len(editor.told)
    run = await editor.say(thread, "say: unfollowed")
    assert {type(n).__name__ for n in editor.told[seen:]} == {"ThreadChanged"}
    changed = [n for n in editor.told[seen:] if isinstance(n, ThreadChanged)]
    assert {n.thread.id for n in changed} == {thread.id}
    assert run.status == "completed"
    assert await editor.call("thread/unsubscribe", thread_id=thread.id) is None


async def test_two_threads_at_once_keep_each_their_own_order(editor: Editor, workspace: Path) -> None:
    threads = [await editor.new_thread(workspace), await editor.new_thread(workspace)]
    runs = [await editor.begin(thread, "stream 20 10\nwrite a.txt: one") for thread in threads]
    for run in runs:
        await editor.ended(run)
    for thread, run in zip(threads, runs, strict=True):
        told = await settled(editor, thread)
        assert [event.sequence for event in told] == list(range(told[0].sequence, told[-1].sequence + 1))
        statuses = [e.record.status for e in told if isinstance(e.record, Run) and e.record.id == run.id]
        assert list(dict.fromkeys(statuses)) == ["starting", "running", "completed"]


async def test_every_change_names_the_command_that_it_came_from(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    once = "7a0c5f0e-6f0f-4a38-9d0c-6a4d3f2f8a11"
    await editor.call("thread/update", thread_id=thread.id, title="Named", command_id=once)
    told = await settled(editor, thread)
    assert [(event.type, event.command_id, event.record.title) for event in told] == [("thread", once, "Named")]  # type: ignore[union-attr]


async def test_output_counts_code_points_and_joins_to_the_items_text(tmp_path: Path, workspace: Path) -> None:
    pieces = ["🌊", "👩‍🚀 ", "ünïcödé ", "한국어 ", "🏳️‍🌈", "plain", " \U0001f600" * 50]
    script = {
        "session/prompt": [
            *({"update": bad_agent_file.chunk(piece)} for piece in pieces),
            {"answer": {"stopReason": "end_turn"}},
        ]
    }
    config = {"providers": {"sailor": bad_agent_file.provider(tmp_path / "sailor", script)}}
    async with editor_on(tmp_path / "data", config=config) as editor:
        thread = await editor.new_thread(workspace, "sailor")
        run = await editor.say(thread, "Sing.")
        (item,) = [item for item in await editor.items(thread, run) if item.type == "agentMessage"]
        assert item.text == "".join(pieces)
        outputs = [output for output in editor.all_told(RunOutput) if output.item_id == item.id]
        assert "".join(output.text for output in outputs) == item.text[outputs[0].offset :]
        assert joined([*outputs]) == item.text
        assert {(output.run_id, output.field) for output in outputs} == {(run.id, "text")}
        for offset in range(0, len(item.text), 7):
            page = await editor.call("item/output", item_id=item.id, field="text", offset=offset, limit=7)
            assert page.text == item.text[offset : offset + 7]
        end = await editor.call("item/output", item_id=item.id, field="text", offset=len(item.text) + 10)
        assert (end.text, end.next_offset) == ("", None)


async def test_a_long_text_is_shortened_in_its_record_and_whole_in_its_output(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    run = await editor.say(thread, "stream 200 512")
    (item,) = [item for item in await editor.items(thread, run) if item.type == "agentMessage"]
    text = "".join(str(number % 10) * 512 for number in range(200))
    (mark,) = item.shortened or ()
    tail = len(text) - mark.tail_offset
    assert (mark.field, mark.path) == ("text", None)
    assert item.text == text[: mark.head_length] + text[mark.tail_offset :]
    assert mark.head_length + tail < len(text)
    assert await whole(editor, item) == text
    assert joined(output for output in editor.all_told(RunOutput) if output.item_id == item.id) == text
    records = [e.record for e in await settled(editor, thread) if e.type == "item" and e.record.id == item.id]
    assert records[-1] == item
    assert all(len(record.text) <= len(item.text) for record in records)  # type: ignore[union-attr]


async def test_a_subscription_in_the_middle_of_a_text_misses_none_of_it(tmp_path: Path, workspace: Path) -> None:
    script = {
        "session/prompt": [
            {"update": bad_agent_file.chunk("🌊 before ")},
            {"wait": "session/cancel"},
            {"update": bad_agent_file.chunk("and after 🌊")},
            {"answer": {"stopReason": "cancelled"}},
        ]
    }
    config = {"providers": {"sailor": bad_agent_file.provider(tmp_path / "sailor", script)}}
    async with editor_on(tmp_path / "data", config=config) as editor:
        thread = await editor.new_thread(workspace, "sailor")
        run = await editor.begin(thread, "Sing.")
        first = await editor.until_output(run, "before")
        await editor.call("thread/unsubscribe", thread_id=thread.id)
        seen = len(editor.told)
        subscribed = await editor.call("thread/subscribe", thread_id=thread.id)
        page = await editor.call("thread/items", thread_id=thread.id, run_id=run.id)
        (shown,) = [item for item in page.items if item.id == first.item_id]
        assert page.sequence >= subscribed.sequence
        assert shown.text == "🌊 before "
        assert (await editor.call("item/output", item_id=shown.id, field="text")).text == "🌊 before "
        await editor.call("run/interrupt", run_id=run.id)
        assert (await editor.ended(run)).status == "interrupted"
        outputs = [n for n in editor.told[seen:] if isinstance(n, RunOutput) and n.item_id == shown.id]
        assert outputs[0].offset <= len(shown.text)
        text = shown.text
        for output in outputs:
            assert output.offset <= len(text)
            text = text[: output.offset] + output.text
        assert text == "🌊 before and after 🌊"
        assert [item.text for item in await editor.items(thread, run) if item.id == shown.id] == [text]


async def test_output_of_a_command_is_told_while_it_runs(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    run = await editor.say(thread, "run printf 'one\\ntwo\\n'")
    (item,) = [item for item in await editor.items(thread, run) if item.type == "command"]
    assert item.output == "one\ntwo\n"
    outputs = [output for output in editor.all_told(RunOutput) if output.item_id == item.id]
    assert {output.field for output in outputs} <= {"output"}
    assert joined(outputs) in ("", item.output)


async def test_a_replay_larger_than_a_clients_outbox_arrives_whole(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    words = "€" * 8_000
    await editor.say(thread, "\n".join(f"say: {words}" for _ in range(400)))
    head = (await editor.read(thread)).sequence
    await editor.call("thread/unsubscribe", thread_id=thread.id)
    known = len(editor.told)
    answer = await editor.call("thread/subscribe", thread_id=thread.id, after_sequence=0)
    assert answer.snapshot is None
    await editor.until(lambda n: isinstance(n, ThreadEvent | ThreadReset) and n_sequence(n) in (head, None), known)
    replayed = [n for n in editor.told[known:] if isinstance(n, ThreadEvent | ThreadReset)]
    assert [n_sequence(n) for n in replayed] == list(range(1, head + 1))


def n_sequence(told: ThreadEvent | ThreadReset) -> int | None:
    """Return the sequence of an event, None of a reset."""
    return told.sequence if isinstance(told, ThreadEvent) else None
