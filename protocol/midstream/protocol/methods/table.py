"""The one table of all requests and notifications of the protocol."""

from collections.abc import Mapping
from types import MappingProxyType, NoneType
from typing import Final

from attrs import frozen

from midstream.protocol import notifications as n
from midstream.protocol.methods import checkpoint, handoff, provider, request, run, session, thread
from midstream.protocol.methods.params import ChangeParams, Params
from midstream.protocol.records.checkpoint import RestoreResult
from midstream.protocol.records.read import ThreadRead


@frozen
class Method:
    """A request: the classes of its params and result, and whether it changes something."""

    params: type[Params]
    result: type[object]

    @property
    def changes(self) -> bool:
        """Whether the request takes a `commandId`."""
        return issubclass(self.params, ChangeParams)


METHODS: Final[Mapping[str, Method]] = MappingProxyType(
    {
        "thread/create": Method(thread.ThreadCreateParams, thread.ThreadResult),
        "thread/list": Method(thread.ThreadListParams, thread.ThreadListResult),
        "thread/read": Method(thread.ThreadIdParams, ThreadRead),
        "thread/items": Method(thread.ThreadItemsParams, thread.ThreadItemsResult),
        "item/output": Method(thread.ItemOutputParams, thread.ItemOutputResult),
        "thread/subscribe": Method(thread.ThreadSubscribeParams, thread.ThreadSubscribeResult),
        "thread/unsubscribe": Method(thread.ThreadIdParams, NoneType),
        "thread/update": Method(thread.ThreadUpdateParams, thread.ThreadResult),
        "thread/fork": Method(thread.ThreadForkParams, thread.ThreadForkResult),
        "thread/mergeBack": Method(thread.ThreadMergeBackParams, thread.TransferResult),
        "thread/rollback": Method(thread.ThreadRollbackParams, thread.ThreadRollbackResult),
        "thread/archive": Method(thread.ThreadChangeParams, thread.ThreadResult),
        "thread/unarchive": Method(thread.ThreadChangeParams, thread.ThreadResult),
        "thread/delete": Method(thread.ThreadChangeParams, NoneType),
        "thread/search": Method(thread.ThreadSearchParams, thread.ThreadSearchResult),
        "thread/export": Method(thread.ThreadExportParams, thread.ThreadExportResult),
        "run/start": Method(run.RunStartParams, run.RunStartResult),
        "run/steer": Method(run.RunSteerParams, run.RunResult),
        "run/interrupt": Method(run.RunChangeParams, run.RunResult),
        "run/retry": Method(run.RunRetryParams, run.RunRetryResult),
        "run/edit": Method(run.RunEditParams, run.RunResult),
        "run/reorder": Method(run.RunReorderParams, run.RunResult),
        "run/cancel": Method(run.RunChangeParams, run.RunResult),
        "run/wait": Method(run.RunIdParams, run.RunResult),
        "queue/resume": Method(run.QueueResumeParams, thread.ThreadResult),
        "provider/list": Method(provider.ProviderListParams, provider.ProviderListResult),
        "provider/switch": Method(provider.ProviderSwitchParams, provider.ProviderSwitchResult),
        "handoff/preview": Method(handoff.HandoffPreviewParams, handoff.HandoffPreviewResult),
        "handoff/read": Method(handoff.HandoffIdParams, handoff.HandoffResult),
        "handoff/list": Method(thread.ThreadIdParams, handoff.HandoffListResult),
        "handoff/edit": Method(handoff.HandoffEditParams, handoff.HandoffResult),
        "handoff/regenerate": Method(handoff.HandoffRegenerateParams, handoff.HandoffResult),
        "handoff/discard": Method(handoff.HandoffChangeParams, handoff.HandoffResult),
        "transfer/list": Method(handoff.TransferListParams, handoff.TransferListResult),
        "transfer/cancel": Method(handoff.TransferCancelParams, thread.TransferResult),
        "checkpoint/list": Method(checkpoint.CheckpointListParams, checkpoint.CheckpointListResult),
        "checkpoint/create": Method(checkpoint.CheckpointCreateParams, checkpoint.CheckpointResult),
        "checkpoint/diff": Method(checkpoint.CheckpointDiffParams, checkpoint.CheckpointDiffResult),
        "checkpoint/file": Method(checkpoint.CheckpointFileParams, checkpoint.CheckpointFileResult),
        "checkpoint/restore": Method(checkpoint.CheckpointRestoreParams, RestoreResult),
        "request/list": Method(request.RequestListParams, request.RequestListResult),
        "request/respond": Method(request.RequestRespondParams, request.RequestResult),
        "session/scan": Method(session.SessionScanParams, session.SessionScanResult),
        "session/import": Method(session.SessionImportParams, session.SessionImportResult),
        "sync/add": Method(session.SyncAddParams, session.SyncResult),
        "sync/push": Method(session.SyncPushParams, session.SyncResult),
        "sync/pull": Method(session.SyncPullParams, session.SyncResult),
        "sync/take": Method(session.SyncTakeParams, session.SyncResult),
        "sync/status": Method(session.SyncStatusParams, session.SyncResult),
    }
)

NOTIFICATIONS: Final[Mapping[str, type[n.Notification]]] = MappingProxyType(
    {
        "thread/event": n.ThreadEvent,
        "thread/changed": n.ThreadChanged,
        "thread/deleted": n.ThreadDeleted,
        "thread/reset": n.ThreadReset,
        "run/output": n.RunOutput,
        "handoff/progress": n.HandoffProgress,
        "checkpoint/captured": n.CheckpointCaptured,
        "checkpoint/restored": n.CheckpointRestored,
        "request/opened": n.RequestOpened,
        "request/closed": n.RequestClosed,
        "provider/changed": n.ProviderChanged,
    }
)

NOTIFICATION_METHODS: Final[Mapping[type[n.Notification], str]] = MappingProxyType(
    {params: method for method, params in NOTIFICATIONS.items()}
)
