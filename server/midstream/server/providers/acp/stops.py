"""What the answer to a prompt says of the turn that ended; pure."""

from typing import Final

from midstream.protocol.records.run import Failure, Usage
from midstream.server.providers.acp.failures import rpc_failure
from midstream.server.providers.connection import Answer
from midstream.server.providers.events import UsageReported
from midstream.server.providers.failures import failure
from midstream.server.providers.reading import count_of, member

_NOTICES: Final = {
    "max_tokens": "The agent stopped: it reached its limit of tokens.",
    "max_turn_requests": "The agent stopped: it reached its limit of model requests in a turn.",
}


def why_failed(answer: Answer, stop_reason: str | None) -> Failure | None:
    """Return why the turn failed, None where it did not."""
    if answer.error is not None:
        return rpc_failure(answer.error)
    if stop_reason == "refusal":
        return failure("provider_error", "The agent refused the prompt.")
    return None


def notice_of(stop_reason: str | None) -> str | None:
    """Return what the user should know of how the turn ended, None where it ended as turns do."""
    match stop_reason:
        case "end_turn" | "cancelled":
            return None
        case None:
            return "The agent stopped without a reason."
        case _:
            unknown = f"The agent stopped for a reason that Midstream does not know: {stop_reason}."
            return _NOTICES.get(stop_reason, unknown)


def usage_of(answer: Answer) -> tuple[UsageReported, ...]:
    """Return the tokens of the turn, where the answer counts them."""
    told = member(answer.result, "usage")
    sent, received = count_of(told, "inputTokens"), count_of(told, "outputTokens")
    if sent is None or received is None:
        return ()
    cached = count_of(told, "cachedReadTokens")
    return (UsageReported(usage=Usage(input_tokens=sent, output_tokens=received, cached_input_tokens=cached)),)
