"""The driver of one configured ACP agent."""

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from midstream.protocol.base import ProviderKind, Reason
from midstream.protocol.records.config import ProviderConfig
from midstream.protocol.records.provider import Provider, ProviderProblem
from midstream.protocol.records.run import Failure
from midstream.server.providers.acp.session import AcpSession
from midstream.server.providers.adapter import NO_CAPABILITIES, ProviderError, ThreadOptions
from midstream.server.providers.failures import failure
from midstream.server.providers.process import ChildProcess, child_environment
from midstream.server.providers.requests import Patience, real_folder


class AcpDriver:
    """What the runtime knows of an agent: `config.command` starts it, `config.env` is put over our environment."""

    def __init__(self, kind: ProviderKind, config: ProviderConfig, patience: Patience | None = None) -> None:
        self._kind: Final = kind
        self._config: Final = config
        self._patience: Final = patience or Patience()

    async def probe(self) -> Provider:
        """Start the agent once, and a conversation in an empty folder: only that tells a missing login."""
        session = None
        with tempfile.TemporaryDirectory(prefix="midstream-probe-") as folder:
            try:
                session = await self.open(Path(folder))
                thread = await session.start_thread(
                    ThreadOptions(workspace=Path(folder), model=None, options=None, runtime_mode="approvalRequired")
                )
                with suppress(ProviderError):  # a conversation that stays behind is no reason not to use the agent
                    await session.delete_thread(thread.ref)
                return self._provider(session, None)
            except ProviderError as error:
                return self._provider(session, error.failure)
            finally:
                if session is not None:
                    await session.aclose()

    def _provider(self, session: AcpSession | None, why: Failure | None) -> Provider:
        return Provider(
            kind=self._kind,
            driver="acp",
            label=self._config.label or self._kind,
            installed=why is None or why.class_ != "validation_error",
            version=None if session is None else session.agent.version,
            authenticated=_authenticated(why),
            models=() if session is None else session.models,
            capabilities=NO_CAPABILITIES if session is None else session.capabilities,
            problem=None if why is None else ProviderProblem(message=why.message, action=self._action(why)),
        )

    def _action(self, why: Failure) -> str:
        match why.class_:
            case "authentication":
                return f"Log in with the agent's own command line ({self._command[0]})."
            case "validation_error":
                return f"Install it, or set providers.{self._kind}.command."
            case _:
                return f"Start the command of providers.{self._kind} in a terminal to see what is wrong."

    async def open(self, workspace: Path) -> AcpSession:
        """Start an agent process.

        Raises:
            ProviderError: it cannot be started, or does not answer in time.
        """
        folder = real_folder(workspace)
        if not self._command:
            raise ProviderError(failure("validation_error", f"providers.{self._kind}.command is not set."))
        try:
            process = await ChildProcess.start(self._command, folder, child_environment(self._config.env or {}))
        except OSError as error:
            raise ProviderError(
                failure("validation_error", f"{self._command[0]} cannot be started: {error.strerror}.")
            ) from error
        return await AcpSession.start(process, self._config.model, self._patience)

    @property
    def _command(self) -> tuple[str, ...]:
        return self._config.command or ()

    def incompatible(self, before: ThreadOptions, now: ThreadOptions) -> Reason | None:
        """Say why a conversation cannot be resumed: an agent finds it only in the workspace that it began in."""
        if before.workspace.resolve() == now.workspace.resolve():
            return None
        return Reason(code="incompatible_settings", message="The conversation belongs to another workspace.")


def _authenticated(why: Failure | None) -> bool | None:
    if why is None:
        return True
    return False if why.class_ == "authentication" else None
