"""Records and notifications for tests of the wire."""

from typing import Any

import attrs

from midstream.protocol.notifications import RunOutput, ThreadChanged, ThreadEvent
from midstream.protocol.records.request import RequestDetail, RequestOption, RuntimeRequest
from midstream.protocol.records.thread import Lineage, ModelSelection, Thread

NOW = "2026-12-01T16:00:00.000Z"
THREAD = Thread(
    id="thr_1",
    title="A thread",
    workspace="file:///workspace",
    selection=ModelSelection(provider="codex", model=None),
    next_context="auto",
    runtime_mode="approvalRequired",
    active_provider_thread_id=None,
    lineage=Lineage(parent_thread_id=None, relationship_to_parent=None, root_thread_id="thr_1"),
    forked_from=None,
    origin="native",
    queue_held=False,
    pending_transfer_ids=(),
    status="idle",
    created_at=NOW,
    updated_at=NOW,
    archived_at=None,
)
REQUEST = RuntimeRequest(
    id="req_1",
    thread_id="thr_1",
    run_id="run_1",
    item_id="itm_1",
    target_item_id=None,
    kind="command",
    prompt="Run the tests?",
    detail=RequestDetail(command="make test"),
    options=(),
    accepts_message=False,
    status="pending",
    decision=None,
    message=None,
    answers=None,
    created_at=NOW,
    resolved_at=None,
)


def a_thread(id: str = "thr_1", **fields: Any) -> Thread:
    """Return a thread."""
    return attrs.evolve(THREAD, id=id, **fields)


def an_event(sequence: int, thread_id: str = "thr_1", **fields: Any) -> ThreadEvent:
    """Return a thread's event of that sequence."""
    record = a_thread(thread_id, **fields)
    return ThreadEvent(thread_id=thread_id, sequence=sequence, command_id=None, type="thread", record=record)


def a_change(title: str, thread_id: str = "thr_1") -> ThreadChanged:
    """Return the news that a thread has another title."""
    return ThreadChanged(thread=a_thread(thread_id, title=title))


def some_output(text: str, offset: int = 0, item_id: str = "itm_1", thread_id: str = "thr_1") -> RunOutput:
    """Return text of an agent's message."""
    return RunOutput(thread_id=thread_id, run_id="run_1", item_id=item_id, field="text", offset=offset, text=text)


def a_request(*labels: str, id: str = "req_1") -> RuntimeRequest:
    """Return a pending approval with one option a label."""
    options = tuple(
        RequestOption(option_id=f"option-{number}", decision="accept", label=label)
        for number, label in enumerate(labels)
    )
    return attrs.evolve(REQUEST, id=id, options=options)
