"""`run/start`: a message starts a run, waits in the queue, steers the active run, or restarts it."""

from functools import partial
from typing import Final, NoReturn

from midstream.protocol.base import HandoffId
from midstream.protocol.errors import MidstreamError
from midstream.protocol.methods.run import ReplacedHandoff, RunStartParams, RunStartResult
from midstream.protocol.records.handoff import ContextHandoff
from midstream.protocol.records.run import Message, Run, SwitchPlan
from midstream.protocol.records.thread import NextContext
from midstream.server.graph.commands import RestartRun, StartRun, SteerRun
from midstream.server.graph.queue import unsent_handoff
from midstream.server.graph.state import ThreadState
from midstream.server.runtime.attachments import check_attachments
from midstream.server.runtime.drafting import fits
from midstream.server.runtime.engine import Prepared, Turn
from midstream.server.runtime.planning import unsupported
from midstream.server.runtime.workspaces import workspace_path
from midstream.server.wire.client import Client
from midstream.server.wire.requests.host import Host, answered
from midstream.server.wire.service import Handler

IMAGES: Final = "message.attachments"


def handlers(host: Host) -> dict[str, Handler]:
    """Return the handler of this method."""

    async def start(_: Client, params: RunStartParams) -> object:
        check_attachments(params.message.attachments, IMAGES)

        async def prepare(turn: Turn) -> Prepared:
            text, attachments = params.message.text, params.message.attachments
            message = await host.daemon.attachments.stored(turn.thread_id, text, attachments, IMAGES)
            match params.delivery:
                case "steer":
                    run = _active(turn.state, params)
                    return _prepared(await steer_command(host, run, message), None)
                case "restart":
                    run = _active(turn.state, params)
                    command = RestartRun(run_id=run.id, message=message, reason="steering_restart")
                    return _prepared(command, None)
                case _:
                    return await _prepare_start(host, turn.state, params, message)

        if params.delivery in ("steer", "restart"):  # the run's provider is at work
            return await host.change("run/start", params, params.thread_id, prepare)
        probe = partial(host.probe, params.thread_id, params.selection)
        return await host.change("run/start", params, params.thread_id, prepare, probe)

    return {"run/start": start}


async def steer_command(host: Host, run: Run, message: Message) -> SteerRun:
    """Return the command that steers a run.

    Raises:
        MidstreamError: unsupported, where its provider takes no words in the middle of a turn.
    """
    provider = await host.daemon.registry.usable(run.provider)
    if not provider.capabilities.steer:
        raise MidstreamError(
            "unsupported",
            f"{run.provider} takes no words in the middle of a run; queue them, or restart the run.",
            capability="steer",
        )
    return SteerRun(run_id=run.id, message=message)


def _active(state: ThreadState, params: RunStartParams) -> Run:
    run = state.active_run
    if run is None:
        _refuse(state, "No run of this thread is active; start one.")
    if params.selection is not None and params.selection.provider != run.provider:
        _refuse(state, f"The active run is {run.provider}'s; another provider can only start or queue a run.")
    return run


def _refuse(state: ThreadState, message: str) -> NoReturn:
    raise MidstreamError("invalidState", message, threadId=state.thread.id, status=state.thread.status)


async def _prepare_start(host: Host, state: ThreadState, params: RunStartParams, message: Message) -> Prepared:
    workspace_path(state.thread.workspace)
    if state.thread.archived_at is not None:
        _refuse(state, "This thread is archived; take it out of the archive first.")
    selection = params.selection or state.thread.selection
    context: NextContext = params.context or state.thread.next_context
    plan = await host.daemon.planner.plan(state, selection, context=context)
    if plan.strategy == "unsupported":
        raise unsupported(selection, plan)
    kept, made, replaced = await _named(host, state, params, plan)
    command = StartRun(
        message=message,
        selection=selection,
        context=context,
        queue=params.delivery == "queue",
        plan=plan,
        handoff_ids=(*kept, *(handoff.id for handoff in made)),
        handoffs=made,
        replaced=replaced,
    )
    return _prepared(command, plan, replaced)


async def _named(
    host: Host, state: ThreadState, params: RunStartParams, plan: SwitchPlan
) -> tuple[tuple[HandoffId, ...], tuple[ContextHandoff, ...], tuple[ReplacedHandoff, ...]]:
    """Return the named handoffs that still fit, those made in place of others, and which stand for which."""
    named = [unsent_handoff(state, handoff_id) for handoff_id in params.handoff_ids or ()]
    kept = tuple(handoff.id for handoff in named if fits(handoff, plan))
    stale = [handoff for handoff in named if handoff.id not in kept]
    if not stale:
        return kept, (), ()
    selection = params.selection or state.thread.selection
    context = params.context or state.thread.next_context
    catchup = await host.daemon.planner.catch_up(state, selection, context=context, current=None)
    made = () if kept else catchup.handoffs
    replaced = tuple(ReplacedHandoff(from_=old.id, to=new.id) for old in stale for new in catchup.handoffs if not kept)
    return kept, made, replaced


def _prepared(
    command: StartRun | SteerRun | RestartRun,
    plan: SwitchPlan | None,
    replaced: tuple[ReplacedHandoff, ...] = (),
) -> Prepared:
    return Prepared(
        command,
        lambda answer: RunStartResult(run=answered(answer, Run), plan=plan, replaced_handoffs=replaced),
    )
