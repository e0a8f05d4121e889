"""The errors of the protocol: a kind, its code, and `data` that names the offending ids and values."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, get_args

from attrs import frozen

from midstream.protocol.base import JsonObject, optional
from midstream.protocol.records.checkpoint import Conflict
from midstream.protocol.records.request import RuntimeRequest
from midstream.protocol.records.run import Failure, SwitchPlan

ErrorKind: TypeAlias = Literal[
    "threadNotFound",
    "runNotFound",
    "itemNotFound",
    "handoffNotFound",
    "checkpointNotFound",
    "requestNotFound",
    "transferNotFound",
    "providerUnknown",
    "providerUnavailable",
    "providerUnauthenticated",
    "unsupported",
    "invalidState",
    "requestNotResumable",
    "workspaceInvalid",
    "restoreConflict",
    "commandIdConflict",
    "handoffOverBudget",
    "storeLocked",
    "storeCorrupt",
    "storeNewer",
    "providerFailed",
    "handoffStale",
]

ERROR_CODES: Final[Mapping[ErrorKind, int]] = MappingProxyType(
    {
        "threadNotFound": 4001,
        "runNotFound": 4001,
        "itemNotFound": 4001,
        "handoffNotFound": 4001,
        "checkpointNotFound": 4001,
        "requestNotFound": 4001,
        "transferNotFound": 4001,
        "providerUnknown": 4002,
        "providerUnavailable": 4002,
        "providerUnauthenticated": 4002,
        "unsupported": 4003,
        "invalidState": 4004,
        "requestNotResumable": 4005,
        "workspaceInvalid": 4006,
        "restoreConflict": 4007,
        "commandIdConflict": 4008,
        "handoffOverBudget": 4009,
        "storeLocked": 4010,
        "storeCorrupt": 4010,
        "storeNewer": 4010,
        "providerFailed": 4011,
        "handoffStale": 4012,
    }
)
assert set(ERROR_CODES) == set(get_args(ErrorKind))


@frozen(kw_only=True)
class ErrorData:
    """`data` of an error of ours; ids and values that the message names stand beside these fields."""

    kind: ErrorKind
    capability: str | None = optional()
    plan: SwitchPlan | None = optional()
    status: str | None = optional()
    request: RuntimeRequest | None = optional()
    conflicts: tuple[Conflict, ...] | None = optional()
    failure: Failure | None = optional()
    missed_run_ordinals: tuple[int, ...] | None = optional()


@frozen(kw_only=True)
class InvalidParamsData:
    """`data` of -32602: `path` names the field, and is empty where the params as a whole do not fit."""

    path: str


class MidstreamError(Exception):
    """A request that cannot be done: `message` says what happened, to what, and what to do.

    `data` holds wire names and JSON values; its `kind` is added on the wire.
    """

    def __init__(self, kind: ErrorKind, message: str, **data: object) -> None:
        super().__init__(message)
        self.kind: Final = kind
        self.message: Final = message
        self.data: Final[JsonObject] = data

    @property
    def code(self) -> int:
        """The JSON-RPC error code of this kind."""
        return ERROR_CODES[self.kind]


class InvalidParams(Exception):
    """Params that do not fit: `path` names the field, as `message.text` or `items[2].uri`."""

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message)
        self.message: Final = message
        self.path: Final = path
