"""Items: pages from every anchor, of a thread and of what a fork inherits."""

import pytest

from midstream.protocol.records.item import AgentMessageItem, Item
from midstream.server.graph.events import ItemPut, ThreadPut
from midstream.server.store import ItemAnchor, Page, Scopes, Store
from support import records
from support.stores import ThreadLog

WHOLE: Scopes = (("thr_1", None),)
FORK: Scopes = (("thr_3", None), ("thr_2", 9), ("thr_1", 6))
"""Items 1 to 6 of the first thread, 7 to 9 of its fork, and 10 to 12 of that one's fork."""


@pytest.fixture
async def threads(store: Store) -> None:
    """Three threads, each forked from the one before, which then went on: runs of three items each."""
    for thread_id, ordinals in (("thr_1", range(1, 13)), ("thr_2", range(7, 16)), ("thr_3", range(10, 13))):
        log = ThreadLog(store, thread_id)
        await log.commit(ThreadPut(records.thread(id=thread_id)))
        for ordinal in reversed(ordinals):
            await log.commit(ItemPut(message(thread_id, ordinal)))


def message(thread_id: str, ordinal: int) -> Item:
    return records.item(
        AgentMessageItem,
        ordinal,
        id=f"itm_{thread_id}_{ordinal}",
        thread_id=thread_id,
        run_id=f"run_{thread_id}_{(ordinal + 2) // 3}",
        text=f"{thread_id} says {ordinal}",
    )


def shown(page: Page | None) -> tuple[list[int], int | None, int | None]:
    """Return a page's ordinals, and those of the items that lead to its neighbours."""
    assert page is not None
    places = {item.id: item.ordinal for item in page.items}
    return (
        [item.ordinal for item in page.items],
        None if page.previous_item_id is None else places[page.previous_item_id],
        None if page.next_item_id is None else places[page.next_item_id],
    )


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize(
    ("anchor", "limit", "expected"),
    [
        (ItemAnchor(), 5, ([1, 2, 3, 4, 5], None, 5)),
        (ItemAnchor(), 12, ([*range(1, 13)], None, None)),
        (ItemAnchor(last=True), 5, ([8, 9, 10, 11, 12], 8, None)),
        (ItemAnchor(last=True), 12, ([*range(1, 13)], None, None)),
        (ItemAnchor(after="itm_thr_1_5"), 3, ([6, 7, 8], 6, 8)),
        (ItemAnchor(after="itm_thr_1_9"), 3, ([10, 11, 12], 10, None)),
        (ItemAnchor(after="itm_thr_1_12"), 3, ([], None, None)),
        (ItemAnchor(before="itm_thr_1_5"), 3, ([2, 3, 4], 2, 4)),
        (ItemAnchor(before="itm_thr_1_4"), 3, ([1, 2, 3], None, 3)),
        (ItemAnchor(before="itm_thr_1_1"), 3, ([], None, None)),
        (ItemAnchor(around="itm_thr_1_6"), 5, ([4, 5, 6, 7, 8], 4, 8)),
        (ItemAnchor(around="itm_thr_1_1"), 5, ([1, 2, 3, 4, 5], None, 5)),
        (ItemAnchor(around="itm_thr_1_12"), 5, ([10, 11, 12], 10, None)),
        (ItemAnchor(around="itm_thr_1_6"), 1, ([6], 6, 6)),
    ],
)
async def test_a_page_lies_where_its_anchor_says(
    store: Store, anchor: ItemAnchor, limit: int, expected: tuple[list[int], int | None, int | None]
) -> None:
    assert shown(await store.items(WHOLE, None, anchor, limit)) == expected


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("limit", [1, 2, 5, 12, 100])
async def test_pages_forwards_and_backwards_show_a_fork_with_what_it_inherits_once_and_in_order(
    store: Store, limit: int
) -> None:
    inherited = [message("thr_1", n) for n in range(1, 7)] + [message("thr_2", n) for n in range(7, 10)]
    whole = inherited + [message("thr_3", n) for n in range(10, 13)]
    forwards: list[Item] = []
    page = await store.items(FORK, None, ItemAnchor(), limit)
    while page is not None:
        forwards += page.items
        following = page.next_item_id
        page = await store.items(FORK, None, ItemAnchor(after=following), limit) if following else None
    backwards: list[Item] = []
    page = await store.items(FORK, None, ItemAnchor(last=True), limit)
    while page is not None:
        backwards[:0] = page.items
        preceding = page.previous_item_id
        page = await store.items(FORK, None, ItemAnchor(before=preceding), limit) if preceding else None
    assert forwards == whole
    assert backwards == whole


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("anchor_id", ["itm_unknown", "itm_thr_1_7", "itm_thr_2_10"])
async def test_an_anchor_that_the_listing_does_not_hold_gives_no_page(store: Store, anchor_id: str) -> None:
    for anchor in (ItemAnchor(after=anchor_id), ItemAnchor(before=anchor_id), ItemAnchor(around=anchor_id)):
        assert await store.items(FORK, None, anchor, 5) is None


@pytest.mark.usefixtures("threads")
async def test_a_page_of_one_run_holds_no_items_of_others(store: Store) -> None:
    run_id = "run_thr_1_2"
    assert shown(await store.items(FORK, run_id, ItemAnchor(), 10)) == ([4, 5, 6], None, None)
    assert shown(await store.items(FORK, run_id, ItemAnchor(last=True), 2)) == ([5, 6], 5, None)
    assert shown(await store.items(FORK, run_id, ItemAnchor(after="itm_thr_1_4"), 1)) == ([5], 5, 5)
    assert shown(await store.items(FORK, "run_thr_1_3", ItemAnchor(), 10)) == ([], None, None)


async def test_a_page_shows_an_item_as_it_now_stands(store: Store, log: ThreadLog) -> None:
    item = records.item(AgentMessageItem, 1, text="", status="running")
    ended = records.item(AgentMessageItem, 1, text="done")
    await log.commit(ThreadPut(records.thread()), ItemPut(item))
    assert await store.item("itm_1") == item
    await log.commit(ItemPut(ended))
    page = await store.items(WHOLE, None, ItemAnchor(), 10)
    assert page is not None
    assert page.items == (ended,)
    snapshot = await store.snapshot("thr_1")
    assert snapshot is not None
    assert snapshot.live_items == ()


@pytest.mark.usefixtures("threads")
async def test_items_are_found_by_runs_in_order(store: Store) -> None:
    of_runs = await store.items_of_runs(("run_thr_1_3", "run_thr_1_1", *(f"run_{n}" for n in range(1_000))))
    assert of_runs == tuple(message("thr_1", n) for n in (1, 2, 3, 7, 8, 9))
