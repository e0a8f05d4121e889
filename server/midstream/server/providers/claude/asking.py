"""What Claude Code asks in one turn: answered by the turn's mode, or by the user while Claude Code waits."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Final, TypeAlias

from attrs import frozen
from claude_agent_sdk import PermissionResult, PermissionResultAllow

from midstream.protocol.records.thread import RuntimeMode
from midstream.server.providers.adapter import Reply
from midstream.server.providers.claude.approvals import (
    NOBODY,
    PLAN,
    PLANNING_BEGINS,
    Ask,
    answer,
    deny,
    refusal,
    verdict,
)
from midstream.server.providers.events import RequestWithdrawn


@frozen(eq=False)
class Pending:
    """A question that waits for the user's answer."""

    ref: str
    ask: Ask
    answered: asyncio.Future[PermissionResult]

    def refuse(self) -> None:
        """Answer it where nobody can be asked."""
        if not self.answered.done():
            self.answered.set_result(deny(NOBODY))


@frozen
class Withdrawn:
    """A question that Claude Code no longer asks."""

    ref: str


Put: TypeAlias = Callable[[Pending], Awaitable[None]]


class Questions:
    """The questions of a turn; `planning` while a plan is to be made, `declined` are calls that were refused."""

    def __init__(self, turn_ref: str, mode: RuntimeMode, declined: set[str], *, planning: bool) -> None:
        self.planning = planning
        self._turn_ref = turn_ref
        self._mode: Final[RuntimeMode] = mode
        self._declined = declined
        self._numbers = count(1)
        self._open: dict[str, Pending] = {}

    async def permit(self, ask: Ask, put: Put, withdraw: Callable[[Withdrawn], None]) -> PermissionResult:
        """Return what may be done: what the mode says of it, or the user, whose turn it is once it was `put`."""
        match verdict(ask, self._mode, planning=self.planning):
            case "deny":
                self._declined.add(ask.call.id)
                return refusal(planning=self.planning)
            case "allow":
                return self._granted(ask, PermissionResultAllow())
            case "ask":
                answered: asyncio.Future[PermissionResult] = asyncio.get_running_loop().create_future()
                pending = Pending(f"{self._turn_ref}/request-{next(self._numbers)}", ask, answered)
                await put(pending)
                try:
                    return self._granted(ask, await answered)
                except asyncio.CancelledError:
                    withdraw(Withdrawn(pending.ref))
                    raise

    def _granted(self, ask: Ask, result: PermissionResult) -> PermissionResult:
        if isinstance(result, PermissionResultAllow) and ask.call.name in (PLAN, PLANNING_BEGINS):
            self.planning = ask.call.name == PLANNING_BEGINS
        return result

    def show(self, pending: Pending) -> bool:
        """Have a question wait for `respond`; False where it was answered already."""
        if pending.answered.done():
            return False
        self._open[pending.ref] = pending
        return True

    def respond(self, request_ref: str, reply: Reply) -> bool:
        """Answer a question; False where Claude Code does not wait for it."""
        pending = self._open.pop(request_ref, None)
        if pending is None or pending.answered.done():
            return False
        if reply.decision in ("decline", "cancel"):
            self._declined.add(pending.ask.call.id)
        pending.answered.set_result(answer(pending.ask, reply))
        return True

    def withdraw(self, request_ref: str) -> tuple[RequestWithdrawn, ...]:
        """Return the event of a question that is asked no longer, none where it does not wait."""
        return () if self._open.pop(request_ref, None) is None else (RequestWithdrawn(ref=request_ref),)

    def withdraw_all(self) -> tuple[RequestWithdrawn, ...]:
        """Return the events of all that still wait; nobody will answer them."""
        waiting = tuple(self._open.values())
        self._open.clear()
        for pending in waiting:
            pending.refuse()
        return tuple(RequestWithdrawn(ref=pending.ref) for pending in waiting)
