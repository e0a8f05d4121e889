"""Which threads a client follows, and how far the events of each have gone out to it."""

from attrs import define

from midstream.protocol.base import ThreadId


@define(eq=False)
class Stream:
    """One subscription: the last event queued for the client, the last handed to its pipe, whether it stands.

    While it is `replaying`, text being written is held back: it would run ahead of the records that it belongs to.
    """

    thread_id: ThreadId
    queued: int
    sent: int
    live: bool = True
    replaying: bool = False


class Subscriptions:
    """The threads that one client follows."""

    def __init__(self) -> None:
        self._streams: dict[ThreadId, Stream] = {}

    def __contains__(self, thread_id: ThreadId) -> bool:
        return thread_id in self._streams

    def begin(self, thread_id: ThreadId, sequence: int, *, replaying: bool = False) -> None:
        """Follow a thread from `sequence` + 1 on; an earlier subscription to it ends, with what it had queued."""
        self.end(thread_id)
        self._streams[thread_id] = Stream(thread_id, queued=sequence, sent=sequence, replaying=replaying)

    def caught_up(self, thread_id: ThreadId) -> None:
        """Let text being written pass: the replay is over."""
        self._streams[thread_id].replaying = False

    def end(self, thread_id: ThreadId) -> None:
        """Follow a thread no longer."""
        stream = self._streams.pop(thread_id, None)
        if stream is not None:
            stream.live = False

    def sequence(self, thread_id: ThreadId) -> int | None:
        """Return the last event queued for the client, from which a replay goes on; None: it does not follow."""
        stream = self._streams.get(thread_id)
        return None if stream is None else stream.queued

    def stream(self, thread_id: ThreadId) -> Stream | None:
        """Return the subscription to a thread."""
        return self._streams.get(thread_id)

    def end_all(self) -> tuple[Stream, ...]:
        """End every subscription and return what they were."""
        streams = tuple(self._streams.values())
        for stream in streams:
            self.end(stream.thread_id)
        return streams
