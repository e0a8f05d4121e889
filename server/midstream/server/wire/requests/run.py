"""`run/*` and `queue/resume`, but for `run/start`."""

import asyncio
from functools import partial

from midstream.protocol.methods.run import (
    QueueResumeParams,
    RunChangeParams,
    RunEditParams,
    RunIdParams,
    RunReorderParams,
    RunResult,
    RunRetryParams,
    RunRetryResult,
    RunSteerParams,
)
from midstream.protocol.methods.thread import ThreadResult
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Thread
from midstream.server.graph.commands import (
    CancelRun,
    Command,
    EditRun,
    InterruptRun,
    ReorderRun,
    ResumeQueue,
    RetryRun,
)
from midstream.server.graph.decide import Answer
from midstream.server.runtime.attachments import check_attachments
from midstream.server.runtime.engine import Prepared, Turn
from midstream.server.runtime.handoffs import unsupported
from midstream.server.runtime.planning import Wish
from midstream.server.runtime.workspaces import workspace_path
from midstream.server.wire.client import Client
from midstream.server.wire.requests.host import Host, answered
from midstream.server.wire.requests.run_start import steer_command
from midstream.server.wire.service import Handler


def handlers(host: Host) -> dict[str, Handler]:
    """Return the handlers of this family."""

    async def change(method: str, params: RunChangeParams, command: Command) -> object:
        run = await host.run(params.run_id)
        return await host.change_simply(method, params, run.thread_id, command, _result)

    async def steer(_: Client, params: RunSteerParams) -> object:
        run = await host.run(params.run_id)

        check_attachments(params.attachments, "attachments")

        async def prepare(turn: Turn) -> Prepared:
            message = await host.daemon.attachments.stored(
                turn.thread_id, params.text, params.attachments, "attachments"
            )
            return Prepared(await steer_command(host, turn.state.runs[run.id], message), _result)

        return await host.change("run/steer", params, run.thread_id, prepare)

    async def interrupt(_: Client, params: RunChangeParams) -> object:
        return await change("run/interrupt", params, InterruptRun(run_id=params.run_id))

    async def edit(_: Client, params: RunEditParams) -> object:
        return await change("run/edit", params, EditRun(run_id=params.run_id, text=params.text))

    async def reorder(_: Client, params: RunReorderParams) -> object:
        command = ReorderRun(run_id=params.run_id, before_run_id=params.before_run_id)
        return await change("run/reorder", params, command)

    async def cancel(_: Client, params: RunChangeParams) -> object:
        return await change("run/cancel", params, CancelRun(run_id=params.run_id))

    async def retry(_: Client, params: RunRetryParams) -> object:
        run = await host.run(params.run_id)

        async def prepare(turn: Turn) -> Prepared:
            state = turn.state
            workspace_path(state.thread.workspace)
            known = state.runs[run.id]
            selection = params.selection or known.selection
            plan = await host.daemon.planner.plan(state, Wish(selection=selection, context="auto"), known)
            if plan.strategy == "unsupported":
                raise unsupported(selection, plan)
            command = RetryRun(run_id=run.id, selection=selection, plan=plan)
            return Prepared(command, lambda answer: RunRetryResult(run=answered(answer, Run), plan=plan))

        probe = partial(host.probe, run.thread_id, params.selection or run.selection)
        return await host.change("run/retry", params, run.thread_id, prepare, probe)

    async def wait(_: Client, params: RunIdParams) -> RunResult:
        known = await host.run(params.run_id)
        async with host.daemon.engine.thread(known.thread_id) as turn:  # no commit can end the run unseen meanwhile
            ended = asyncio.ensure_future(host.daemon.publisher.ended(turn.state.runs[known.id]))
        return RunResult(run=await ended)

    async def resume(_: Client, params: QueueResumeParams) -> object:
        return await host.change_simply("queue/resume", params, params.thread_id, ResumeQueue(), _thread_result)

    return {
        "run/steer": steer,
        "run/interrupt": interrupt,
        "run/edit": edit,
        "run/reorder": reorder,
        "run/cancel": cancel,
        "run/retry": retry,
        "run/wait": wait,
        "queue/resume": resume,
    }


def _result(answer: Answer) -> RunResult:
    return RunResult(run=answered(answer, Run))


def _thread_result(answer: Answer) -> ThreadResult:
    return ThreadResult(thread=answered(answer, Thread))
