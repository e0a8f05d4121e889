"""Requests to an agent whose failures are told as the contract has them, and the folder that they speak of."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from attrs import frozen

from midstream.protocol.base import JsonObject
from midstream.protocol.records.run import Failure
from midstream.server.providers.adapter import ProviderError
from midstream.server.providers.connection import AnswerError, Connection, ConnectionGoneError
from midstream.server.providers.failures import failure

Explain: TypeAlias = Callable[[JsonObject], Failure]


@frozen(kw_only=True)
class Patience:
    """Seconds to wait for an agent's answers, for the end of a turn that was cancelled, and for late updates."""

    answer: float = 60.0
    cancel: float = 10.0
    grace: float = 0.2


@frozen
class Requests:
    """Asks an agent, with patience; `explain` reads the errors that it answers with."""

    connection: Connection
    patience: Patience
    explain: Explain

    async def call(self, method: str, params: JsonObject) -> JsonObject:
        """Return the agent's result. Raises ProviderError."""
        try:
            return await self.attempt(method, params)
        except AnswerError as error:
            raise ProviderError(self.explain(error.error)) from error

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
