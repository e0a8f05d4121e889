"""Commits: whole or not at all, in order, and each for itself."""

import asyncio
import logging
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import pytest

from midstream.protocol.records.item import AgentMessageItem
from midstream.server.graph.effects import ExecuteAttempt, InterruptTurn
from midstream.server.graph.events import HandoffContent, HandoffPut, ItemPut, RunPut, ThreadPut
from midstream.server.store import Commit, Receipt, Store, StoredEffect, StoreFailed, Write, WriteRefused
from support import records
from support.stores import ThreadLog

RECEIPT = Receipt(command_id="c-1", method="run/start", params_sha256="0" * 64, answer=b'{"run":1}')
INTERRUPT = InterruptTurn(run_id="run_1", attempt=1)


def message(ordinal: int, *, text: str = "hello", **fields: str) -> ItemPut:
    return ItemPut(records.item(AgentMessageItem, ordinal, in_run=1, text=text, **fields))


async def test_a_commit_stores_events_effects_and_receipt_together(store: Store, log: ThreadLog) -> None:
    thread, run = records.thread(), records.run(1)
    execute = ExecuteAttempt(run_id="run_1", attempt=1, message_item_ids=("itm_1",))
    commit = await log.commit(
        ThreadPut(thread), RunPut(run), command_id="c-1", effects=(execute, INTERRUPT), receipt=RECEIPT
    )
    assert [(event.sequence, event.command_id) for event in commit.events] == [(1, "c-1"), (2, "c-1")]
    assert [stored.effect for stored in commit.effects] == [execute, INTERRUPT]
    assert await store.events("thr_1", 0, 10) == commit.events
    assert await store.pending_effects() == commit.effects
    assert await store.receipt("c-1") == RECEIPT
    assert await store.thread("thr_1") == thread
    assert await store.run("run_1") == run


async def test_a_refused_write_leaves_nothing_behind(store: Store, log: ThreadLog) -> None:
    await log.commit(ThreadPut(records.thread()), receipt=RECEIPT)
    taken = log.write(RunPut(records.run(1)), log.text("itm_1", "words"), effects=(INTERRUPT,), receipt=RECEIPT)
    with pytest.raises(WriteRefused):
        await store.commit(taken)
    assert len(await store.events("thr_1", 0, 10)) == 1
    assert await store.run("run_1") is None
    assert await store.text("itm_1", "text") is None
    assert await store.pending_effects() == ()


@pytest.mark.parametrize("first_sequence", [1, 3])
async def test_a_sequence_that_is_taken_or_leaves_a_gap_is_refused(
    store: Store, log: ThreadLog, first_sequence: int
) -> None:
    await log.commit(ThreadPut(records.thread()))
    with pytest.raises(WriteRefused, match=f"thr_1 is at 1, so {first_sequence} is not its next"):
        await store.commit(Write(thread_id="thr_1", first_sequence=first_sequence, events=(RunPut(records.run(1)),)))
    assert await store.run("run_1") is None


async def test_text_has_the_sequence_of_the_record_before_it(store: Store, log: ThreadLog) -> None:
    await log.commit(ThreadPut(records.thread()))
    commit = await log.commit(log.text("itm_1", "a"), message(1), log.text("itm_1", "b"), message(2))
    assert [event.sequence for event in commit.events] == [1, 2, 2, 3]
    positions = [event.position for event in commit.events]
    assert positions == sorted(set(positions))


async def test_positions_go_on_rising_over_threads_and_restarts(path: Path) -> None:
    positions = []
    for thread_id in ("thr_1", "thr_2"):
        store = await Store.open(path)
        log = ThreadLog(store, thread_id)
        for event in (ThreadPut(records.thread(id=thread_id)), log.text(f"itm_{thread_id}", "words")):
            positions += [committed.position for committed in (await log.commit(event)).events]
        await store.aclose()
    assert positions == sorted(set(positions))


async def test_commits_are_published_in_order_before_their_callers_go_on(store: Store, log: ThreadLog) -> None:
    told: list[Commit] = []
    store.on_committed = told.append

    async def commit(write: Write) -> None:
        commit = await store.commit(write)
        assert commit in told

    writes = [log.write(ThreadPut(records.thread(title=str(number)))) for number in range(40)]
    await asyncio.gather(*map(commit, writes))
    assert [event.sequence for commit in told for event in commit.events] == list(range(1, 41))


async def test_what_is_published_is_stored_already(store: Store, log: ThreadLog) -> None:
    reading: list[asyncio.Task[object]] = []
    store.on_committed = lambda commit: reading.append(asyncio.create_task(store.thread("thr_1")))
    await log.commit(ThreadPut(records.thread()))
    assert await reading[0] == records.thread()


async def test_a_publisher_that_fails_harms_neither_the_commit_nor_the_next(
    store: Store, log: ThreadLog, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(commit: Commit) -> None:
        raise LookupError("no such client")

    store.on_committed = fail
    with caplog.at_level(logging.ERROR):
        await log.commit(ThreadPut(records.thread()))
        await log.commit(RunPut(records.run(1)))
    assert "no such client" in caplog.text
    assert await store.run("run_1") == records.run(1)


async def test_sixty_four_producers_at_once_all_get_their_own_answer(store: Store) -> None:
    async def produce(number: int) -> list[int]:
        log = ThreadLog(store, f"thr_{number}")
        await log.commit(ThreadPut(records.thread(id=log.thread_id)))
        item_id = f"itm_{number}"
        commits = [await log.commit(log.text(item_id, f"{piece} ")) for piece in range(20)]
        assert {event.thread_id for commit in commits for event in commit.events} == {log.thread_id}
        assert await store.text(item_id, "text") == "".join(f"{piece} " for piece in range(20))
        return [event.position for commit in commits for event in commit.events]

    produced = await asyncio.gather(*map(produce, range(64)))
    assert all(positions == sorted(positions) for positions in produced)
    assert len({position for positions in produced for position in positions}) == 64 * 20


async def test_a_write_at_fault_does_not_fail_its_neighbours(store: Store) -> None:
    logs = [ThreadLog(store, f"thr_{number}") for number in range(10)]
    writes = [log.write(ThreadPut(records.thread(id=log.thread_id)), receipt=RECEIPT) for log in logs[:2]]
    writes += [log.write(ThreadPut(records.thread(id=log.thread_id))) for log in logs[2:]]
    outcomes = await asyncio.gather(*map(store.commit, writes), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [Commit, WriteRefused] + 8 * [Commit]
    assert (await store.thread("thr_1"), await store.thread("thr_9")) == (None, records.thread(id="thr_9"))


async def test_the_write_of_a_cancelled_caller_is_committed_whole(store: Store, log: ThreadLog) -> None:
    committed = asyncio.Event()
    store.on_committed = lambda commit: committed.set()
    caller = asyncio.create_task(log.commit(ThreadPut(records.thread()), RunPut(records.run(1))))
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    await asyncio.wait_for(committed.wait(), 10)
    assert await store.run("run_1") == records.run(1)
    await log.commit(RunPut(records.run(2)))
    assert len(await store.events("thr_1", 0, 10)) == 3


async def test_what_waits_is_committed_before_the_store_closes(path: Path) -> None:
    store = await Store.open(path)
    log = ThreadLog(store)
    waiting = [asyncio.create_task(log.commit(ThreadPut(records.thread(title=str(n))))) for n in range(300)]
    await asyncio.sleep(0)
    await store.aclose()
    assert [(await one).events[0].sequence for one in waiting] == list(range(1, 301))
    with pytest.raises(StoreFailed, match="closed"):
        await log.commit(ThreadPut(records.thread()))


@pytest.mark.parametrize("broken", ["half \ud83d", "\udc00"])
async def test_what_is_no_unicode_is_refused(store: Store, log: ThreadLog, broken: str) -> None:
    await log.commit(ThreadPut(records.thread()))
    for event in (message(1, text=broken), log.text("itm_1", broken)):
        with pytest.raises(WriteRefused):
            await store.commit(Write(thread_id="thr_1", first_sequence=2, events=(event,)))
    assert len(await store.events("thr_1", 0, 10)) == 1


async def test_two_items_never_share_an_ordinal(store: Store, log: ThreadLog) -> None:
    await log.commit(ThreadPut(records.thread()), message(1))
    with pytest.raises(WriteRefused):
        await log.commit(message(1, id="itm_other"))
    assert await store.item("itm_1") == message(1).record


async def test_effects_that_are_done_are_gone_and_their_ids_are_never_used_again(path: Path) -> None:
    seen: list[int] = []
    for _ in range(3):
        store = await Store.open(path)
        log = ThreadLog(store)
        commit = await log.commit(effects=(INTERRUPT,))
        (stored,) = await store.pending_effects()
        assert commit.effects == (stored,) == (StoredEffect(stored.id, "thr_1", INTERRUPT),)
        seen.append(stored.id)
        await log.commit(done=(stored.id,))
        assert await store.pending_effects() == ()
        await store.aclose()
    assert seen == sorted(set(seen))


async def test_a_receipt_is_given_once_and_outlives_what_it_quoted(store: Store, log: ThreadLog) -> None:
    await log.commit(ThreadPut(records.thread()), receipt=RECEIPT)
    deletion = attrs.evolve(RECEIPT, command_id="c-3", answer=b"null")
    await log.commit(forget=True, receipt=deletion)
    assert await store.receipt("c-1") == attrs.evolve(RECEIPT, answer=b"")
    assert await store.receipt("c-2") is None
    assert await store.receipt("c-3") == deletion
    with pytest.raises(WriteRefused):
        await ThreadLog(store, "thr_2").commit(receipt=RECEIPT)


async def test_a_forgotten_thread_leaves_nothing_and_other_threads_alone(store: Store, log: ThreadLog) -> None:
    other = ThreadLog(store, "thr_2")
    for each in (log, other):
        item_id = f"itm_{each.thread_id}"
        content = HandoffContent(f"summary of {each.thread_id}", "sent", ())
        await each.commit(
            ThreadPut(records.thread(id=each.thread_id)),
            RunPut(records.run(1, id=f"run_{each.thread_id}", thread_id=each.thread_id)),
            message(1, id=item_id, thread_id=each.thread_id),
            each.text(item_id, "words"),
            HandoffPut(records.handoff(f"hof_{each.thread_id}", (1,), thread_id=each.thread_id), content),
        )
    await log.commit(forget=True)
    for thread_id, kept in (("thr_1", False), ("thr_2", True)):
        assert (await store.snapshot(thread_id) is not None) == kept
        assert (await store.item(f"itm_{thread_id}") is not None) == kept
        assert (await store.text(f"itm_{thread_id}", "text") is not None) == kept
        assert (await store.handoff(f"hof_{thread_id}") is not None) == kept
        assert bool(await store.events(thread_id, 0, 10)) == kept


@contextmanager
def no_file_longer_than(size: int) -> Iterator[None]:
    """Let the kernel refuse to make a file longer, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_full_disk_fails_its_caller_and_the_store_goes_on_once_there_is_room(
    store: Store, log: ThreadLog, path: Path
) -> None:
    await log.commit(ThreadPut(records.thread()))
    large = Write(
        thread_id="thr_1", first_sequence=2, events=(message(1, text="x" * 1_000_000), RunPut(records.run(1)))
    )
    with no_file_longer_than(200_000), pytest.raises(StoreFailed, match=path.name):
        await store.commit(large)
    assert await store.item("itm_1") is None
    assert await store.run("run_1") is None
    await store.commit(large)
    assert await store.item("itm_1") == large.events[0].record  # type: ignore[union-attr]
