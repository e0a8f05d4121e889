"""`thread/create`, `thread/list`, `thread/read`, `thread/update`, `thread/archive`, `thread/unarchive`,
`thread/delete`."""

from typing import Final

from midstream.protocol.errors import InvalidParams, MidstreamError
from midstream.protocol.methods.thread import (
    ThreadChangeParams,
    ThreadCreateParams,
    ThreadIdParams,
    ThreadListParams,
    ThreadListResult,
    ThreadResult,
    ThreadUpdateParams,
)
from midstream.protocol.records.read import ThreadRead
from midstream.protocol.records.thread import ModelSelection, Thread
from midstream.server.graph.commands import ArchiveThread, CreateThread, DeleteThread, UpdateThread
from midstream.server.graph.decide import Answer
from midstream.server.graph.deletion import native_conversations
from midstream.server.runtime.engine import Prepared, Turn
from midstream.server.runtime.reading import thread_read
from midstream.server.runtime.workspaces import as_stored, workspace_path
from midstream.server.wire.client import Client
from midstream.server.wire.requests.host import Host, answered
from midstream.server.wire.service import Handler

PAGE: Final = 50
LARGEST_PAGE: Final = 500


def handlers(host: Host) -> dict[str, Handler]:
    """Return the handlers of this family."""

    async def create(_: Client, params: ThreadCreateParams) -> object:
        def prepare() -> CreateThread:
            selection = params.selection or _default_selection(host)
            workspace = workspace_path(params.workspace).as_uri()
            host.daemon.registry.configured(selection.provider)
            return CreateThread(
                thread_id=host.daemon.engine.new_id("thr"),
                workspace=workspace,
                title=params.title or "",
                selection=selection,
                runtime_mode=params.runtime_mode or "approvalRequired",
            )

        return await host.daemon.engine.create(params, prepare, _result)

    async def list_(_: Client, params: ThreadListParams) -> ThreadListResult:
        limit = PAGE if params.limit is None else params.limit
        if not 1 <= limit <= LARGEST_PAGE:
            raise InvalidParams(f"expected 1 to {LARGEST_PAGE}", "limit")
        threads, cursor = await host.daemon.store.threads(
            workspace=None if params.workspace is None else as_stored(params.workspace),
            archived=params.archived,
            query=params.query,
            limit=limit,
            cursor=params.cursor,
        )
        return ThreadListResult(threads=threads, next_cursor=cursor)

    async def read(_: Client, params: ThreadIdParams) -> ThreadRead:
        async with host.daemon.engine.thread(params.thread_id) as turn:
            return thread_read(turn.state)

    async def update(_: Client, params: ThreadUpdateParams) -> object:
        command = UpdateThread(title=params.title, runtime_mode=params.runtime_mode)
        return await host.change_simply("thread/update", params, params.thread_id, command, _result)

    async def archive(_: Client, params: ThreadChangeParams) -> object:
        command = ArchiveThread(archived=True)
        return await host.change_simply("thread/archive", params, params.thread_id, command, _result)

    async def unarchive(_: Client, params: ThreadChangeParams) -> object:
        command = ArchiveThread(archived=False)
        return await host.change_simply("thread/unarchive", params, params.thread_id, command, _result)

    async def delete(client: Client, params: ThreadChangeParams) -> object:
        kept: list[str] = []
        forks: list[str] = []

        async def prepare(turn: Turn) -> Prepared:
            kept.extend(native_conversations(turn.state))
            forks.extend(await host.daemon.store.forks(turn.thread_id))
            return Prepared(DeleteThread(), lambda _: None)

        await host.change("thread/delete", params, params.thread_id, prepare)
        if forks:
            client.show_message(
                f"Thread {params.thread_id} is deleted, and seen no more. What its {len(forks)} fork(s) stand on goes"
                " for good with the last of them."
            )
        if kept:
            client.show_message(
                f"Thread {params.thread_id} is deleted here. Its agents still keep their own conversations;"
                f" delete them with the agents' own tools: {', '.join(kept)}."
            )
        return None

    return {
        "thread/create": create,
        "thread/list": list_,
        "thread/read": read,
        "thread/update": update,
        "thread/archive": archive,
        "thread/unarchive": unarchive,
        "thread/delete": delete,
    }


def _result(answer: Answer) -> ThreadResult:
    return ThreadResult(thread=answered(answer, Thread))


def _default_selection(host: Host) -> ModelSelection:
    provider = host.daemon.registry.default()
    if provider is None:
        raise MidstreamError("providerUnknown", "No provider is configured; add one under [providers].")
    return ModelSelection(provider=provider, model=None)
