"""Why an agent failed, as a class that the runtime acts on; pure."""

import re
from typing import Final, get_args

from midstream.protocol.base import JsonObject
from midstream.protocol.records.run import Failure, FailureClass
from midstream.server.providers.acp.reading import member, text_of

METHOD_NOT_FOUND: Final = -32601
LOGIN_REQUIRED: Final = -32000
REQUEST_CANCELLED: Final = -32800

_CLASSES: Final[dict[str, FailureClass]] = {name: name for name in get_args(FailureClass)}
_RETRYABLE: Final = frozenset({"provider_error", "transport_error", "usage_limit"})
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
    return Failure(class_=class_, message=said, retryable=class_ in _RETRYABLE, reset_at=text_of(data, "resetAt"))


def _class(error: JsonObject, said: str) -> FailureClass:
    if known := _CLASSES.get(text_of(member(error, "data"), "class") or ""):
        return known
    if error.get("code") == LOGIN_REQUIRED:
        return "authentication"
    return next((class_ for words, class_ in _WORDS if words.search(said)), "provider_error")


def gone(returncode: int | None, last_words: str) -> Failure:
    """Return the failure of an agent whose process is gone."""
    status = "" if returncode is None else f" with exit status {returncode}"
    said = f": {last_words}" if last_words else "."
    return Failure(class_="transport_error", message=f"The agent's process ended{status}{said}", retryable=True)


def failure(class_: FailureClass, message: str) -> Failure:
    """Return a failure that we found ourselves."""
    return Failure(class_=class_, message=message, retryable=class_ in _RETRYABLE)
