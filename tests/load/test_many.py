"""Many at once: threads, clients, queued runs, items."""

from collections.abc import Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from midstream.protocol.notifications import ThreadEvent, ThreadReset
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Thread
from support.editor import CONVERTER, Editor, editor_on, providers
from support.load import RUNS, fill, firehoses, peak
from support.raw import RawClient, raw_client

PROVIDERS = ("ada", "bob", "cyd", "dee")
CHUNKS, CHUNK = 400, 4_096
QUEUED = 1_000
ITEMS = 100_000
MIB = 1 << 20


def sequences(told: Iterable[Any], thread: Thread) -> list[int]:
    """Return the sequences of a thread's events, in the order in which they came."""
    return [n.sequence for n in told if isinstance(n, ThreadEvent) and n.thread_id == thread.id]


async def caught_up(editor: Editor, thread: Thread, head: int) -> None:
    """Wait for all events of a thread; a client that was too slow subscribes anew, as often as it is told to."""
    known = 0
    while True:
        told = await editor.until(
            lambda n: (
                (isinstance(n, ThreadReset) and n.thread_id == thread.id)
                or (isinstance(n, ThreadEvent) and n.thread_id == thread.id and n.sequence == head)
            ),
            known,
        )
        if isinstance(told, ThreadEvent):
            return
        assert isinstance(told, ThreadReset)
        known = next(place for place, n in enumerate(editor.told) if n is told) + 1
        await editor.call("thread/subscribe", thread_id=thread.id, after_sequence=told.after_sequence)


async def read_at_last(stalled: RawClient, heads: dict[str, int]) -> dict[str, list[dict[str, Any]]]:
    """Let a client read at last, which has lost all of these threads, and return their events up to their heads."""
    resets = 0
    events: dict[str, list[dict[str, Any]]] = {thread_id: [] for thread_id in heads}
    while any(not told or told[-1]["sequence"] < heads[thread_id] for thread_id, told in events.items()):
        message = stalled.heard.pop(0) if stalled.heard else await stalled.next()
        match message:
            case {"method": "thread/event", "params": event}:
                events[event["threadId"]].append(event)
            case {"method": "thread/reset", "params": reset}:
                assert (await stalled.result("thread/subscribe", reset))["snapshot"] is None
                resets += 1
            case _:
                pass
    assert resets == len(heads)
    return events


async def test_eight_threads_of_four_providers_reach_every_client_whole_while_one_reads_nothing(
    tmp_path: Path, workspace: Path
) -> None:
    data, config = tmp_path / "data", {"providers": providers(*PROVIDERS)}
    async with AsyncExitStack() as stack:
        editors = [await stack.enter_async_context(editor_on(data, config=config)) for _ in range(3)]
        stalled = await stack.enter_async_context(raw_client(data, limit=MIB // 16))
        await stalled.initialize(config=config)
        user = editors[0]
        threads = [await user.new_thread(workspace, kind) for kind in (*PROVIDERS, *PROVIDERS)]
        for thread in threads:
            for editor in editors[1:]:
                await editor.call("thread/subscribe", thread_id=thread.id)
            await stalled.result("thread/subscribe", {"threadId": thread.id})
        words = f"write {{}}.txt: one\nstream {CHUNKS} {CHUNK}\nrun echo done\ntodo: a | b\nsay: end"
        runs = [await user.begin(thread, words.format(place)) for place, thread in enumerate(threads)]
        assert [(await user.ended(run)).status for run in runs] == ["completed"] * len(threads)
        heads = {thread.id: (await user.read(thread)).sequence for thread in threads}
        for thread in threads:
            for editor in editors:
                await caught_up(editor, thread, heads[thread.id])
                told = sequences(editor.told, thread)
                assert told == list(range(told[0], heads[thread.id] + 1))
        known = {(n.thread_id, n.sequence): CONVERTER.unstructure(n) for n in user.all_told(ThreadEvent)}
        for thread_id, late in (await read_at_last(stalled, heads)).items():
            assert [event["sequence"] for event in late] == list(range(late[0]["sequence"], heads[thread_id] + 1))
            assert late == [known[thread_id, event["sequence"]] for event in late]


async def test_a_queue_of_a_thousand_runs_costs_each_command_no_more_than_a_queue_of_two(
    tmp_path: Path, workspace: Path
) -> None:
    async with editor_on(tmp_path / "data", config=firehoses("firehose")) as editor:
        thread = await editor.new_thread(workspace, "firehose")
        blocking = await editor.begin(thread, "wait")
        await editor.until_run(blocking, "running")

        async def head() -> int:
            page = await editor.call("thread/items", thread_id=thread.id, last=True, limit=1)
            sequence: int = page.sequence
            return sequence

        async def events_of(method: str, **params: Any) -> tuple[Run, int]:
            before = await head()
            answer = await editor.call(method, **params)
            return answer.run, await head() - before

        queued = []
        for number in range(QUEUED):
            run, cost = await events_of("run/start", thread_id=thread.id, message={"text": f"Say {number}."})
            queued.append(run)
            assert cost == 1 or number == 0
        last, second, middle = queued[-1], queued[1], queued[QUEUED // 2]
        assert (await events_of("run/edit", run_id=middle.id, text="Say it otherwise."))[1] == 1
        _, cost = await events_of("run/reorder", run_id=last.id, before_run_id=queued[-2].id)
        assert cost == 2
        await editor.call("run/reorder", run_id=last.id, before_run_id=second.id)
        waiting = [run for run in (await editor.read(thread)).runs if run.status == "queued"]
        order = [run.id for run in sorted(waiting, key=lambda run: run.queue_position or 0)]
        assert order == [queued[0].id, last.id, *(run.id for run in queued[1:-1])]
        assert (await events_of("run/cancel", run_id=middle.id))[1] == 1
        for run in (run for run in queued[1:] if run is not middle):
            await editor.call("run/cancel", run_id=run.id)
        await editor.call("run/interrupt", run_id=blocking.id)
        assert (await editor.ended(queued[0])).status == "completed"


async def test_a_thread_of_a_hundred_thousand_items_costs_the_daemon_no_more_than_one_of_a_thousand(
    tmp_path: Path, workspace: Path
) -> None:
    peaks = []
    for items in (1_000, ITEMS):
        data = tmp_path / f"data-{items}"
        data.mkdir()
        thread_id = await fill(data, items, workspace)
        async with editor_on(data, config=firehoses("firehose")) as editor:
            # A first run loads what a daemon loads only once.
            await editor.say(await editor.new_thread(workspace, "firehose"), "flood 1 99")
            read = await editor.call("thread/read", thread_id=thread_id)
            first = (await editor.call("thread/items", thread_id=thread_id)).items
            statuses = {run.ordinal: run.status for run in read.runs}
            assert (len(statuses), statuses[RUNS], read.thread.status) == (RUNS, "interrupted", "idle")
            for place in ({}, {"last": True}, {"around_item_id": first[-1].id}, {"run_id": read.runs[-1].id}):
                page = await editor.call("thread/items", thread_id=thread_id, **place)
                assert 0 < len(page.items) <= 101
            await editor.call("thread/subscribe", thread_id=thread_id)
            peaks.append(peak(editor.daemon_pid()))
    assert peaks[1] - peaks[0] < 12 * MIB
