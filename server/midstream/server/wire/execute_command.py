"""`workspace/executeCommand`: every request of the protocol, for clients that only speak LSP."""

from typing import Final

from attrs import frozen

from midstream.protocol.base import optional
from midstream.protocol.errors import InvalidParams
from midstream.protocol.methods.table import METHODS

PREFIX: Final = "midstream.rpc."


@frozen(kw_only=True)
class ExecuteCommandParams:
    """A command and its arguments: none, or the params of the request."""

    command: str
    arguments: tuple[object, ...] | None = optional()


def command_of(method: str) -> str:
    """Return the command of a method: that of `run/start` is `midstream.rpc.run.start`."""
    return PREFIX + method.replace("/", ".")


COMMANDS: Final = {command_of(method): method for method in METHODS}


def request_of(params: ExecuteCommandParams) -> tuple[str, object]:
    """Return the method and params that a command stands for."""
    method = COMMANDS.get(params.command)
    if method is None:
        raise InvalidParams(f"no command of this daemon: {params.command}", "command")
    match params.arguments:
        case None | ():
            return method, None
        case (only,):
            return method, only
        case _:
            raise InvalidParams("expected one argument, the params of the request", "arguments")
