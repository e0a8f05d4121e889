"""Threads: listed newest first, and read as a whole."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from midstream.protocol.converter import make_converter
from midstream.protocol.records.handoff import ContextHandoff, HandoffEntry, HandoffSection
from midstream.protocol.records.item import AgentMessageItem
from midstream.protocol.records.provider import ProviderSession
from midstream.protocol.records.read import ThreadRead
from midstream.server.graph.events import (
    CheckpointPut,
    HandoffContent,
    HandoffPut,
    ItemPut,
    ProviderSessionPut,
    ProviderThreadPut,
    RequestPut,
    RunPut,
    ThreadPut,
    TransferPut,
)
from midstream.server.store import Store, WriteRefused
from support import records
from support.stores import ThreadLog

SESSION = ProviderSession(
    id="pss_1",
    provider="codex",
    status="ready",
    workspace="file:///w",
    pid=1,
    capabilities=records.capabilities(),
    last_error=None,
)
CONTENT = HandoffContent(
    "what happened",
    "<fence>\nwhat happened\n</fence>",
    (
        HandoffSection(
            kind="goals", title="Goals", entries=(HandoffEntry(text="g", run_ordinal=1, item_ids=()),), omitted=2
        ),
    ),
)


def at(minute: int) -> str:
    return f"2026-12-01T16:{minute:02}:00.000Z"


@pytest.fixture
async def listed(store: Store) -> None:
    """Ten threads, two of each minute, in two workspaces; the last is archived."""
    for number in range(10):
        thread = records.thread(
            id=f"thr_{number}",
            title=f"Ändere Thema {number}",
            workspace=f"file:///w{number % 2}",
            updated_at=at(number // 2),
            archived_at=at(59) if number == 9 else None,
        )
        await ThreadLog(store, thread.id).commit(ThreadPut(thread))


async def listing(store: Store, limit: int, **filters: object) -> list[str]:
    """Return the ids of all pages, one after the other."""
    found: list[str] = []
    cursor: str | None = None
    while True:
        page, cursor = await store.threads(limit=limit, cursor=cursor, **filters)  # type: ignore[arg-type]
        assert len(page) == limit or cursor is None
        found += [thread.id for thread in page]
        if cursor is None:
            return found


@pytest.mark.usefixtures("listed")
@pytest.mark.parametrize("limit", [1, 2, 3, 9, 50])
async def test_threads_come_newest_first_each_once_whatever_the_page(store: Store, limit: int) -> None:
    assert await listing(store, limit) == [f"thr_{number}" for number in range(8, -1, -1)]
    assert await listing(store, limit, workspace="file:///w1") == ["thr_7", "thr_5", "thr_3", "thr_1"]
    assert await listing(store, limit, archived=True) == ["thr_9"]
    assert await listing(store, limit, query="änDERE") == [f"thr_{number}" for number in range(8, -1, -1)]
    assert await listing(store, limit, query="thema 4") == ["thr_4"]
    assert await listing(store, limit, query="%") == []


@pytest.mark.usefixtures("listed")
async def test_a_changed_thread_comes_first(store: Store) -> None:
    log = ThreadLog(store, "thr_2", sequence=1)
    await log.commit(ThreadPut(records.thread(id="thr_2", title="renamed", updated_at=at(30))))
    assert (await listing(store, 3))[0] == "thr_2"
    assert await listing(store, 3, query="thema 2") == []


@pytest.mark.usefixtures("listed")
async def test_no_listing_sorts_or_walks_the_table(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for where, index in (("", "threads_newest"), ("workspace = 'w' AND ", "threads_of_workspace")):
            plan = str(
                connection.execute(
                    f"EXPLAIN QUERY PLAN SELECT id FROM threads WHERE {where}archived = 0 "
                    "AND (updated_at, id) < ('x', 'y') ORDER BY updated_at DESC, id DESC LIMIT 50"
                ).fetchall()
            )
            assert index in plan
            assert "TEMP B-TREE" not in plan


async def test_live_threads_are_those_not_idle_or_held(store: Store) -> None:
    for thread_id, fields in (
        ("thr_1", {"status": "idle"}),
        ("thr_2", {"status": "running"}),
        ("thr_3", {"status": "idle", "queue_held": True}),
        ("thr_4", {"status": "queued"}),
    ):
        await ThreadLog(store, thread_id).commit(ThreadPut(records.thread(id=thread_id, **fields)))
    assert await store.live_threads() == ("thr_2", "thr_3", "thr_4")
    await ThreadLog(store, "thr_2", sequence=1).commit(ThreadPut(records.thread(id="thr_2")))
    assert await store.live_threads() == ("thr_3", "thr_4")


async def test_a_snapshot_is_the_thread_and_nothing_of_others(store: Store, log: ThreadLog) -> None:
    live = records.item(AgentMessageItem, 8, text="", status="running")
    read = ThreadRead(
        thread=records.thread(status="running"),
        runs=(records.run(1), records.run(2, status="running")),
        provider_threads=(records.provider_thread("claude"), records.provider_thread("codex", (1,))),
        transfers=(records.transfer("trf_1", "fork"),),
        handoffs=(records.handoff("hof_1", (1,)),),
        checkpoints=(records.checkpoint("ckp_1"), records.checkpoint("ckp_2", run_id=None)),
        requests=(records.request("req_1", "may I?", status="resolved"), records.request("req_2", "and now?")),
        sequence=15,
    )
    await log.commit(
        ThreadPut(records.thread()),
        *(RunPut(run) for run in read.runs),
        *(ProviderThreadPut(known) for known in read.provider_threads),
        TransferPut(records.transfer("trf_1", "fork", status="failed")),
        *(TransferPut(transfer) for transfer in read.transfers),
        *(CheckpointPut(checkpoint) for checkpoint in read.checkpoints),
        *(RequestPut(request) for request in read.requests),
        HandoffPut(read.handoffs[0], CONTENT),
        ProviderSessionPut(SESSION),
        ItemPut(live),
        ThreadPut(read.thread),
    )
    other = ThreadLog(store, "thr_2")
    await other.commit(ThreadPut(records.thread(id="thr_2")), RunPut(records.run(9, thread_id="thr_2")))
    await other.commit(ProviderSessionPut(SESSION))
    snapshot = await store.snapshot("thr_1")
    assert snapshot is not None
    assert snapshot.read == read
    assert (snapshot.sessions, snapshot.live_items) == ((SESSION,), (live,))
    assert (snapshot.last_run_ordinal, snapshot.last_item_ordinal) == (2, 8)
    assert await store.snapshot("thr_3") is None


async def test_requests_wait_until_they_are_answered(store: Store, log: ThreadLog) -> None:
    first, second = records.request("req_1", "a"), records.request("req_2", "b", thread_id="thr_2")
    await log.commit(ThreadPut(records.thread()), RequestPut(first))
    await ThreadLog(store, "thr_2").commit(ThreadPut(records.thread(id="thr_2")), RequestPut(second))
    assert await store.pending_requests(None) == (first, second)
    assert await store.pending_requests("thr_2") == (second,)
    answered = records.request("req_1", "a", status="resolved")
    await log.commit(RequestPut(answered))
    assert await store.pending_requests("thr_1") == ()
    assert await store.request("req_1") == answered
    assert await store.checkpoint("req_1") is None


async def test_a_handoff_is_whole_when_asked_for_and_has_no_text_in_the_log(
    store: Store, log: ThreadLog, path: Path
) -> None:
    info = records.handoff("hof_1", (1, 2))
    delivered = records.handoff("hof_1", (1, 2), delivery=records.delivery("delivered"), redactions=1)
    whole = make_converter().structure(
        make_converter().unstructure(info) | make_converter().unstructure(CONTENT), ContextHandoff
    )
    await log.commit(ThreadPut(records.thread()), HandoffPut(whole, CONTENT))
    assert await store.handoff("hof_1") == whole
    await log.commit(HandoffPut(delivered))
    found = await store.handoff("hof_1")
    assert found is not None
    assert (found.redactions, found.sent_text) == (1, CONTENT.sent_text)
    events = await store.events("thr_1", 1, 10)
    assert [event.event for event in events] == [HandoffPut(info), HandoffPut(delivered)]
    with closing(sqlite3.connect(path)) as connection:
        bodies = [row[0] for row in connection.execute("SELECT body FROM events")]
    assert len(bodies) == 3
    assert not any(b"what happened" in body for body in bodies)


async def test_the_content_of_a_handoff_is_written_once(store: Store, log: ThreadLog) -> None:
    await log.commit(ThreadPut(records.thread()), HandoffPut(records.handoff("hof_1", (1,)), CONTENT))
    with pytest.raises(WriteRefused):
        await log.commit(HandoffPut(records.handoff("hof_1", (1,)), HandoffContent("other", "other", ())))
    found = await store.handoff("hof_1")
    assert found is not None
    assert found.sent_text == CONTENT.sent_text


async def test_a_replay_goes_on_after_a_sequence_and_ends_at_the_limit(store: Store, log: ThreadLog) -> None:
    await log.commit(ThreadPut(records.thread()), log.text("itm_1", "words"), command_id="c-1")
    for ordinal in range(1, 6):
        await log.commit(RunPut(records.run(ordinal)), log.text("itm_1", "words"))
    replayed = await store.events("thr_1", 2, 3)
    assert [(event.sequence, event.event) for event in replayed] == [
        (ordinal + 1, RunPut(records.run(ordinal))) for ordinal in (2, 3, 4)
    ]
    assert (await store.events("thr_1", 0, 1))[0].command_id == "c-1"
    assert await store.events("thr_1", 6, 10) == ()
