"""`request/*`: params and results."""

from attrs import frozen

from midstream.protocol.base import RequestId, ThreadId, optional
from midstream.protocol.methods.params import ChangeParams, Params
from midstream.protocol.records.request import Answer, Decision, RuntimeRequest


@frozen(kw_only=True)
class RequestListParams(Params):
    """The pending requests of one thread, or of all."""

    thread_id: ThreadId | None = optional()


@frozen(kw_only=True)
class RequestListResult:
    """The pending requests, oldest first."""

    requests: tuple[RuntimeRequest, ...]


@frozen(kw_only=True)
class RequestRespondParams(ChangeParams):
    """Answer a request; `option_id` where several options mean the same decision."""

    request_id: RequestId
    option_id: str | None = optional()
    decision: Decision | None = optional()
    answers: tuple[Answer, ...] | None = optional()
    message: str | None = optional()


@frozen(kw_only=True)
class RequestResult:
    """The request as it now stands."""

    request: RuntimeRequest
