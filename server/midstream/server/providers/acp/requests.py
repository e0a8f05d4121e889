"""Requests to an agent whose failures are told as the contract has them, and the place that they speak of."""

from pathlib import Path

from attrs import frozen

from midstream.protocol.base import JsonObject
from midstream.server.providers.acp.connection import AnswerError, Connection, ConnectionGoneError
from midstream.server.providers.acp.failures import failure, rpc_failure
from midstream.server.providers.adapter import ProviderError, ThreadOptions


@frozen(kw_only=True)
class Patience:
    """Seconds to wait for an agent's answers, for the end of a turn that was cancelled, and for late updates."""

    answer: float = 60.0
    cancel: float = 10.0
    grace: float = 0.2


@frozen
class Requests:
    """Asks an agent, with patience."""

    connection: Connection
    patience: Patience

    async def call(self, method: str, params: JsonObject) -> JsonObject:
        """Return the agent's result. Raises ProviderError."""
        try:
            return await self.attempt(method, params)
        except AnswerError as error:
            raise ProviderError(rpc_failure(error.error)) from error

    async def attempt(self, method: str, params: JsonObject) -> JsonObject:
        """Return the agent's result, as `call`, but raise AnswerError where it answers with an error."""
        try:
            return await self.connection.request(method, params, self.patience.answer)
        except ConnectionGoneError as error:
            raise ProviderError(self.connection.failure) from error
        except TimeoutError as error:
            late = f"The agent did not answer {method} within {self.patience.answer:g} s."
            raise ProviderError(failure("transport_error", late)) from error


def real_folder(workspace: Path) -> Path:
    """Return the workspace as agents must be given it: some lose a session behind a symlink or a relative path.

    Raises:
        ProviderError: it is relative, or no folder.
    """
    if not workspace.is_absolute() or not workspace.is_dir():
        raise ProviderError(failure("validation_error", f"The workspace {workspace} is not there."))
    return workspace.resolve()


def place(options: ThreadOptions) -> JsonObject:
    """Return where a conversation works, and with which MCP servers: never left out, some agents insist."""
    servers: list[JsonObject] = [
        {
            "name": server.name,
            "command": server.command,
            "args": list(server.args),
            "env": [{"name": name, "value": value} for name, value in server.env.items()],
        }
        for server in options.mcp_servers
    ]
    where: JsonObject = {"cwd": str(real_folder(options.workspace)), "mcpServers": servers}
    return {**where, "_meta": {"midstream/throwAway": True}} if options.throw_away else where
