"""The driver of one configured Codex."""

from pathlib import Path
from typing import Final

from midstream.protocol.base import ProviderKind, Reason
from midstream.protocol.records.config import ProviderConfig
from midstream.protocol.records.provider import Provider, ProviderModel, ProviderProblem
from midstream.protocol.records.run import Failure
from midstream.server.providers.adapter import NO_CAPABILITIES, ProviderError, ThreadOptions
from midstream.server.providers.codex.session import CodexSession
from midstream.server.providers.failures import failure
from midstream.server.providers.process import ChildProcess, child_environment
from midstream.server.providers.reading import text_of
from midstream.server.providers.requests import Patience, real_folder

COMMAND: Final = ("codex", "app-server")
INSTALL: Final = "npm install -g @openai/codex@latest"


class CodexDriver:
    """What the runtime knows of Codex: `config.command` starts its app-server, `config.env` is over our environment."""

    def __init__(self, kind: ProviderKind, config: ProviderConfig, patience: Patience | None = None) -> None:
        self._kind: Final = kind
        self._config: Final = config
        self._patience: Final = patience or Patience()

    async def probe(self) -> Provider:
        """Start Codex once and ask it for its version, its abilities, its models and its login."""
        session = None
        models: tuple[ProviderModel, ...] = ()
        try:
            session = await self.open(Path.home())
            models = await session.models()
            missing = None if await session.logged_in() else failure("authentication", "Codex is not logged in.")
            return self._provider(session, models, missing)
        except ProviderError as error:
            return self._provider(session, models, error.failure)
        finally:
            if session is not None:
                await session.aclose()

    def _provider(
        self, session: CodexSession | None, models: tuple[ProviderModel, ...], why: Failure | None
    ) -> Provider:
        return Provider(
            kind=self._kind,
            driver="codex",
            label=self._config.label or self._kind.capitalize(),
            installed=why is None or why.class_ != "validation_error",
            version=None if session is None else session.version,
            authenticated=None if session is None else why is None,
            models=models,
            capabilities=NO_CAPABILITIES if session is None else session.capabilities,
            problem=None if why is None else ProviderProblem(message=why.message, action=self._action(why)),
        )

    def _action(self, why: Failure) -> str:
        match why.class_:
            case "authentication":
                return "Run: codex login"
            case "validation_error":
                return f"Run: {INSTALL}, or set providers.{self._kind}.command to the argv of another one's app-server."
            case _:
                return f"Start the command of providers.{self._kind} in a terminal to see what is wrong."

    async def open(self, workspace: Path) -> CodexSession:
        """Start an app-server.

        Raises:
            ProviderError: it cannot be started, does not answer in time, or is too old.
        """
        folder = real_folder(workspace)
        command = self._config.command or COMMAND
        try:
            process = await ChildProcess.start(command, folder, child_environment(self._config.env or {}))
        except OSError as error:
            message = f"Codex is not installed: {command[0]} cannot be started: {error.strerror}."
            raise ProviderError(failure("validation_error", message)) from error
        return await CodexSession.start(process, self._config.model, self._patience)

    def incompatible(self, before: ThreadOptions, now: ThreadOptions) -> Reason | None:
        """Say why a conversation cannot be resumed: Codex resumes it with any model, effort and mode.

        Another folder is not what its history speaks of, and another model provider cannot read its reasoning.
        """
        if before.workspace.resolve() != now.workspace.resolve():
            return Reason(code="incompatible_settings", message="The conversation belongs to another workspace.")
        if _model_provider(before) != _model_provider(now):
            message = "The conversation's reasoning can be read by its own model provider only."
            return Reason(code="incompatible_settings", message=message)
        return None


def _model_provider(options: ThreadOptions) -> str | None:
    return text_of(options.options or {}, "modelProvider")
