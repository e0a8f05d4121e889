"""`provider/list` and `provider/switch`."""

from functools import partial

from midstream.protocol.methods.provider import (
    ProviderListParams,
    ProviderListResult,
    ProviderSwitchParams,
    ProviderSwitchResult,
)
from midstream.protocol.records.thread import Thread
from midstream.server.graph.commands import SwitchProvider
from midstream.server.runtime.engine import Prepared, Turn
from midstream.server.runtime.planning import Wish
from midstream.server.wire.client import Client
from midstream.server.wire.requests.host import Host, answered
from midstream.server.wire.service import Handler


def handlers(host: Host) -> dict[str, Handler]:
    """Return the handlers of this family."""

    async def list_(_: Client, params: ProviderListParams) -> ProviderListResult:
        return ProviderListResult(providers=await host.daemon.registry.all(refresh=params.refresh is True))

    async def switch(_: Client, params: ProviderSwitchParams) -> object:
        async def prepare(turn: Turn) -> Prepared:
            context = params.context or "auto"
            plan = await host.daemon.planner.plan(turn.state, Wish(selection=params.selection, context=context))
            return Prepared(
                SwitchProvider(selection=params.selection, context=context),
                lambda answer: ProviderSwitchResult(thread=answered(answer, Thread), plan=plan),
            )

        probe = partial(host.probe, params.thread_id, params.selection)
        return await host.change("provider/switch", params, params.thread_id, prepare, probe)

    return {"provider/list": list_, "provider/switch": switch}
