"""All request handlers of this build."""

from midstream.server.wire.requests import (
    branches,
    checkpoint,
    documents,
    handoff,
    items,
    provider,
    request,
    run,
    run_start,
    subscription,
    thread,
)
from midstream.server.wire.requests.host import Host
from midstream.server.wire.service import Handler

FAMILIES = (thread, branches, documents, items, subscription, run_start, run, provider, handoff, checkpoint, request)


def all_handlers(host: Host) -> dict[str, Handler]:
    """Return the handler of every method that this build answers."""
    return {method: handler for family in FAMILIES for method, handler in family.handlers(host).items()}
