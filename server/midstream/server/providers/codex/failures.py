"""Why Codex failed, as a class that the runtime acts on; pure."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from midstream.protocol.base import JsonObject, Time
from midstream.protocol.records.run import Failure, FailureClass
from midstream.server.providers.failures import RETRYABLE
from midstream.server.providers.reading import count_of, member, text_of

_CLASSES: Final[Mapping[str, FailureClass]] = {
    "contextWindowExceeded": "context_overflow",
    "usageLimitExceeded": "usage_limit",
    "sessionBudgetExceeded": "usage_limit",
    "rateLimitExceeded": "usage_limit",
    "unauthorized": "authentication",
    "modelNotFound": "validation_error",
    "badRequest": "validation_error",
    "sandboxError": "permission_error",
    "tooManyDenials": "permission_error",
    "httpConnectionFailed": "transport_error",
    "responseStreamConnectionFailed": "transport_error",
    "responseStreamDisconnected": "transport_error",
    "responseTooManyFailedAttempts": "transport_error",
}
_CUT: Final = "stream disconnected"  # told as any other error, once Codex stopped to retry
_UNAUTHORIZED: Final = frozenset({401, 403})
_EXHAUSTED: Final = 100
_END_OF_TIME: Final = 253_402_300_799  # the last second of the year 9999


def turn_failure(error: JsonObject, limits: JsonObject) -> Failure:
    """Return the failure that a turn's error tells of; `limits` are the rate limits as last told."""
    message = text_of(error, "message") or "Codex failed without a word."
    details = text_of(error, "additionalDetails")
    class_: FailureClass = "transport_error" if message.startswith(_CUT) else _class(error.get("codexErrorInfo"))
    return Failure(
        class_=class_,
        message=message if details is None or details in message else f"{message}: {details}",
        retryable=class_ in RETRYABLE,
        reset_at=reset_at(limits) if class_ == "usage_limit" else None,
    )


def _class(info: object) -> FailureClass:
    if isinstance(info, str):
        return _CLASSES.get(info, "provider_error")
    kind = next(iter(info), "") if isinstance(info, dict) else ""
    if count_of(member(info, kind), "httpStatusCode") in _UNAUTHORIZED:
        return "authentication"
    return _CLASSES.get(kind, "provider_error")


def reset_at(limits: JsonObject) -> Time | None:
    """Return when the last of the exhausted rate limits is lifted."""
    windows = [member(limits, name) for name in ("primary", "secondary")]
    exhausted = [window for window in windows if (count_of(window, "usedPercent") or 0) >= _EXHAUSTED]
    resets = [when for window in exhausted if (when := count_of(window, "resetsAt")) is not None]
    if not resets or max(resets) > _END_OF_TIME:
        return None
    return datetime.fromtimestamp(max(resets), UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def rpc_failure(error: JsonObject) -> Failure:
    """Return the failure that an error answer tells of."""
    message = text_of(error, "message") or "Codex answered with an error that says nothing."
    if "authentication required" in message or "not logged in" in message.lower():
        return Failure(class_="authentication", message=message, retryable=False)
    data = member(error, "data")
    if text_of(data, "input_error_code") is not None:
        return Failure(class_="validation_error", message=message, retryable=False)
    return Failure(class_="provider_error", message=message, retryable=True)
