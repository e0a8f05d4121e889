"""`session/*` and `sync/*`: params and results."""

from typing import Literal

from attrs import frozen

from midstream.protocol.base import ProviderKind, ThreadId, Time, optional
from midstream.protocol.methods.params import ChangeParams, Params
from midstream.protocol.records.thread import Thread


@frozen(kw_only=True)
class SessionScanParams(Params):
    """Native sessions on this machine, of one workspace or of all."""

    workspace: str | None = optional()


@frozen(kw_only=True)
class FoundSession:
    """A native session that can be imported."""

    provider: ProviderKind
    path: str
    native_id: str
    workspace: str | None
    title: str
    runs: int | None
    updated_at: Time
    imported_thread_id: ThreadId | None


@frozen(kw_only=True)
class SessionScanResult:
    """What was found, newest first."""

    sessions: tuple[FoundSession, ...]


@frozen(kw_only=True)
class SessionImportParams(ChangeParams):
    """Make a thread of a native session."""

    path: str
    provider: ProviderKind | None = optional()
    workspace: str | None = optional()


@frozen(kw_only=True)
class SessionImportResult:
    """The thread, and how many runs and items it took over."""

    thread: Thread
    counts: dict[str, int]


@frozen(kw_only=True)
class SyncAddParams(ChangeParams):
    """Add a remote to share threads through."""

    remote: str


@frozen(kw_only=True)
class SyncPushParams(ChangeParams):
    """Send threads to the remote."""

    thread_id: ThreadId | None = optional()
    allow_secrets: tuple[str, ...] | None = optional()


@frozen(kw_only=True)
class SyncPullParams(ChangeParams):
    """Fetch threads from the remote."""

    thread_id: ThreadId | None = optional()


@frozen(kw_only=True)
class SyncTakeParams(ChangeParams):
    """Take a thread over from the machine that holds it."""

    thread_id: ThreadId


@frozen(kw_only=True)
class SyncStatusParams(Params):
    """How threads stand against the remote."""


@frozen(kw_only=True)
class SyncState:
    """How one thread stands against the remote; `bytes` is its size there."""

    thread_id: ThreadId
    state: Literal["local", "ahead", "behind", "diverged", "held"]
    holder: str | None
    bytes: int
    error: str | None


@frozen(kw_only=True)
class SyncResult:
    """How the threads stand."""

    threads: tuple[SyncState, ...]
