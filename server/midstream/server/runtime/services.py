"""What the parts of the runtime share."""

from collections.abc import Callable

from attrs import frozen

from midstream.protocol.records.config import Config
from midstream.server.runtime.attachments import AttachmentStore
from midstream.server.runtime.audience import Audience
from midstream.server.runtime.branching import Reverter
from midstream.server.runtime.checkpointing import Checkpointer
from midstream.server.runtime.engine import Engine
from midstream.server.runtime.erasing import Eraser
from midstream.server.runtime.handoffs import Handoffs
from midstream.server.runtime.ingest import Ingest
from midstream.server.runtime.leases import WorkspaceLeases
from midstream.server.runtime.planning import Planner
from midstream.server.runtime.readers import Readers
from midstream.server.runtime.retention import Retention
from midstream.server.runtime.sessions import SessionManager
from midstream.server.runtime.summarizing import Summarizers


@frozen(kw_only=True)
class Services:
    """The runtime's parts, made once by the daemon."""

    engine: Engine
    ingest: Ingest
    planner: Planner
    handoffs: Handoffs
    summarizers: Summarizers
    sessions: SessionManager
    checkpointer: Checkpointer
    leases: WorkspaceLeases
    readers: Readers
    retention: Retention
    attachments: AttachmentStore
    eraser: Eraser
    reverter: Reverter
    audience: Audience
    config: Callable[[], Config]
