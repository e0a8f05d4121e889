"""What handoffs may tell of items stands beside them, and goes with their thread."""

import sqlite3
from contextlib import closing
from pathlib import Path

from midstream.server.graph.events import ThreadPut
from midstream.server.store import FactsRow, Store, Write
from midstream.server.store.migrations import MIGRATIONS, migrate
from support import records
from support.stores import ThreadLog


def row(ordinal: int, run: int = 1, *, standing: bool = False, body: bytes = b"[]") -> FactsRow:
    return FactsRow(
        item_id=f"itm_{ordinal}",
        run_id=f"run_{run}",
        ordinal=ordinal,
        provider_thread_id="pth_1",
        standing=standing,
        body=body,
    )


async def test_facts_are_found_by_run_by_item_and_where_they_stand_in_order(store: Store, log: ThreadLog) -> None:
    rows = (row(3, 2, standing=True), row(1), row(2, 2), row(4, 3, standing=True))
    await log.commit(ThreadPut(records.thread()), facts=rows)
    assert await store.facts_of_runs(("run_2", "run_1", *(f"run_x{n}" for n in range(1_000)))) == (
        rows[1],
        rows[2],
        rows[0],
    )
    assert await store.facts_of_items(("itm_4", "itm_unknown", "itm_1")) == (rows[1], rows[3])
    assert await store.standing_facts("thr_1") == (rows[0], rows[3])
    assert await store.standing_facts("thr_2") == ()


async def test_facts_made_anew_replace_the_old_ones_and_say_which_rules_made_them(store: Store, log: ThreadLog) -> None:
    await log.commit(ThreadPut(records.thread()), facts=(row(1),))
    assert await store.facts_version("thr_1") is None
    await store.commit(Write(thread_id="thr_1", first_sequence=0, facts=(row(1, body=b"[1]"),), facts_version="2"))
    assert await store.facts_of_items(("itm_1",)) == (row(1, body=b"[1]"),)
    assert await store.facts_version("thr_1") == "2"


async def test_facts_go_with_their_thread(store: Store, log: ThreadLog) -> None:
    await log.commit(ThreadPut(records.thread()), facts=(row(1, standing=True),), facts_version="1")
    await log.commit(forget=True)
    assert await store.facts_of_items(("itm_1",)) == ()
    assert await store.facts_version("thr_1") is None


async def test_a_store_of_the_first_version_is_brought_up_to_date(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in MIGRATIONS[0]:
            connection.execute(statement)
        connection.execute("INSERT INTO items VALUES ('itm_1', 1, 'thr_1', 1, 'run_1', 0, 1)")
        connection.execute("PRAGMA user_version = 1")
        migrate(connection)
        assert connection.execute("SELECT * FROM items").fetchall() == [("itm_1", 1, "thr_1", 1, "run_1", 0, 1)]
    store = await Store.open(path)
    assert await store.facts_version("thr_1") is None
    await store.aclose()
