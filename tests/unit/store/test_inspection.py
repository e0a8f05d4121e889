"""Looking at a store beside whoever has it open: what is seen, and that nobody is disturbed."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.item import AgentMessageItem, UserMessageItem
from midstream.protocol.records.run import Message, StoredImage
from midstream.server.graph.effects import ExecuteAttempt
from midstream.server.graph.events import CheckpointPut, ItemPut, ProviderThreadPut, RunPut, ThreadPut
from midstream.server.store import Store, StoreFailed, inspecting
from support import records
from support.stores import ThreadLog

EFFECT = ExecuteAttempt(run_id="run_1", attempt=1, message_item_ids=())


def image(sha256: str) -> StoredImage:
    return StoredImage(mime_type="image/png", bytes=1, sha256=sha256, uri=None)


async def test_what_is_committed_is_seen_at_once_and_the_writer_never_waits(
    store: Store, log: ThreadLog, path: Path
) -> None:
    with inspecting(path) as inspection:
        assert inspection.threads(workspace=None, archived=False) == ()
        await log.commit(ThreadPut(records.thread()))
        (entry,) = inspection.threads(workspace=None, archived=False)
        assert entry.thread == records.thread()
        await log.commit(ThreadPut(records.thread(title="While it is looked at")))
    assert await store.thread("thr_1") == records.thread(title="While it is looked at")


async def test_it_cannot_write(store: Store, path: Path) -> None:
    with inspecting(path) as inspection, pytest.raises(StoreFailed, match="readonly"):
        inspection._asked(lambda connection: connection.execute("DELETE FROM threads"))


async def test_a_thread_is_listed_with_its_runs_and_with_who_took_part_first_one_first(
    store: Store, log: ThreadLog, path: Path
) -> None:
    await log.commit(ThreadPut(records.thread()), RunPut(records.run(1)), RunPut(records.run(2)))
    for provider, place in (("second", 2), ("first", 1), ("second", 3)):
        await log.commit(ProviderThreadPut(records.provider_thread(provider, id=f"pth_{place}")))
    with inspecting(path) as inspection:
        (entry,) = inspection.threads(workspace="file:///w", archived=False)
        assert (entry.runs, entry.providers) == (2, ("first", "second"))
        assert inspection.threads(workspace="file:///other", archived=False) == ()
        assert inspection.threads(workspace=None, archived=True) == ()


async def test_threads_that_are_not_idle_come_with_their_runs_and_effects(
    store: Store, log: ThreadLog, path: Path
) -> None:
    other = ThreadLog(store, "thr_2")
    await other.commit(ThreadPut(records.thread(id="thr_2")))
    await log.commit(
        ThreadPut(records.thread(status="running")), RunPut(records.run(1, status="running")), effects=(EFFECT,)
    )
    with inspecting(path) as inspection:
        (live,) = inspection.live_threads()
        assert (live.thread.id, [run.id for run in live.runs], live.effects) == ("thr_1", ["run_1"], (EFFECT,))
        assert inspection.pending_effects() == 1


async def test_only_checkpoints_that_were_taken_should_be_there(store: Store, log: ThreadLog, path: Path) -> None:
    await log.commit(CheckpointPut(records.checkpoint("ckp_1", ref="a" * 40)))
    await log.commit(CheckpointPut(records.checkpoint("ckp_2", ref="", status="error")))
    with inspecting(path) as inspection:
        ((thread_id, checkpoint_id, ref),) = [(one.thread_id, one.id, one.ref) for one in inspection.checkpoints()]
    assert (thread_id, checkpoint_id, ref) == ("thr_1", "ckp_1", "a" * 40)


async def test_images_of_messages_and_of_queued_runs_are_in_use(store: Store, log: ThreadLog, path: Path) -> None:
    said = records.item(UserMessageItem, 1, text="look", attachments=(image("said"), image("both")))
    queued = records.run(None, status="queued", message=Message(text="look", attachments=(image("queued"),)))
    await log.commit(ItemPut(said), RunPut(queued))
    other = ThreadLog(store, "thr_2")
    await other.commit(
        ItemPut(records.item(UserMessageItem, 1, id="itm_x", thread_id="thr_2", text="", attachments=(image("both"),)))
    )
    with inspecting(path) as inspection:
        assert inspection.images() == {
            "said": frozenset({"thr_1"}),
            "both": frozenset({"thr_1", "thr_2"}),
            "queued": frozenset({"thr_1"}),
        }


async def test_sizes_are_bytes_of_records_and_of_texts(store: Store, log: ThreadLog, path: Path) -> None:
    await log.commit(ItemPut(records.item(AgentMessageItem, 1, text="")), log.text("itm_1", "größer"))
    with inspecting(path) as inspection, closing(sqlite3.connect(path)) as connection:
        (bytes_,) = connection.execute("SELECT length(body) FROM events").fetchone()
        ((thread_id, rows, texts),) = [(one.thread_id, one.rows, one.texts) for one in inspection.sizes()]
    assert (thread_id, rows, texts) == ("thr_1", bytes_, len("größer".encode()))


async def test_a_store_of_an_older_version_is_looked_at_and_not_read(store: Store, path: Path) -> None:
    await store.aclose()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 0")
    with inspecting(path) as inspection:
        assert (inspection.version, inspection.damage()) == (0, ())
        with pytest.raises(StoreFailed, match="older Midstream; start midstream serve once"):
            inspection.threads(workspace=None, archived=False)


async def test_a_record_that_is_none_makes_the_store_a_corrupt_one(store: Store, log: ThreadLog, path: Path) -> None:
    await log.commit(ThreadPut(records.thread()))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE events SET body = CAST('[]' AS BLOB)")
        connection.commit()
    with inspecting(path) as inspection, pytest.raises(MidstreamError) as raised:
        inspection.threads(workspace=None, archived=False)
    assert (raised.value.kind, raised.value.data["path"]) == ("storeCorrupt", str(path))
