"""Exporting a thread: all that was said and done in it, read whole from the store."""

from typing import Final, Literal

import attrs

from midstream.protocol.records.item import FileChangeItem, Item
from midstream.server.graph.inheritance import known_runs
from midstream.server.graph.items import as_it_stands
from midstream.server.graph.state import LIVE_ITEM, ThreadState
from midstream.server.handoff.export import as_jsonl, as_markdown
from midstream.server.handoff.redact import redact
from midstream.server.runtime.secret_values import environment_secrets, workspace_secrets
from midstream.server.runtime.workspaces import workspace_name
from midstream.server.store import ItemAnchor, Store

PAGE: Final = 500


async def export(store: Store, state: ThreadState, form: Literal["markdown", "jsonl"], *, secrets: bool) -> str:
    """Return a thread as a document, rolled-back runs included; secrets are taken out unless they are asked for."""
    runs = tuple(sorted(known_runs(state).values(), key=lambda run: run.id))
    items = [await _whole(store, state, item) for item in await _all_items(store, state)]
    render = as_markdown if form == "markdown" else as_jsonl
    known = environment_secrets() | workspace_secrets(workspace_name(state.thread.workspace))
    return render(state.thread, runs, items, lambda text: text if secrets else redact(text, known)[0])


async def _all_items(store: Store, state: ThreadState) -> list[Item]:
    scopes = (*state.inherited.scopes, (state.thread.id, None))
    found: list[Item] = []
    after = None
    while True:
        page = await store.items(scopes, None, ItemAnchor(after=after), PAGE, state.inherited.left_out)
        found.extend(page.items if page else ())
        after = page.next_item_id if page else None
        if after is None:
            return found


async def _whole(store: Store, state: ThreadState, item: Item) -> Item:
    """Return an item with its long fields as they were before they were shortened."""
    if item.status in LIVE_ITEM:
        item = as_it_stands(state, item)
    fields: dict[str, str] = {}
    diffs: dict[str, str] = {}
    for mark in item.shortened or ():
        text = await store.text(item.id, mark.field, mark.path)
        if text is not None and mark.path is None:
            fields[mark.field] = text
        elif text is not None and mark.path is not None:
            diffs[mark.path] = text
    if isinstance(item, FileChangeItem) and diffs:
        changes = tuple(attrs.evolve(change, diff=diffs.get(change.path, change.diff)) for change in item.changes)
        return attrs.evolve(item, changes=changes, shortened=None)
    return attrs.evolve(item, **fields, shortened=None)  # type: ignore[arg-type]
