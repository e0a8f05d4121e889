"""Commands on the thread itself."""

import attrs

from midstream.protocol.base import ThreadId
from midstream.protocol.records.handoff import ContextHandoff, HandoffInfo
from midstream.protocol.records.thread import Lineage, ModelSelection, RuntimeMode, SourcePoint, Thread
from midstream.server.graph.changes import Changes
from midstream.server.graph.commands import (
    ArchiveThread,
    KeepCheckpoint,
    LoseCheckpoints,
    StoreHandoffs,
    SwitchProvider,
    UpdateThread,
)
from midstream.server.graph.events import CheckpointPut, HandoffContent, HandoffPut, ThreadPut

TITLE_LENGTH = 80


def new_thread(
    *,
    thread_id: ThreadId,
    title: str,
    workspace: str,
    selection: ModelSelection,
    runtime_mode: RuntimeMode,
    lineage: Lineage,
    forked_from: SourcePoint | None,
    now: str,
) -> Thread:
    """Return a thread in which nothing has happened yet."""
    return Thread(
        id=thread_id,
        title=title,
        workspace=workspace,
        selection=selection,
        next_context="auto",
        runtime_mode=runtime_mode,
        active_provider_thread_id=None,
        lineage=lineage,
        forked_from=forked_from,
        origin="native",
        queue_held=False,
        pending_transfer_ids=(),
        status="idle",
        created_at=now,
        updated_at=now,
        archived_at=None,
    )


def update(changes: Changes, command: UpdateThread) -> Thread:
    """Set title and runtime mode."""
    thread = changes.state.thread
    return put_thread(
        changes,
        attrs.evolve(
            thread,
            title=thread.title if command.title is None else command.title,
            runtime_mode=command.runtime_mode or thread.runtime_mode,
        ),
    )


def archive(changes: Changes, command: ArchiveThread) -> Thread:
    """Put the thread away, or take it out."""
    thread = changes.state.thread
    if command.archived == (thread.archived_at is not None):
        return thread
    return put_thread(changes, attrs.evolve(thread, archived_at=changes.now if command.archived else None))


def switch(changes: Changes, command: SwitchProvider) -> Thread:
    """Choose who answers the next run."""
    thread = attrs.evolve(changes.state.thread, selection=command.selection, next_context=command.context)
    return put_thread(changes, thread)


def store_handoffs(changes: Changes, command: StoreHandoffs) -> tuple[HandoffInfo, ...]:
    """Keep previewed handoffs, for a run that names them."""
    return tuple(put_handoff(changes, handoff) for handoff in command.handoffs)


def keep_checkpoint(changes: Changes, command: KeepCheckpoint) -> None:
    """Put a checkpoint's new version, where it is one."""
    checkpoint = command.checkpoint
    if checkpoint is not None and changes.state.checkpoints.get(checkpoint.id) != checkpoint:
        changes.put(CheckpointPut(checkpoint))


def lose_checkpoints(changes: Changes, command: LoseCheckpoints) -> None:
    """Mark checkpoints that are kept no longer; what was taken at a run's end stays in its history."""
    for checkpoint_id in command.checkpoint_ids:
        checkpoint = changes.state.checkpoints.get(checkpoint_id)
        if checkpoint is not None and checkpoint.status == "ready":
            changes.put(CheckpointPut(attrs.evolve(checkpoint, status="missing")))


def put_thread(changes: Changes, thread: Thread) -> Thread:
    """Put the thread's new version, where it is one."""
    if thread != changes.state.thread:
        changes.put(ThreadPut(attrs.evolve(thread, updated_at=changes.now)))
    return changes.state.thread


def put_handoff(changes: Changes, handoff: ContextHandoff) -> HandoffInfo:
    """Put a new handoff, its text with it."""
    info = info_of(handoff)
    content = HandoffContent(handoff.summary_text, handoff.sent_text, handoff.sections)
    changes.put(HandoffPut(info, content))
    return info


def info_of(handoff: ContextHandoff) -> HandoffInfo:
    """Return a handoff without its text."""
    return HandoffInfo(**{field.name: getattr(handoff, field.name) for field in attrs.fields(HandoffInfo)})


def title_from(text: str) -> str:
    """Return the title that a thread has until the user sets one: the first words of its first message."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1].rstrip() + "…"
