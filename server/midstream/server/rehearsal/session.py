"""A live session: a native conversation, where it works, what it may do, and its running turn."""

from pathlib import Path

from attrs import Factory, define

from midstream.server.rehearsal.conversation import Conversation
from midstream.server.rehearsal.directives import JsonObject
from midstream.server.rehearsal.mcp import McpServers
from midstream.server.rehearsal.options import Options
from midstream.server.rehearsal.permissions import MODE_NAMES, Permissions
from midstream.server.rehearsal.rpc import INVALID_REQUEST, RpcError
from midstream.server.rehearsal.turn import Turn

MODEL_OPTION = "model"


@define
class Session:
    """What of a session lives in this process; mode, model and grants start anew with every process."""

    conversation: Conversation
    cwd: Path
    mcp: McpServers
    model: str | None
    permissions: Permissions = Factory(Permissions)
    turn: Turn | None = None

    def require_idle(self) -> None:
        """Raises ``RpcError`` while a turn runs."""
        if self.turn is not None:
            raise RpcError(INVALID_REQUEST, "A prompt of this session is still running.")

    def setup(self, options: Options) -> JsonObject:
        """The modes and models part of the answer to ``session/new`` and its like."""
        setup: JsonObject = {}
        if options.can("modes"):
            available = [{"id": mode.value, "name": name} for mode, name in MODE_NAMES.items()]
            setup["modes"] = {"currentModeId": self.permissions.mode.value, "availableModes": available}
        if options.models:
            setup["configOptions"] = self.config_options(options)
        return setup

    def config_options(self, options: Options) -> list[JsonObject]:
        """The choice of model, where the agent has models."""
        models = [{"value": model, "name": model} for model in options.models]
        choice: JsonObject = {
            "type": "select",
            "id": MODEL_OPTION,
            "name": "Model",
            "category": "model",
            "currentValue": self.model,
            "options": models,
        }
        return [choice] if models else []
