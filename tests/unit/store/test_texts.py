"""Long texts: pieces that are read back as one, counted in code points."""

import asyncio
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midstream.protocol.records.item import AgentMessageItem, FileChangeItem
from midstream.server.graph.events import ItemPut, ThreadPut
from midstream.server.graph.texts import KEPT, GrowingText
from midstream.server.store import Store, Write, WriteRefused
from support import records
from support.stores import ThreadLog

PIECES = (
    "plain ",
    "e\u0301",
    "\U0001f469\u200d\U0001f467 ",
    "\ud7ff\ue000",
    "",
    "nul\0 in it",
    "\r\n",
    "\U0001d4b3" * 30,
    "end",
)
WHOLE = "".join(PIECES)


@pytest.fixture
async def written(log: ThreadLog) -> ThreadLog:
    await log.commit(ThreadPut(records.thread()))
    for piece in PIECES:
        await log.commit(log.text("itm_1", piece))
    return log


async def test_every_range_is_that_of_the_whole_text(store: Store, written: ThreadLog) -> None:
    assert await store.text("itm_1", "text") == WHOLE
    for offset in range(len(WHOLE) + 2):
        assert await store.text("itm_1", "text", offset=offset) == WHOLE[offset:]
        for limit in (0, 1, 2, 7, 40, 1000):
            read = await store.text("itm_1", "text", offset=offset, limit=limit)
            assert read == WHOLE[offset : offset + limit]


async def test_texts_of_other_fields_paths_and_items_are_apart(store: Store, log: ThreadLog) -> None:
    texts = {("itm_1", "output", None): "a", ("itm_1", "diff", "x.py"): "b", ("itm_2", "diff", "x.py"): "c"}
    await log.commit(*(log.text(item_id, text, field, path) for (item_id, field, path), text in texts.items()))
    for (item_id, field, path), text in texts.items():
        assert await store.text(item_id, field, path) == text
    assert await store.text("itm_1", "diff", "y.py") is None
    assert await store.text("itm_1", "text") is None


async def test_a_piece_that_overlaps_or_leaves_a_gap_is_refused(store: Store, written: ThreadLog) -> None:
    ahead = written.text("itm_1", "lost")
    for wrong in (written.text("itm_1", "gap"), ThreadLog(store).text("itm_1", "again")):
        with pytest.raises(WriteRefused, match=f"ends at {len(WHOLE)}"):
            await store.commit(Write(thread_id="thr_1", first_sequence=2, events=(wrong,)))
    await store.commit(Write(thread_id="thr_1", first_sequence=2, events=(ahead,)))
    assert await store.text("itm_1", "text") == WHOLE + "lost"


@given(st.lists(st.tuples(st.text(max_size=3_000), st.booleans()), max_size=6))
@settings(max_examples=20, deadline=None)
def test_a_snapshot_knows_of_a_growing_text_what_the_state_knew(pieces: list[tuple[str, bool]]) -> None:
    async def check(folder: str) -> None:
        store = await Store.open(Path(folder) / "midstream.db")
        try:
            log = ThreadLog(store)
            message = ItemPut(records.item(AgentMessageItem, 1, text="", status="running"))
            await log.commit(ThreadPut(records.thread()), message)
            known = GrowingText()
            for piece, put in pieces:
                await log.commit(log.text("itm_1", piece * 5), *([message] if put else []))
                known = known.appended(piece * 5)
                if put:
                    known = GrowingText(length=known.length, head=known.head, tail=known.tail, recorded=known.length)
            snapshot = await store.snapshot("thr_1")
            assert snapshot is not None
            assert snapshot.texts == ({("itm_1", "text", None): known} if known.length else {})
        finally:
            await store.aclose()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(folder))


async def test_a_snapshot_holds_the_texts_of_live_items_alone(store: Store, log: ThreadLog) -> None:
    await log.commit(
        ThreadPut(records.thread()),
        ItemPut(records.item(AgentMessageItem, 1, text="")),
        log.text("itm_1", "over"),
        ItemPut(records.item(FileChangeItem, 2, changes=(), status="running")),
        log.text("itm_2", "x" * (KEPT + 1), "diff", "a.py"),
    )
    snapshot = await store.snapshot("thr_1")
    assert snapshot is not None
    assert list(snapshot.texts) == [("itm_2", "diff", "a.py")]
    assert snapshot.texts["itm_2", "diff", "a.py"].length == KEPT + 1


async def stream(path: Path, characters: int) -> None:
    """Stream a text in pieces of 200 into a store of its own, its record put anew every 65,536."""
    store = await Store.open(path)
    log = ThreadLog(store)
    await log.commit(ThreadPut(records.thread()))
    for start in range(0, characters, 65_536):
        pieces = min(65_536, characters - start) // 200
        await log.commit(
            *(log.text("itm_1", "x" * 200) for _ in range(pieces)),
            ItemPut(records.item(AgentMessageItem, 1, text="x" * 8_192, status="running")),
        )
    await store.aclose()


def test_the_log_grows_with_the_text_and_not_with_its_square(tmp_path: Path) -> None:
    paths = (tmp_path / "one.db", tmp_path / "two.db")
    for path, characters in zip(paths, (1_000_000, 2_000_000), strict=True):
        asyncio.run(stream(path, characters))
    one, two = (path.stat().st_size for path in paths)
    assert one < 2_000_000
    assert two / one < 2.2


async def test_a_large_text_is_kept_in_pieces_and_goes_on_behind_them(store: Store, log: ThreadLog) -> None:
    await log.commit(ThreadPut(records.thread()))
    text = "0123456789" * 20_000
    first = await log.commit(log.text("itm_1", text))
    second = await log.commit(log.text("itm_1", "behind"), ThreadPut(records.thread(title="later")))
    assert await store.text("itm_1", "text", offset=65_530, limit=20) == text[65_530:65_550]
    assert await store.text("itm_1", "text", offset=199_995) == text[199_995:] + "behind"
    assert first.events[-1].position < second.events[0].position


async def test_a_page_of_a_large_text_reads_little_more_than_it_shows(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "store.db")
    log = ThreadLog(store)
    await log.commit(ThreadPut(records.thread()), log.text("itm_1", "x" * 1_000_000))
    await store.aclose()
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection:
        (longest,) = connection.execute("SELECT max(length(text)) FROM texts").fetchone()
    assert longest <= 65_536
