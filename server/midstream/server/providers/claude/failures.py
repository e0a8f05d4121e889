"""Why Claude Code failed, as a class that the runtime acts on; pure."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from claude_agent_sdk import ResultMessage

from midstream.protocol.base import Time
from midstream.protocol.records.run import Failure, FailureClass
from midstream.server.providers.failures import RETRYABLE

_STATUSES: Final[Mapping[int, FailureClass]] = {
    400: "validation_error",
    401: "authentication",
    402: "usage_limit",
    403: "authentication",
    404: "validation_error",
    413: "context_overflow",
    429: "usage_limit",
}
_ERRORS: Final[Mapping[str, FailureClass]] = {
    "authentication_failed": "authentication",
    "billing_error": "usage_limit",
    "rate_limit": "usage_limit",
    "invalid_request": "validation_error",
    "server_error": "provider_error",
}
_TOO_LONG: Final = "prompt is too long"
_CUT: Final = ("empty or malformed response", "connection error", "stream", "timed out", "unable to connect")
_ABORTED: Final = ("aborted_streaming", "aborted_tools")


def was_aborted(result: ResultMessage) -> bool:
    """Return whether a turn ended because somebody stopped it."""
    return result.terminal_reason in _ABORTED


def result_failure(result: ResultMessage, error: str | None, resets_at: int | None) -> Failure | None:
    """Return the failure that a turn's result tells of, None where it completed.

    `error` is the kind of the error that the model endpoint answered with, `resets_at` when the quota is back.
    """
    if not result.is_error and result.subtype == "success":
        return None
    message = "; ".join(result.errors or ()) or result.result or f"Claude Code ended with {result.subtype}."
    class_ = _class(message.lower(), error, result.api_error_status)
    return Failure(
        class_=class_,
        message=message,
        retryable=class_ in RETRYABLE,
        reset_at=_time(resets_at) if class_ == "usage_limit" else None,
    )


def _class(message: str, error: str | None, status: int | None) -> FailureClass:
    if _TOO_LONG in message:
        return "context_overflow"
    known = _STATUSES.get(status or 0) or _ERRORS.get(error or "")
    return known or ("transport_error" if any(words in message for words in _CUT) else "provider_error")


def _time(seconds: int | None) -> Time | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
