"""Who is told what happens: the connections, as the runtime sees them."""

from typing import Protocol

from midstream.protocol.base import ThreadId
from midstream.protocol.notifications import Notification


class Audience(Protocol):
    """All connected clients."""

    def to_all(self, notification: Notification) -> None:
        """Tell every client."""

    def to_subscribers(self, thread_id: ThreadId, notification: Notification) -> None:
        """Tell those who follow a thread."""
