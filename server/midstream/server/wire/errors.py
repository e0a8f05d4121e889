"""The one place where what went wrong becomes an error answer."""

import asyncio
import logging
from typing import Final

from midstream.protocol.base import JsonObject
from midstream.protocol.errors import InvalidParams, MidstreamError
from midstream.server.store import StoreFailed

log = logging.getLogger(__name__)

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
NOT_INITIALIZED: Final = -32002
REQUEST_CANCELLED: Final = -32800


class RpcError(Exception):
    """An error answer: a code, what happened and what to do, and `data` for programs."""

    def __init__(self, code: int, message: str, data: JsonObject | None = None) -> None:
        super().__init__(message)
        self.code: Final = code
        self.message: Final = message
        self.data: Final = data

    def as_json(self) -> JsonObject:
        """Return the answer's `error`."""
        error: JsonObject = {"code": self.code, "message": self.message}
        return error if self.data is None else {**error, "data": self.data}


def error_of(problem: BaseException, method: str) -> RpcError:
    """Return what a client is told of a problem, and log one that nobody foresaw."""
    match problem:
        case RpcError():
            return problem
        case MidstreamError():
            return RpcError(problem.code, problem.message, {"kind": problem.kind, **problem.data})
        case InvalidParams():
            at = f"{problem.path}: " if problem.path else ""
            return RpcError(INVALID_PARAMS, f"{at}{problem.message}", {"path": problem.path})
        case StoreFailed():
            cure = "Make room on the disk, or make the folder writable, and try again."
            return RpcError(INTERNAL_ERROR, f"{method} could not be stored, and nothing changed: {problem}. {cure}")
        case asyncio.CancelledError():
            return RpcError(REQUEST_CANCELLED, "The request was cancelled; nothing changed.")
        case _:
            log_unforeseen(problem, method)
            return RpcError(INTERNAL_ERROR, f"{method} failed inside the daemon; its log says where.")


def log_unforeseen(problem: BaseException, method: str) -> None:
    """Log where a problem arose."""
    log.error("%s failed with %s", method, type(problem).__name__, exc_info=problem)
