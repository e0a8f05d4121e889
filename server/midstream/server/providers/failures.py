"""Failures of an agent that every driver tells alike; pure."""

from typing import Final

from midstream.protocol.records.run import Failure, FailureClass

RETRYABLE: Final[frozenset[FailureClass]] = frozenset({"provider_error", "transport_error", "usage_limit"})


def gone(returncode: int | None, last_words: str) -> Failure:
    """Return the failure of an agent whose process is gone."""
    status = "" if returncode is None else f" with exit status {returncode}"
    said = f": {last_words}" if last_words else "."
    return Failure(class_="transport_error", message=f"The agent's process ended{status}{said}", retryable=True)


def failure(class_: FailureClass, message: str) -> Failure:
    """Return a failure that we found ourselves."""
    return Failure(class_=class_, message=message, retryable=class_ in RETRYABLE)
