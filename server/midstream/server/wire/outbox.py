"""What waits to be written to one client: merged, bounded, in order, and never in anybody's way."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Hashable
from itertools import count
from typing import Final, cast

from attrs import define

from midstream.protocol.notifications import RunOutput, ThreadReset
from midstream.server.wire.messages import notification_frame, output_frame
from midstream.server.wire.subscriptions import Stream, Subscriptions

log = logging.getLogger(__name__)

BYTE_CAP: Final = 8 * 1024 * 1024
CUT_OFF: Final = 8 * BYTE_CAP
MERGE_SECONDS: Final = 0.008
PIPE_BYTES: Final = 256 * 1024
BATCH_BYTES: Final = 64 * 1024
OUTPUT_OVERHEAD: Final = 256


@define(eq=False)
class _Frame:
    frame: bytes
    size: int
    stream: Stream | None = None
    sequence: int | None = None


@define(eq=False)
class _Output:
    first: RunOutput
    size: int
    end: int
    stream: Stream
    parts: list[str]
    sequence: None = None

    def append(self, text: str) -> None:
        self.parts.append(text)
        self.end += len(text)
        self.size += len(text)

    @property
    def frame(self) -> bytes:
        first = self.first
        return output_frame(
            {
                "threadId": first.thread_id,
                "runId": first.run_id,
                "itemId": first.item_id,
                "field": first.field,
                "offset": first.offset,
                "text": "".join(self.parts),
            }
        )


class Outbox(asyncio.BaseProtocol):
    """The writing side of a connection; the protocol of its asyncio transport.

    Frames are handed to the transport only while its buffer is small; the rest waits here. Output of one field
    joins what waits of the same field as long as no other frame came between, so that merging never changes the
    order. A client that lets more than `cap` bytes pile up loses its subscriptions, and is told from where to
    subscribe anew; answers and requests wait, until so many of them pile up that the client is cut off.
    """

    def __init__(self, subscriptions: Subscriptions, cap: int = BYTE_CAP) -> None:
        self._subscriptions = subscriptions
        self._cap = cap
        self._loop = asyncio.get_running_loop()
        self._queue: OrderedDict[Hashable, _Frame | _Output] = OrderedDict()
        self._bytes = 0
        self._numbers = count()
        self._epoch = 0
        self._transport: asyncio.WriteTransport | None = None
        self._paused = True
        self._soon: asyncio.Handle | None = None
        self._window: asyncio.TimerHandle | None = None
        self._progress = asyncio.Event()
        self.lost: Final = asyncio.Event()
        """Set once nothing can be written any more."""

    def send(self, frame: bytes) -> None:
        """Write a frame that must arrive."""
        self._put(next(self._numbers), _Frame(frame, len(frame)))

    def send_lossy(self, frame: bytes) -> None:
        """Write a frame that a client far behind can do without."""
        if self._bytes + len(frame) <= self._cap:
            self.send(frame)

    def send_latest(self, key: Hashable, frame: bytes) -> None:
        """Write a frame that makes one of the same key that still waits pointless."""
        stale = self._queue.pop(key, None)
        if stale is not None:
            self._bytes -= stale.size
        self._put(key, _Frame(frame, len(frame)))

    def send_streamed(self, stream: Stream, frame: bytes, sequence: int | None = None) -> None:
        """Write a frame of a subscription: an event with its sequence, or what accompanies them."""
        if self._has_room(len(frame)):
            stream.queued = stream.queued if sequence is None else sequence
            self._put(next(self._numbers), _Frame(frame, len(frame), stream, sequence))

    def send_output(self, stream: Stream, output: RunOutput) -> None:
        """Write text, joined to what waits of the same field."""
        length = len(output.text)
        waiting = self._queue.get((self._epoch, output.item_id, output.field))
        if isinstance(waiting, _Output) and waiting.stream is stream and waiting.end == output.offset:
            if not self._has_room(length):
                return
            waiting.append(output.text)
            self._bytes += length
        else:
            size = length + OUTPUT_OVERHEAD
            if not self._has_room(size):
                return
            if waiting is not None:
                self._epoch += 1
            entry = _Output(output, size, output.offset + length, stream, [output.text])
            self._queue[self._epoch, output.item_id, output.field] = entry
            self._bytes += size
        if self._window is None:  # the first text goes out at once, what follows it within the window together
            self._window = self._loop.call_later(MERGE_SECONDS, self._end_window)
            self._flush_soon()

    def flush(self) -> None:
        """Write what can be written now; without this it is written in the loop's next step."""
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None
        while self._queue and not self._paused and self._transport is not None:
            self._transport.write(self._take_batch())
        self._progress.set()

    async def emptied(self) -> None:
        """Wait until all is handed to the transport, or nothing can be written any more."""
        await self._until_below(0)

    async def accepting(self) -> None:
        """Wait while answers alone pile up beyond the cap: a client that reads none gets no more made."""
        await self._until_below(self._cap)

    async def finish(self, seconds: float) -> None:
        """Write what waits, for as long as `seconds`, and close."""
        try:
            async with asyncio.timeout(seconds):
                await self._until_below(0)
                if self._transport is not None:
                    self._transport.close()
                    await self.lost.wait()
        except TimeoutError:
            log.warning("A client did not read its last %d bytes.", self._bytes)
            if self._transport is not None:
                self._transport.abort()
        finally:
            self._stop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to write: asyncio's callback."""
        self._transport = cast(asyncio.WriteTransport, transport)
        self._transport.set_write_buffer_limits(high=PIPE_BYTES)
        self._paused = False
        self._flush_soon()

    def pause_writing(self) -> None:
        """Hold what follows: asyncio's callback."""
        self._paused = True

    def resume_writing(self) -> None:
        """Go on writing: asyncio's callback."""
        self._paused = False
        self.flush()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget what waits: asyncio's callback."""
        self._stop()
        self.lost.set()
        self._progress.set()

    def _put(self, key: Hashable, entry: _Frame) -> None:
        if self.lost.is_set():
            return
        self._epoch += 1
        self._queue[key] = entry
        self._bytes += entry.size
        self._flush_soon()
        if self._bytes > CUT_OFF and len(self._queue) > 1 and self._transport is not None:
            log.warning("A client let %d bytes pile up; it is cut off.", self._bytes)
            self._transport.abort()

    def _has_room(self, size: int) -> bool:
        if self._bytes + size <= self._cap or not self._bytes:  # one that is larger than all room may go alone
            return not self.lost.is_set()
        self._fall_behind()
        return False

    def _fall_behind(self) -> None:
        for key in [key for key, entry in self._queue.items() if entry.stream is not None]:
            self._bytes -= self._queue.pop(key).size
        streams = self._subscriptions.end_all()
        for stream in streams:
            self.send(notification_frame(ThreadReset(thread_id=stream.thread_id, after_sequence=stream.sent)))
        log.warning("A client reads too slowly: it has to subscribe anew to %d threads.", len(streams))
        self._progress.set()

    def _flush_soon(self) -> None:
        if self._soon is None and not self._paused:
            self._soon = self._loop.call_soon(self.flush)

    def _end_window(self) -> None:
        self._window = None
        if self._queue and not self._paused:
            self._window = self._loop.call_later(MERGE_SECONDS, self._end_window)
            self.flush()

    def _take_batch(self) -> bytes:
        frames: list[bytes] = []
        size = 0
        while self._queue and size < BATCH_BYTES:
            _, entry = self._queue.popitem(last=False)
            self._bytes -= entry.size
            if entry.stream is not None:
                if not entry.stream.live:
                    continue
                if entry.sequence is not None:
                    entry.stream.sent = entry.sequence
            frames.append(entry.frame)
            size += entry.size
        return b"".join(frames)

    async def _until_below(self, limit: int) -> None:
        while self._bytes > limit and not self.lost.is_set():
            self._progress.clear()
            await self._progress.wait()

    def _stop(self) -> None:
        self._queue.clear()
        self._bytes = 0
        for handle in (self._soon, self._window):
            if handle is not None:
                handle.cancel()
        self._soon = self._window = None
