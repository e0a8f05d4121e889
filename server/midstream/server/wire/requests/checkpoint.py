"""`checkpoint/*`: what is kept, what differs, and bringing it back."""

import base64
from collections import defaultdict

from midstream.protocol.errors import InvalidParams, MidstreamError
from midstream.protocol.methods.checkpoint import (
    CheckpointCreateParams,
    CheckpointDiffParams,
    CheckpointDiffResult,
    CheckpointFileParams,
    CheckpointFileResult,
    CheckpointListParams,
    CheckpointListResult,
    CheckpointRestoreParams,
    CheckpointResult,
)
from midstream.protocol.notifications import CheckpointCaptured, CheckpointRestored
from midstream.protocol.records.checkpoint import Checkpoint, RestoreResult
from midstream.server.checkpoints import CheckpointError, Hunk, PathNotInCheckpoint, Selection
from midstream.server.graph.commands import KeepCheckpoint
from midstream.server.graph.state import ThreadState
from midstream.server.runtime.checkpointing import summary_of
from midstream.server.runtime.engine import Prepared, Turn
from midstream.server.runtime.restoring import failure, unknown
from midstream.server.runtime.workspaces import workspace_name, workspace_path
from midstream.server.wire.client import Client
from midstream.server.wire.requests.host import Host
from midstream.server.wire.service import Handler


def handlers(host: Host) -> dict[str, Handler]:
    """Return the handlers of this family."""

    async def list_(_: Client, params: CheckpointListParams) -> CheckpointListResult:
        async with host.daemon.engine.thread(params.thread_id) as turn:
            checkpoints = sorted(turn.state.checkpoints.values(), key=lambda checkpoint: checkpoint.id)
            return CheckpointListResult(checkpoints=tuple(checkpoints))

    async def diff(_: Client, params: CheckpointDiffParams) -> CheckpointDiffResult:
        async with host.daemon.engine.thread(params.thread_id) as turn:
            state = turn.state
        base = _ready(state, params.from_)
        target = None if params.to == "workspace" else _ready(state, params.to).ref
        uri = state.thread.workspace
        workspace = workspace_path(uri) if target is None else workspace_name(uri)
        context = 3 if params.context is None else params.context
        if not 0 <= context <= 1000:
            raise InvalidParams("expected 0 to 1000", "context")
        try:
            found = await host.daemon.checkpoints.diff(
                workspace,
                base.ref,
                target,
                path=None if params.path is None else params.path.encode(),
                context=context,
                patch=params.patch is True,
            )
        except CheckpointError as error:
            raise failure(error, base) from error
        return CheckpointDiffResult(
            files=tuple(summary_of(change) for change in found.files), patch=found.patch, truncated=found.truncated
        )

    async def file(_: Client, params: CheckpointFileParams) -> CheckpointFileResult:
        checkpoint = await host.daemon.store.checkpoint(params.checkpoint_id)
        if checkpoint is None or checkpoint.status != "ready":
            raise unknown(params.checkpoint_id)
        try:
            content = await host.daemon.checkpoints.file(
                workspace_name(checkpoint.scope_id), checkpoint.ref, params.path.encode()
            )
        except PathNotInCheckpoint:
            raise InvalidParams(f"checkpoint {checkpoint.id} holds no file {params.path}", "path") from None
        except CheckpointError as error:
            raise failure(error, checkpoint) from error
        return _content(content.content, content.mode)

    async def create(_: Client, params: CheckpointCreateParams) -> object:
        made: list[Checkpoint] = []

        async def prepare(turn: Turn) -> Prepared:
            uri = turn.state.thread.workspace
            stamp = host.daemon.engine.stamp()
            try:
                checkpoint = await host.daemon.checkpointer.manual(turn.state, workspace_path(uri), stamp, params.label)
            except CheckpointError as error:
                raise MidstreamError("workspaceInvalid", str(error), workspace=uri) from error
            made.append(checkpoint)
            return Prepared(KeepCheckpoint(checkpoint=checkpoint), lambda _: CheckpointResult(checkpoint=checkpoint))

        answer = await host.change("checkpoint/create", params, params.thread_id, prepare)
        for checkpoint in made:
            host.daemon.audience.to_subscribers(
                params.thread_id,
                CheckpointCaptured(
                    thread_id=params.thread_id, run_id=None, checkpoint=checkpoint, patch=None, truncated=False
                ),
            )
        return answer

    async def restore(_: Client, params: CheckpointRestoreParams) -> object:
        checkpoint = await host.daemon.store.checkpoint(params.checkpoint_id)
        if checkpoint is None or checkpoint.status != "ready":
            raise unknown(params.checkpoint_id)
        selection = _selection(params)
        restorer = host.daemon.restorer
        if params.dry_run:
            return await restorer.plan(checkpoint, selection)
        restored: list[RestoreResult] = []

        async def prepare(turn: Turn) -> Prepared:
            stamp = host.daemon.engine.stamp()
            result = await restorer.restore(turn, checkpoint, selection, stamp, force=params.force is True)
            if result.safety_checkpoint_id is not None:
                restored.append(result)
            return Prepared(KeepCheckpoint(checkpoint=None), lambda _: result)

        answer = await host.change("checkpoint/restore", params, checkpoint.thread_id, prepare)
        for result in restored:
            host.daemon.audience.to_all(
                CheckpointRestored(
                    thread_id=checkpoint.thread_id,
                    checkpoint_id=checkpoint.id,
                    safety_checkpoint_id=result.safety_checkpoint_id,
                    written=result.written,
                    deleted=result.deleted,
                )
            )
        return answer

    return {
        "checkpoint/list": list_,
        "checkpoint/create": create,
        "checkpoint/diff": diff,
        "checkpoint/file": file,
        "checkpoint/restore": restore,
    }


def _selection(params: CheckpointRestoreParams) -> Selection:
    if params.paths is not None and params.hunks is not None:
        raise InvalidParams("not together with `paths`", "hunks")
    hunks: defaultdict[bytes, list[Hunk]] = defaultdict(list)
    for hunk in params.hunks or ():
        lines = Hunk(hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines)
        hunks[hunk.path.encode()].append(lines)
    return Selection(
        paths=None if params.paths is None else tuple(path.encode() for path in params.paths),
        hunks=None if params.hunks is None else {path: tuple(lines) for path, lines in hunks.items()},
        dirty=frozenset(path.encode() for path in params.dirty_paths or ()),
    )


def _content(content: bytes, mode: str) -> CheckpointFileResult:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        encoded = base64.b64encode(content).decode()
        return CheckpointFileResult(encoding="base64", content=encoded, mode=mode, bytes=len(content))
    return CheckpointFileResult(encoding="utf-8", content=text, mode=mode, bytes=len(content))


def _ready(state: ThreadState, checkpoint_id: str) -> Checkpoint:
    checkpoint = state.checkpoints.get(checkpoint_id)
    if checkpoint is None or checkpoint.status != "ready":
        raise unknown(checkpoint_id)
    return checkpoint
