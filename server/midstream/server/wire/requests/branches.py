"""`thread/fork`, `thread/mergeBack`, `thread/rollback`, `transfer/list` and `transfer/cancel`."""

import attrs

from midstream.protocol.errors import InvalidParams, MidstreamError
from midstream.protocol.methods.handoff import TransferCancelParams, TransferListParams, TransferListResult
from midstream.protocol.methods.thread import (
    ForkPoint,
    FromLatestStable,
    FromSubagent,
    ThreadForkParams,
    ThreadForkResult,
    ThreadMergeBackParams,
    ThreadRollbackParams,
    ThreadRollbackResult,
    TransferResult,
)
from midstream.protocol.notifications import CheckpointRestored
from midstream.protocol.records.checkpoint import RestoreResult
from midstream.protocol.records.handoff import ContextTransfer
from midstream.protocol.records.item import SubagentItem
from midstream.server.checkpoints import Selection
from midstream.server.graph.commands import CancelTransfer, ForkThread, RollBack
from midstream.server.graph.decide import Answer, Decision, decide
from midstream.server.graph.forking import point_of
from midstream.server.graph.rollback import RolledBack
from midstream.server.runtime.engine import Prepared, Turn
from midstream.server.runtime.merging import merge_back
from midstream.server.runtime.rollback import files_after, standing
from midstream.server.wire.client import Client
from midstream.server.wire.requests.host import Host, answered
from midstream.server.wire.service import Handler


def handlers(host: Host) -> dict[str, Handler]:
    """Return the handlers of this family."""

    async def fork(_: Client, params: ThreadForkParams) -> object:
        async def prepare(turn: Turn) -> ForkThread:
            wanted = params.from_ or FromLatestStable()
            subagent = await _subagent(host, wanted)
            point = point_of(turn.state, wanted, subagent)
            last = None if point.run_id is None else await host.daemon.store.last_item(point.run_id)
            item_id, ordinal = last or (None, 0)
            return ForkThread(
                thread_id=host.daemon.engine.new_id("thr"),
                point=attrs.evolve(point, item_id=item_id),
                last_item_ordinal=ordinal,
                title=subagent.title if params.title is None and subagent is not None else params.title,
            )

        def compose(decision: Decision) -> ThreadForkResult:
            return ThreadForkResult(thread=decision.state.thread, transfer=answered(decision.answer, ContextTransfer))

        return await host.daemon.engine.fork(params, params.thread_id, prepare, compose)

    async def merge(_: Client, params: ThreadMergeBackParams) -> object:
        thread = await host.daemon.store.thread(params.thread_id)
        if thread is None:
            raise MidstreamError("threadNotFound", f"There is no thread {params.thread_id}.", threadId=params.thread_id)
        parent_id = thread.lineage.parent_thread_id
        if parent_id is None or thread.forked_from is None:
            message = "This thread is no fork, so there is nothing to merge it back into."
            raise MidstreamError("invalidState", message, threadId=thread.id)

        async def prepare(turn: Turn) -> Prepared:
            async with host.daemon.engine.thread(params.thread_id) as fork:
                command = await merge_back(
                    host.daemon.planner, host.daemon.handoffs, fork.state, turn.state, params.through_run_id
                )
            return Prepared(command, _transfer)

        return await host.change("thread/mergeBack", params, parent_id, prepare)

    async def rollback(_: Client, params: ThreadRollbackParams) -> object:
        if params.to_run_ordinal < 0:
            raise InvalidParams("expected 0 or more", "toRunOrdinal")
        if params.dry_run:
            async with host.daemon.engine.thread(params.thread_id) as turn:
                command = await _rollback_command(host, turn, params)
                decided = decide(turn.state, command, host.daemon.engine.stamp())
                return _rolled_back(answered(decided.answer, RolledBack), await _restore(host, turn, params))
        restored: list[tuple[str, RestoreResult]] = []

        async def prepare(turn: Turn) -> Prepared:
            command = await _rollback_command(host, turn, params)
            decide(turn.state, command, host.daemon.engine.stamp())  # what is refused must be before a file is written
            restore = await _restore(host, turn, params, restored)
            return Prepared(command, lambda answer: _rolled_back(answered(answer, RolledBack), restore))

        answer = await host.change("thread/rollback", params, params.thread_id, prepare)
        for checkpoint_id, result in restored:
            host.daemon.audience.to_all(
                CheckpointRestored(
                    thread_id=params.thread_id,
                    checkpoint_id=checkpoint_id,
                    safety_checkpoint_id=result.safety_checkpoint_id,
                    written=result.written,
                    deleted=result.deleted,
                )
            )
        return answer

    async def list_(_: Client, params: TransferListParams) -> TransferListResult:
        async with host.daemon.engine.thread(params.thread_id) as turn:
            transfers = sorted(turn.state.transfers.values(), key=lambda transfer: transfer.id)
            return TransferListResult(transfers=tuple(transfers))

    async def cancel(_: Client, params: TransferCancelParams) -> object:
        transfer = await host.daemon.store.transfer(params.transfer_id)
        if transfer is None:
            message = f"There is no transfer {params.transfer_id}."
            raise MidstreamError("transferNotFound", message, transferId=params.transfer_id)
        command = CancelTransfer(transfer_id=transfer.id)
        return await host.change_simply("transfer/cancel", params, transfer.target_thread_id, command, _transfer)

    return {
        "thread/fork": fork,
        "thread/mergeBack": merge,
        "thread/rollback": rollback,
        "transfer/list": list_,
        "transfer/cancel": cancel,
    }


def _transfer(answer: Answer) -> TransferResult:
    return TransferResult(transfer=answered(answer, ContextTransfer))


async def _subagent(host: Host, wanted: ForkPoint) -> SubagentItem | None:
    item = await host.daemon.store.item(wanted.item_id) if isinstance(wanted, FromSubagent) else None
    return item if isinstance(item, SubagentItem) else None


async def _rollback_command(host: Host, turn: Turn, params: ThreadRollbackParams) -> RollBack:
    return RollBack(to_run_ordinal=params.to_run_ordinal, standing=await standing(host.daemon.store, turn.state))


async def _restore(
    host: Host,
    turn: Turn,
    params: ThreadRollbackParams,
    restored: list[tuple[str, RestoreResult]] | None = None,
) -> RestoreResult | None:
    """Bring the files back too where that was asked for; without `restored` only say what that would do."""
    checkpoint = files_after(turn.state, params.to_run_ordinal) if params.restore_files else None
    if checkpoint is None:
        return None
    selection = Selection(paths=None, hunks=None, dirty=frozenset(path.encode() for path in params.dirty_paths or ()))
    if restored is None:
        return await host.daemon.restorer.plan(checkpoint, selection)
    stamp = host.daemon.engine.stamp()
    result = await host.daemon.restorer.restore(turn, checkpoint, selection, stamp, force=params.force is True)
    if result.safety_checkpoint_id is not None:
        restored.append((checkpoint.id, result))
    return result


def _rolled_back(done: RolledBack, restore: RestoreResult | None) -> ThreadRollbackResult:
    return ThreadRollbackResult(
        thread=done.thread,
        rolled_back_run_ids=done.run_ids,
        cancelled_run_ids=done.cancelled_run_ids,
        superseded_handoff_ids=done.handoff_ids,
        provider_threads=done.provider_threads,
        restore=restore,
    )
