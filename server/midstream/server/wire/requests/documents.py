"""`thread/search` and `thread/export`."""

from functools import cache
from typing import Final

from midstream.protocol.errors import InvalidParams
from midstream.protocol.methods.thread import (
    SearchMatch,
    ThreadExportParams,
    ThreadExportResult,
    ThreadSearchParams,
    ThreadSearchResult,
)
from midstream.protocol.records.item import Item
from midstream.server.handoff.redact import Redactor
from midstream.server.handoff.searching import snippet
from midstream.server.runtime.exporting import export
from midstream.server.runtime.secret_values import environment_secrets, workspace_secrets
from midstream.server.runtime.workspaces import as_stored, workspace_name
from midstream.server.wire.client import Client
from midstream.server.wire.requests.host import Host
from midstream.server.wire.service import Handler

MATCHES: Final = 50
MOST_MATCHES: Final = 200


def handlers(host: Host) -> dict[str, Handler]:
    """Return the handlers of this family."""

    async def search(_: Client, params: ThreadSearchParams) -> ThreadSearchResult:
        limit = MATCHES if params.limit is None else params.limit
        if not 1 <= limit <= MOST_MATCHES:
            raise InvalidParams(f"expected 1 to {MOST_MATCHES}", "limit")
        if not params.query.strip():
            raise InvalidParams("expected some words", "query")

        workspace = None if params.workspace is None else as_stored(params.workspace)

        @cache
        def redactor(workspace: str) -> Redactor:
            return Redactor(environment_secrets() | workspace_secrets(workspace_name(workspace)))

        def shown(item: Item, piece: str | None, workspace: str) -> str | None:
            return snippet(item, piece, params.query, redactor(workspace))

        found = await host.daemon.store.search(params.query, workspace, limit, shown)
        return ThreadSearchResult(matches=tuple([await match(item, text) for item, text in found]))

    async def match(item: Item, text: str) -> SearchMatch:
        thread = await host.daemon.store.thread(item.thread_id)
        run = None if item.run_id is None else await host.daemon.store.run(item.run_id)
        return SearchMatch(
            thread_id=item.thread_id,
            thread_title=(thread.title if thread else None) or "",
            run_id=item.run_id,
            run_ordinal=run.ordinal if run else None,
            item_id=item.id,
            snippet=text,
        )

    async def export_(_: Client, params: ThreadExportParams) -> ThreadExportResult:
        async with host.daemon.engine.thread(params.thread_id) as turn:
            state = turn.state
        content = await export(host.daemon.store, state, params.format, secrets=params.secrets is True)
        return ThreadExportResult(content=content)

    return {"thread/search": search, "thread/export": export_}
