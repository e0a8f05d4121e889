"""How far the making of a handoff is, as its thread's subscribers and the client who asked are told."""

from collections.abc import Callable

from midstream.protocol.base import HandoffId, RunId, ThreadId
from midstream.protocol.notifications import HandoffPhase, HandoffProgress
from midstream.server.runtime.audience import Audience


class HandoffReport:
    """Tells the phases of one run's handoffs, or of one command's; `also` hears the words and the percentage."""

    def __init__(
        self,
        audience: Audience,
        thread_id: ThreadId,
        *,
        run_id: RunId | None = None,
        command_id: str | None = None,
        also: Callable[[str, int | None], None] | None = None,
    ) -> None:
        self._audience = audience
        self._thread_id = thread_id
        self._run_id = run_id
        self._command_id = command_id
        self._also = also
        self._over = False

    def say(
        self, phase: HandoffPhase, message: str, percentage: int | None = None, handoff_id: HandoffId | None = None
    ) -> None:
        """Tell a phase; nothing follows one that ends the handoff's way."""
        if self._over:
            return
        self._over = phase in ("delivered", "failed", "cancelled")
        self._audience.to_subscribers(
            self._thread_id,
            HandoffProgress(
                thread_id=self._thread_id,
                run_id=self._run_id,
                handoff_id=handoff_id,
                command_id=self._command_id,
                phase=phase,
                message=message,
                percentage=percentage,
            ),
        )
        if self._also is not None:
            self._also(message, percentage)
