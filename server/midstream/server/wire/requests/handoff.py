"""`handoff/preview`, `handoff/read` and `handoff/list`."""

from functools import partial

from midstream.protocol.errors import MidstreamError
from midstream.protocol.methods.handoff import (
    HandoffIdParams,
    HandoffListResult,
    HandoffPreviewParams,
    HandoffPreviewResult,
    HandoffResult,
)
from midstream.protocol.methods.thread import ThreadIdParams
from midstream.server.graph.commands import StoreHandoffs
from midstream.server.runtime.engine import Prepared, Turn
from midstream.server.runtime.planning import Catchup
from midstream.server.wire.client import Client
from midstream.server.wire.requests.host import Host
from midstream.server.wire.service import Handler


def handlers(host: Host) -> dict[str, Handler]:
    """Return the handlers of this family."""

    async def preview(_: Client, params: HandoffPreviewParams) -> object:
        async def prepare(turn: Turn) -> Prepared:
            catchup = await _catch_up(host, turn, params)
            result = HandoffPreviewResult(plan=catchup.plan, handoffs=catchup.handoffs)
            return Prepared(StoreHandoffs(handoffs=catchup.handoffs), lambda _: result)

        probe = partial(host.probe, params.thread_id, params.selection)
        return await host.change("handoff/preview", params, params.thread_id, prepare, probe)

    async def read(_: Client, params: HandoffIdParams) -> HandoffResult:
        handoff = await host.daemon.store.handoff(params.handoff_id)
        if handoff is None:
            raise MidstreamError(
                "handoffNotFound", f"There is no handoff {params.handoff_id}.", handoffId=params.handoff_id
            )
        return HandoffResult(handoff=handoff)

    async def list_(_: Client, params: ThreadIdParams) -> HandoffListResult:
        async with host.daemon.engine.thread(params.thread_id) as turn:
            handoffs = sorted(turn.state.handoffs.values(), key=lambda handoff: handoff.id)
            return HandoffListResult(handoffs=tuple(handoffs))

    return {"handoff/preview": preview, "handoff/read": read, "handoff/list": list_}


async def _catch_up(host: Host, turn: Turn, params: HandoffPreviewParams) -> Catchup:
    selection = params.selection or turn.state.thread.selection
    context = params.context or turn.state.thread.next_context
    planner = host.daemon.planner
    plan = await planner.plan(turn.state, selection, context=context, budget_tokens=params.budget_tokens)
    if plan.strategy == "unsupported":
        return Catchup(plan=plan, handoffs=())
    return await planner.catch_up(
        turn.state,
        selection,
        context=context,
        current=None,
        strategy=params.strategy,
        budget_tokens=params.budget_tokens,
        summarizer=params.summarizer,
    )
