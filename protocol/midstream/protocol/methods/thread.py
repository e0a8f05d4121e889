"""`thread/*`: params and results."""

from typing import Literal, TypeAlias

from attrs import frozen

from midstream.protocol.base import CheckpointId, HandoffId, ItemId, RunId, ThreadId, optional
from midstream.protocol.checked import RelativePath
from midstream.protocol.methods.params import ChangeParams, Params
from midstream.protocol.records.checkpoint import RestoreResult
from midstream.protocol.records.handoff import ContextTransfer
from midstream.protocol.records.item import Item
from midstream.protocol.records.provider import ProviderThread
from midstream.protocol.records.read import ThreadRead
from midstream.protocol.records.thread import ModelSelection, RuntimeMode, Thread


@frozen(kw_only=True)
class ThreadCreateParams(ChangeParams):
    """Make a thread in a workspace, a `file://` URI; starts no provider."""

    workspace: str
    title: str | None = optional()
    selection: ModelSelection | None = optional()
    runtime_mode: RuntimeMode | None = optional()


@frozen(kw_only=True)
class ThreadResult:
    """The thread as it now stands."""

    thread: Thread


@frozen(kw_only=True)
class ThreadListParams(Params):
    """Threads, newest first; `archived` false leaves archived ones out, true gives only those."""

    workspace: str | None = optional()
    archived: bool | None = optional()
    query: str | None = optional()
    limit: int | None = optional()
    cursor: str | None = optional()


@frozen(kw_only=True)
class ThreadListResult:
    """One page of threads."""

    threads: tuple[Thread, ...]
    next_cursor: str | None


@frozen(kw_only=True)
class ThreadIdParams(Params):
    """A thread to read of."""

    thread_id: ThreadId


@frozen(kw_only=True)
class ThreadChangeParams(ChangeParams):
    """A thread to change."""

    thread_id: ThreadId


@frozen(kw_only=True)
class ThreadItemsParams(Params):
    """A page of items, oldest first; at most one of the four anchors, each exclusive; `limit` up to 500."""

    thread_id: ThreadId
    run_id: RunId | None = optional()
    after_item_id: ItemId | None = optional()
    before_item_id: ItemId | None = optional()
    around_item_id: ItemId | None = optional()
    last: Literal[True] | None = optional()
    limit: int | None = optional()


@frozen(kw_only=True)
class ThreadItemsResult:
    """The page, and the ids to pass as `beforeItemId` or `afterItemId` for its neighbours."""

    items: tuple[Item, ...]
    previous_item_id: ItemId | None
    next_item_id: ItemId | None
    sequence: int


@frozen(kw_only=True)
class ItemOutputParams(Params):
    """Part of a long field, counted in code points; `path` names a file change's file."""

    item_id: ItemId
    field: str
    path: str | None = optional()
    offset: int | None = optional()
    limit: int | None = optional()


@frozen(kw_only=True)
class ItemOutputResult:
    """The text from `offset` on; `next_offset` null where the field ends."""

    text: str
    next_offset: int | None


@frozen(kw_only=True)
class ThreadSubscribeParams(Params):
    """Follow a thread's events, from `after_sequence` + 1 where they can be replayed."""

    thread_id: ThreadId
    after_sequence: int | None = optional()


@frozen(kw_only=True)
class ThreadSubscribeResult:
    """Where the stream stands; a snapshot replaces all that the client held of the thread."""

    sequence: int
    snapshot: ThreadRead | None


@frozen(kw_only=True)
class ThreadUpdateParams(ThreadChangeParams):
    """Set a thread's title or runtime mode."""

    title: str | None = optional()
    runtime_mode: RuntimeMode | None = optional()


@frozen(kw_only=True)
class FromLatestStable:
    """Fork from the last run that ended."""

    type: Literal["latestStable"] = "latestStable"


@frozen(kw_only=True)
class FromRun:
    """Fork after a run."""

    type: Literal["run"] = "run"
    run_id: RunId


@frozen(kw_only=True)
class FromCheckpoint:
    """Fork from a checkpoint."""

    type: Literal["checkpoint"] = "checkpoint"
    checkpoint_id: CheckpointId


@frozen(kw_only=True)
class FromSubagent:
    """Fork from a subagent's conversation."""

    type: Literal["subagent"] = "subagent"
    item_id: ItemId


ForkPoint: TypeAlias = FromLatestStable | FromRun | FromCheckpoint | FromSubagent


@frozen(kw_only=True)
class ThreadForkParams(ThreadChangeParams):
    """Fork a thread; starts no provider."""

    from_: ForkPoint | None = optional()
    title: str | None = optional()


@frozen(kw_only=True)
class ThreadForkResult:
    """The fork and its pending transfer."""

    thread: Thread
    transfer: ContextTransfer


@frozen(kw_only=True)
class ThreadMergeBackParams(ThreadChangeParams):
    """Give a fork's work, up to a run, to its parent."""

    through_run_id: RunId | None = optional()


@frozen(kw_only=True)
class TransferResult:
    """The transfer as it now stands."""

    transfer: ContextTransfer


@frozen(kw_only=True)
class ThreadRollbackParams(ThreadChangeParams):
    """Take later runs back; ordinal 0 takes all."""

    to_run_ordinal: int
    restore_files: bool | None = optional()
    dry_run: bool | None = optional()
    force: bool | None = optional()
    dirty_paths: tuple[RelativePath, ...] | None = optional()


@frozen(kw_only=True)
class ThreadRollbackResult:
    """What the rollback did, or would do."""

    thread: Thread
    rolled_back_run_ids: tuple[RunId, ...]
    cancelled_run_ids: tuple[RunId, ...]
    superseded_handoff_ids: tuple[HandoffId, ...]
    provider_threads: tuple[ProviderThread, ...]
    restore: RestoreResult | None


@frozen(kw_only=True)
class ThreadSearchParams(Params):
    """Search what was said and done."""

    query: str
    workspace: str | None = optional()
    limit: int | None = optional()


@frozen(kw_only=True)
class SearchMatch:
    """One place where the query was found."""

    thread_id: ThreadId
    thread_title: str
    run_id: RunId | None
    run_ordinal: int | None
    item_id: ItemId
    snippet: str


@frozen(kw_only=True)
class ThreadSearchResult:
    """The places, newest first."""

    matches: tuple[SearchMatch, ...]


@frozen(kw_only=True)
class ThreadExportParams(Params):
    """Export a thread; secrets are taken out of it unless `secrets` is true."""

    thread_id: ThreadId
    format: Literal["markdown", "jsonl"]
    secrets: bool | None = optional()


@frozen(kw_only=True)
class ThreadExportResult:
    """The exported text."""

    content: str
