"""`thread/items` and `item/output`."""

from typing import Final

import attrs

from midstream.protocol.errors import InvalidParams, MidstreamError
from midstream.protocol.methods.thread import (
    ItemOutputParams,
    ItemOutputResult,
    ThreadItemsParams,
    ThreadItemsResult,
)
from midstream.protocol.records.item import FileChangeItem, Item
from midstream.server.graph.inheritance import known_runs
from midstream.server.graph.items import as_it_stands
from midstream.server.graph.state import LIVE_ITEM
from midstream.server.store import ItemAnchor
from midstream.server.wire.client import Client
from midstream.server.wire.requests.host import Host
from midstream.server.wire.service import Handler

PAGE: Final = 100
LARGEST_PAGE: Final = 500
OUTPUT: Final = 65_536
LARGEST_OUTPUT: Final = 1_048_576


def handlers(host: Host) -> dict[str, Handler]:
    """Return the handlers of this family."""

    async def items(_: Client, params: ThreadItemsParams) -> ThreadItemsResult:
        anchors = (params.after_item_id, params.before_item_id, params.around_item_id, params.last)
        if sum(anchor is not None for anchor in anchors) > 1:
            raise InvalidParams("at most one of afterItemId, beforeItemId, aroundItemId, last", "afterItemId")
        limit = PAGE if params.limit is None else params.limit
        if not 1 <= limit <= LARGEST_PAGE:
            raise InvalidParams(f"expected 1 to {LARGEST_PAGE}", "limit")
        async with host.daemon.engine.thread(params.thread_id) as turn:
            if params.run_id is not None and params.run_id not in known_runs(turn.state):
                message = f"There is no run {params.run_id} in this thread."
                raise MidstreamError("runNotFound", message, runId=params.run_id)
            page = await host.daemon.store.items(
                (*turn.state.inherited.scopes, (params.thread_id, None)),
                params.run_id,
                ItemAnchor(
                    after=params.after_item_id,
                    before=params.before_item_id,
                    around=params.around_item_id,
                    last=params.last is not None,
                ),
                limit,
                turn.state.inherited.left_out,
            )
            if page is None:
                anchor = next(filter(None, anchors))
                raise MidstreamError("itemNotFound", f"There is no item {anchor} in this thread.", itemId=anchor)
            return ThreadItemsResult(
                items=tuple(
                    as_it_stands(turn.state, item) if item.status in LIVE_ITEM else item for item in page.items
                ),
                previous_item_id=page.previous_item_id,
                next_item_id=page.next_item_id,
                sequence=turn.state.sequence,
            )

    async def output(_: Client, params: ItemOutputParams) -> ItemOutputResult:
        offset = params.offset or 0
        limit = OUTPUT if params.limit is None else params.limit
        if offset < 0:
            raise InvalidParams("expected 0 or more", "offset")
        if not 1 <= limit <= LARGEST_OUTPUT:
            raise InvalidParams(f"expected 1 to {LARGEST_OUTPUT}", "limit")
        item = await host.daemon.store.item(params.item_id)
        if item is None:
            raise MidstreamError("itemNotFound", f"There is no item {params.item_id}.", itemId=params.item_id)
        text = await host.daemon.store.text(params.item_id, params.field, params.path, offset=offset, limit=limit + 1)
        if text is None:
            text = _recorded(item, params.field, params.path)[offset : offset + limit + 1]
        more = len(text) > limit
        return ItemOutputResult(text=text[:limit], next_offset=offset + limit if more else None)

    return {"thread/items": items, "item/output": output}


def _recorded(item: Item, field: str, path: str | None) -> str:
    """Return a field that was never long enough to be kept apart from its record."""
    if isinstance(item, FileChangeItem) and field == "diff":
        for change in item.changes:
            if change.path == path:
                return change.diff or ""
        raise InvalidParams(f"item {item.id} changes no file {path}", "path")
    if field in attrs.fields_dict(type(item)):
        value = getattr(item, field)
        if isinstance(value, str):
            return value
    raise InvalidParams(f"item {item.id} has no text {field}", "field")
