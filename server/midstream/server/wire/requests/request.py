"""`request/list` and `request/respond`."""

from midstream.protocol.errors import MidstreamError
from midstream.protocol.methods.request import (
    RequestListParams,
    RequestListResult,
    RequestRespondParams,
    RequestResult,
)
from midstream.protocol.records.request import RuntimeRequest
from midstream.server.graph.commands import RespondRequest
from midstream.server.wire.client import Client
from midstream.server.wire.requests.host import Host, answered
from midstream.server.wire.service import Handler


def handlers(host: Host) -> dict[str, Handler]:
    """Return the handlers of this family."""

    async def list_(_: Client, params: RequestListParams) -> RequestListResult:
        if params.thread_id is not None:
            async with host.daemon.engine.thread(params.thread_id):
                pass
        requests = await host.daemon.store.pending_requests(params.thread_id)
        return RequestListResult(requests=requests)

    async def respond(_: Client, params: RequestRespondParams) -> object:
        known = await host.daemon.store.request(params.request_id)
        if known is None:
            raise MidstreamError(
                "requestNotFound", f"There is no request {params.request_id}.", requestId=params.request_id
            )
        command = RespondRequest(
            request_id=params.request_id,
            option_id=params.option_id,
            decision=params.decision,
            answers=params.answers,
            message=params.message,
        )
        return await host.change_simply(
            "request/respond",
            params,
            known.thread_id,
            command,
            lambda answer: RequestResult(request=answered(answer, RuntimeRequest)),
        )

    return {"request/list": list_, "request/respond": respond}
