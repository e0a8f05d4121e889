"""All connections of this process."""

from collections.abc import Iterator

from midstream.protocol.base import ThreadId
from midstream.protocol.notifications import Notification
from midstream.server.wire.client import Client
from midstream.server.wire.messages import Told


class Hub:
    """The initialized clients; tells them what happens."""

    def __init__(self) -> None:
        self._clients: set[Client] = set()

    def __iter__(self) -> Iterator[Client]:
        return iter(tuple(self._clients))

    def __len__(self) -> int:
        return len(self._clients)

    def add(self, client: Client) -> None:
        """Begin to tell a client."""
        self._clients.add(client)

    def remove(self, client: Client) -> None:
        """Tell a client nothing more."""
        self._clients.discard(client)

    def to_all(self, notification: Notification) -> None:
        """Tell every client."""
        told = Told(notification)
        for client in self:
            client.take(told)

    def to_subscribers(self, thread_id: ThreadId, notification: Notification) -> None:
        """Tell those who follow a thread."""
        told = Told(notification)
        for client in self:
            if thread_id in client.subscriptions:
                client.take(told)
