"""The todo list of a conversation, put together from the calls that change one entry at a time; pure."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from attrs import define, field

from midstream.protocol.records.item import TodoStep
from midstream.server.providers.claude.tools import Call, Outcome
from midstream.server.providers.drafts import TodoDraft
from midstream.server.providers.reading import member, text_of

Status: TypeAlias = Literal["pending", "running", "completed"]
_STATUSES: Final[Mapping[str, Status]] = {"in_progress": "running", "running": "running", "completed": "completed"}


@define
class Todos:
    """The entries by Claude Code's ids, in the order in which they were made; it outlives the turns."""

    _steps: dict[str, TodoStep] = field(factory=dict)
    _turn_ref: str | None = None

    def changed(self, call: Call, done: Outcome, turn_ref: str) -> TodoDraft | None:
        """Return the list after a call that changed it, None where the call speaks of an entry that we do not know."""
        match call.name:
            case "TaskCreate":
                task = member(done.detail, "task")
                task_id, subject = text_of(task, "id"), text_of(task, "subject")
                status = "pending"
            case _:
                task_id = text_of(call.input, "taskId")
                known = self._steps.get(task_id or "")
                subject = text_of(call.input, "subject") or (known.text if known is not None else None)
                status = text_of(call.input, "status") or (known.status if known is not None else "pending")
        if task_id is None or subject is None:
            return None
        if status == "deleted":
            self._steps.pop(task_id, None)
        else:
            self._steps[task_id] = TodoStep(text=subject, status=_STATUSES.get(status, "pending"))
        self._turn_ref = turn_ref
        return self.shown(turn_ref)

    def shown(self, turn_ref: str) -> TodoDraft | None:
        """Return the list as it stands, None where that turn did not change it."""
        return TodoDraft(steps=tuple(self._steps.values())) if self._turn_ref == turn_ref else None
