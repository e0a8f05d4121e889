"""`run/start`: a message starts a run, waits in the queue, steers the active run, or restarts it."""

from functools import partial
from typing import Final, NoReturn

from attrs import frozen

from midstream.protocol.base import HandoffId
from midstream.protocol.errors import MidstreamError
from midstream.protocol.methods.run import ReplacedHandoff, RunStartParams, RunStartResult
from midstream.protocol.records.handoff import ContextHandoff, HandoffInfo
from midstream.protocol.records.run import Message, Run, SwitchPlan
from midstream.server.graph.commands import RestartRun, StartRun, SteerRun
from midstream.server.graph.prepared import tells_of_fork, unsent_handoff
from midstream.server.graph.state import ThreadState
from midstream.server.runtime.attachments import check_attachments
from midstream.server.runtime.engine import Prepared, Turn
from midstream.server.runtime.handoffs import missed_by, unsupported
from midstream.server.runtime.planning import Wish
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
    wish = Wish(
        selection=params.selection or state.thread.selection, context=params.context or state.thread.next_context
    )
    plan = await host.daemon.planner.plan(state, wish)
    if plan.strategy == "unsupported":
        raise unsupported(wish.selection, plan)
    named = await _named(host, state, params, wish)
    plan = named.plan or plan
    command = StartRun(
        message=message,
        selection=wish.selection,
        context=wish.context,
        queue=params.delivery == "queue",
        plan=plan,
        handoff_ids=named.handoff_ids,
        handoffs=named.made,
        replaced=named.replaced,
    )
    return _prepared(command, plan, named.replaced)


@frozen(kw_only=True)
class _Named:
    """What became of the handoffs that a run names: those to send, those made just now, which stand for which."""

    plan: SwitchPlan | None = None
    handoff_ids: tuple[HandoffId, ...] = ()
    made: tuple[ContextHandoff, ...] = ()
    replaced: tuple[ReplacedHandoff, ...] = ()


async def _named(host: Host, state: ThreadState, params: RunStartParams, wish: Wish) -> _Named:
    asked = (handoff_id for handoff_id in params.handoff_ids or () if not tells_of_fork(state.handoffs.get(handoff_id)))
    named = [unsent_handoff(state, handoff_id) for handoff_id in asked]  # merge-backs are sent in any case
    if not named:
        return _Named()
    handoffs, stale = host.daemon.handoffs, params.allow_stale_handoff is True
    kept = await handoffs.kept(state, wish, named, None, stale=stale)
    if kept is not None:
        first, *made = kept.handoffs
        others = (old.id for old in named if old.id != first.id)
        return _Named(
            plan=kept.plan,
            handoff_ids=tuple(handoff.id for handoff in kept.handoffs),
            made=tuple(made),
            replaced=tuple(ReplacedHandoff(from_=old, to=first.id) for old in others),
        )
    decided = await host.daemon.planner.decide(state, wish)
    for old in named:
        if old.strategy == "manual_context":
            raise _stale(old, missed_by(decided.plan, old))
    new = handoffs.make(state, decided, wish)
    if new is None:
        return _Named()
    return _Named(
        plan=decided.plan,
        handoff_ids=(new.id,),
        made=(new,),
        replaced=tuple(ReplacedHandoff(from_=old.id, to=new.id) for old in named),
    )


def _stale(handoff: HandoffInfo, missed: tuple[int, ...]) -> MidstreamError:
    return MidstreamError(
        "handoffStale",
        f"The thread moved on since handoff {handoff.id} was edited. Edit a new preview, or allow a stale handoff: "
        "then what it does not cover follows it.",
        handoffId=handoff.id,
        missedRunOrdinals=missed,
    )


def _prepared(
    command: StartRun | SteerRun | RestartRun,
    plan: SwitchPlan | None,
    replaced: tuple[ReplacedHandoff, ...] = (),
) -> Prepared:
    return Prepared(
        command,
        lambda answer: RunStartResult(run=answered(answer, Run), plan=plan, replaced_handoffs=replaced),
    )
