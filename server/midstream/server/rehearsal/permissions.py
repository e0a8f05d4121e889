"""Session modes: what the agent may do unasked, what it asks for, what it refuses."""

from enum import StrEnum
from typing import Literal, TypeAlias

from attrs import Factory, define

from midstream.server.rehearsal import messages
from midstream.server.rehearsal.directives import JsonObject
from midstream.server.rehearsal.updates import ToolCall, ToolFailedError

Action: TypeAlias = Literal["edit", "execute"]
Verdict: TypeAlias = Literal["allow", "ask", "refuse"]


class Mode(StrEnum):
    APPROVAL_REQUIRED = "approvalRequired"
    AUTO_ACCEPT_EDITS = "autoAcceptEdits"
    FULL_ACCESS = "fullAccess"
    READ_ONLY = "readOnly"


MODE_NAMES = {
    Mode.APPROVAL_REQUIRED: "Ask before edits and commands",
    Mode.AUTO_ACCEPT_EDITS: "Ask before commands",
    Mode.FULL_ACCESS: "Never ask",
    Mode.READ_ONLY: "Change nothing",
}

_CHOICES = (
    ("yes-this-once", "Allow", "allow_once"),
    ("yes-from-now-on", "Always allow", "allow_always"),
    ("no-thanks", "Reject", "reject_once"),
)


@define
class Permissions:
    """A live session's mode, and the actions that the user always allows in it."""

    mode: Mode = Mode.APPROVAL_REQUIRED
    always_allowed: set[Action] = Factory(set)

    def verdict(self, action: Action) -> Verdict:
        match self.mode, action:
            case Mode.READ_ONLY, _:
                return "refuse"
            case (Mode.FULL_ACCESS, _) | (Mode.AUTO_ACCEPT_EDITS, "edit"):
                return "allow"
            case _:
                return "allow" if action in self.always_allowed else "ask"

    async def require(self, action: Action, call: ToolCall) -> None:
        """Return once the action is allowed; raises ``ToolFailedError`` or ``TurnCancelledError``."""
        match self.verdict(action):
            case "allow":
                return
            case "refuse":
                raise ToolFailedError("Refused: the session is read-only.")
            case "ask":
                await self._ask(action, call)

    async def _ask(self, action: Action, call: ToolCall) -> None:
        tool_call: JsonObject = {
            "toolCallId": call.id,
            "title": call.title,
            "kind": call.kind,
            "status": "pending",
        }
        option_id, _ = await call.updates.request_permission(tool_call, messages.options(*_CHOICES))
        match option_id:
            case "yes-this-once":
                return
            case "yes-from-now-on":
                self.always_allowed.add(action)
            case _:
                raise ToolFailedError("Rejected by the user.")
