"""`checkpoint/list`, `checkpoint/diff` and `checkpoint/file`."""

import base64

from midstream.protocol.errors import InvalidParams, MidstreamError
from midstream.protocol.methods.checkpoint import (
    CheckpointDiffParams,
    CheckpointDiffResult,
    CheckpointFileParams,
    CheckpointFileResult,
    CheckpointListParams,
    CheckpointListResult,
)
from midstream.protocol.records.checkpoint import Checkpoint
from midstream.server.checkpoints import CheckpointError, CheckpointMissing, PathNotInCheckpoint
from midstream.server.graph.state import ThreadState
from midstream.server.runtime.checkpointing import summary_of
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
            raise _failed(error, base) from error
        return CheckpointDiffResult(
            files=tuple(summary_of(change) for change in found.files), patch=found.patch, truncated=found.truncated
        )

    async def file(_: Client, params: CheckpointFileParams) -> CheckpointFileResult:
        checkpoint = await host.daemon.store.checkpoint(params.checkpoint_id)
        if checkpoint is None or checkpoint.status != "ready":
            raise _unknown(params.checkpoint_id)
        try:
            content = await host.daemon.checkpoints.file(
                workspace_name(checkpoint.scope_id), checkpoint.ref, params.path.encode()
            )
        except PathNotInCheckpoint:
            raise InvalidParams(f"checkpoint {checkpoint.id} holds no file {params.path}", "path") from None
        except CheckpointError as error:
            raise _failed(error, checkpoint) from error
        return _content(content.content, content.mode)

    return {"checkpoint/list": list_, "checkpoint/diff": diff, "checkpoint/file": file}


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
        raise _unknown(checkpoint_id)
    return checkpoint


def _unknown(checkpoint_id: str) -> MidstreamError:
    return MidstreamError(
        "checkpointNotFound",
        f"There is no checkpoint {checkpoint_id} whose files can be read.",
        checkpointId=checkpoint_id,
    )


def _failed(error: CheckpointError, checkpoint: Checkpoint) -> MidstreamError:
    if isinstance(error, CheckpointMissing):
        return _unknown(checkpoint.id)
    return MidstreamError("workspaceInvalid", str(error), workspace=checkpoint.scope_id)
