"""A clock that goes backwards, while a daemon runs and between two."""

from pathlib import Path

from crash.stage import Stage
from crash.verdict import goes_on
from midstream.protocol.notifications import ThreadEvent
from scenarios.steps import of_type

HOUR = 3_600_000


async def test_a_clock_that_goes_back_makes_nothing_earlier_than_what_was_before_it(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    try:
        editor = await stage.start()
        thread = await editor.new_thread(stage.workspace)
        await editor.say(thread, stage.words("write a.txt: one"))
        stage.put_back_the_clock(HOUR)
        await editor.say(thread, stage.words("write a.txt: two"))
        assert await editor.leave() == 0
        stage.put_back_the_clock(2 * HOUR)
        editor = await stage.start()
        await editor.call("thread/subscribe", thread_id=thread.id, after_sequence=0)
        run = await editor.say(thread, stage.words("write a.txt: three"))

        read = await editor.read(thread)
        items = await editor.items(thread)
        for records in (read.runs, items, read.checkpoints):
            assert len({record.id for record in records}) == len(records)
        assert sorted(read.runs, key=lambda one: one.id) == sorted(read.runs, key=lambda one: one.ordinal or 0)
        messages = [item.id for item in of_type(items, "userMessage")]
        assert messages == sorted(messages)
        started = [item.started_at for item in items]
        assert started == sorted(started)
        for one in read.runs:
            assert one.started_at is not None
            assert one.completed_at is not None
            assert one.requested_at <= one.started_at <= one.completed_at
        updates = [event.record.updated_at for event in editor.all_told(ThreadEvent) if event.type == "thread"]
        assert updates == sorted(updates)
        # The run's diff begins at the latest checkpoint, which is found by its id.
        (change,) = next(one for one in read.checkpoints if one.id == run.checkpoint_id).files[:1]
        assert (change.path, change.status) == ("a.txt", "modified")
        await goes_on(stage, editor, thread)
        assert await editor.leave() == 0
    finally:
        await stage.close()
