"""The driver of one configured Claude Code. It imports the SDK when it first needs it: that takes seconds."""

import asyncio
import shutil
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from platformdirs import user_state_path

from midstream.protocol.base import JsonObject, ProviderKind, Reason
from midstream.protocol.records.config import ProviderConfig
from midstream.protocol.records.provider import Provider, ProviderModel, ProviderProblem
from midstream.protocol.records.run import Failure
from midstream.server.providers.adapter import NO_CAPABILITIES, ProviderError, ThreadOptions
from midstream.server.providers.claude.abilities import CAPABILITIES
from midstream.server.providers.failures import failure
from midstream.server.providers.reading import member, members, text_of
from midstream.server.providers.requests import Patience, real_folder

if TYPE_CHECKING:
    from midstream.server.providers.claude.session import ClaudeSession

INSTALL: Final = "pip install 'midstream[claude]'"
NOT_LOGGED_IN: Final = "Claude Code is not logged in."


class ClaudeDriver:
    """What the runtime knows of Claude Code: `config.command` starts it, the one that the SDK brings otherwise.

    `notes` is the folder in which all daemons of the user note what they do with its conversations.
    """

    def __init__(
        self, kind: ProviderKind, config: ProviderConfig, notes: Path | None = None, patience: Patience | None = None
    ) -> None:
        self._kind: Final = kind
        self._config: Final = config
        self._notes: Final = notes or user_state_path("midstream", appauthor=False) / "claude"
        self._patience: Final = patience or Patience()

    async def probe(self) -> Provider:
        """Start Claude Code once and ask it for its account and its models."""
        try:
            session = await self.open(Path.home())
            told = await session.describe()
        except ProviderError as error:
            return self._provider({}, error.failure)
        return self._provider(told, None if _account(told) else failure("authentication", NOT_LOGGED_IN))

    def _provider(self, told: JsonObject, why: Failure | None) -> Provider:
        return Provider(
            kind=self._kind,
            driver="claude",
            label=self._config.label or self._kind.capitalize(),
            installed=why is None or why.class_ != "validation_error",
            version=text_of(told, "claude_code_version"),
            authenticated=None if not told else why is None,
            models=tuple(_models(told)),
            capabilities=CAPABILITIES if told else NO_CAPABILITIES,
            problem=None if why is None else ProviderProblem(message=why.message, action=self._action(why)),
        )

    def _action(self, why: Failure) -> str:
        match why.class_:
            case "authentication":
                return f"Run: claude, and then /login; or set ANTHROPIC_API_KEY under providers.{self._kind}.env."
            case "validation_error":
                return f"Run: {INSTALL}, or set providers.{self._kind}.command to the argv of another Claude Code."
            case _:
                return f"Start the command of providers.{self._kind} in a terminal to see what is wrong."

    async def open(self, workspace: Path) -> "ClaudeSession":
        """Make ready what conversations need; the first process starts with the first conversation.

        Raises:
            ProviderError: the SDK or Claude Code is not installed.
        """
        folder = real_folder(workspace)
        try:
            await asyncio.to_thread(import_module, "claude_agent_sdk")
        except ImportError as error:
            raise ProviderError(failure("validation_error", "The Claude Agent SDK is not installed.")) from error
        from midstream.server.providers.claude.session import ClaudeSession

        return ClaudeSession(self._config.command or _command(), self._config, folder, self._notes, self._patience)

    def incompatible(self, before: ThreadOptions, now: ThreadOptions) -> Reason | None:
        """Say why a conversation cannot be resumed: Claude Code finds it in its own folder only."""
        if before.workspace.resolve() != now.workspace.resolve():
            return Reason(code="incompatible_settings", message="The conversation belongs to another workspace.")
        return None


def _command() -> tuple[str]:
    """Return the Claude Code that the SDK brings, or the one on the path where its wheel has none."""
    import claude_agent_sdk

    bundled = Path(claude_agent_sdk.__file__).with_name("_bundled") / "claude"
    return (str(bundled) if bundled.is_file() else shutil.which("claude") or "claude",)


def _account(told: JsonObject) -> bool:
    """Return whether Claude Code has what it needs to reach its model; of another cloud's login it says nothing."""
    account = member(told, "account")
    return text_of(account, "apiProvider") not in (None, "firstParty") or any(
        text_of(account, name) not in (None, "", "none") for name in ("tokenSource", "apiKeySource", "email")
    )


def _models(told: JsonObject) -> list[ProviderModel]:
    return [
        ProviderModel(id=model_id, label=text_of(one, "displayName") or model_id, efforts=_efforts(one))
        for one in members(told, "models")
        if (model_id := text_of(one, "value")) is not None
    ]


def _efforts(model: JsonObject) -> tuple[str, ...] | None:
    efforts = model.get("supportedEffortLevels")
    return tuple(one for one in efforts if isinstance(one, str)) if isinstance(efforts, list) else None
