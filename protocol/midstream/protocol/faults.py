"""Where a JSON value does not fit its class: from cattrs' nested errors to one path and one sentence."""

from typing import Final

from cattrs.errors import ClassValidationError, ForbiddenExtraKeysError

from midstream.protocol.errors import InvalidParams
from midstream.protocol.names import camel

NAMED: Final = 5
"""How many of the unknown keys are named."""


class FaultInside(ValueError):
    """A fault in one field, or at one place, of the value that a hook was given."""

    def __init__(self, field: str | int, cause: Exception) -> None:
        super().__init__(field)
        self.field: Final = field
        self.cause: Final = cause


def invalid_params(error: Exception) -> InvalidParams:
    """Return the first fault in wire words."""
    path, cause = _first_fault(error, "")
    return InvalidParams(_describe(cause), path)


def _first_fault(error: Exception, path: str) -> tuple[str, Exception]:
    match error:
        case ClassValidationError():
            noted, plain = error.group_exceptions()
            if noted:
                cause, note = noted[0]
                return _first_fault(cause, _join(path, camel(note.name)))
            return _first_fault(plain[0], path)
        case FaultInside():
            return _first_fault(error.cause, _join(path, error.field))
        case _:
            return path, error


def _join(path: str, field: str | int) -> str:
    if isinstance(field, int):
        return f"{path}[{field}]"
    return f"{path}.{field}" if path else field


def _describe(error: Exception) -> str:
    match error:
        case KeyError():
            return "required, but missing"
        case ForbiddenExtraKeysError():
            return f"unknown: {', '.join(sorted(error.extra_fields)[:NAMED])}"
        case _:
            return str(error)
