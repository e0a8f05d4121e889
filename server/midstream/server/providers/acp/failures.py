"""Why an agent failed, as a class that the runtime acts on; pure."""

import re
from typing import Final, get_args

from midstream.protocol.base import JsonObject
from midstream.protocol.records.run import Failure, FailureClass
from midstream.server.providers.failures import RETRYABLE
from midstream.server.providers.reading import member, text_of

METHOD_NOT_FOUND: Final = -32601
LOGIN_REQUIRED: Final = -32000
REQUEST_CANCELLED: Final = -32800

_CLASSES: Final[dict[str, FailureClass]] = {name: name for name in get_args(FailureClass)}
# No agent but our own tells the class, so the words of the large providers' own errors stand in for it.
_WORDS: Final[tuple[tuple[re.Pattern[str], FailureClass], ...]] = (
    (
        re.compile(r"context[ _](window|length)|prompt is too long|too many tokens|maximum context", re.I),
        "context_overflow",
    ),
    (
        re.compile(r"usage limit|rate.?limit|quota|resource.?exhausted|too many requests|credit balance", re.I),
        "usage_limit",
    ),
)


def rpc_failure(error: JsonObject) -> Failure:
    """Return the failure that a JSON-RPC error tells of."""
    data = member(error, "data")
    message = text_of(error, "message") or "The agent answered with an error that says nothing."
    details = text_of(error, "data") or text_of(data, "details", "message") or ""
    said = message if not details or details in message else f"{message}: {details}"
    class_ = _class(error, said)
    return Failure(class_=class_, message=said, retryable=class_ in RETRYABLE, reset_at=text_of(data, "resetAt"))


def _class(error: JsonObject, said: str) -> FailureClass:
    if known := _CLASSES.get(text_of(member(error, "data"), "class") or ""):
        return known
    if error.get("code") == LOGIN_REQUIRED:
        return "authentication"
    return next((class_ for words, class_ in _WORDS if words.search(said)), "provider_error")
