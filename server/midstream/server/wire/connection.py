"""One connection from its first byte to its last."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final

from midstream.server.wire.conversation import Conversation, converse
from midstream.server.wire.errors import log_unforeseen
from midstream.server.wire.framing import BadFrame, Decoder
from midstream.server.wire.outbox import Outbox
from midstream.server.wire.service import Service
from midstream.server.wire.subscriptions import Subscriptions

log = logging.getLogger(__name__)

GRACE_SECONDS: Final = 1.0
FINISH_SECONDS: Final = 2.0


class Connection:
    """A client's bytes on one side, a Service on the other. `outbox` is the protocol of its writing transport."""

    def __init__(self, service: Service) -> None:
        subscriptions = Subscriptions()
        self.outbox = Outbox(subscriptions)
        self._conversation = converse(service, self.outbox, subscriptions)

    def end(self, status: int) -> None:
        """End the conversation, as the client's `exit` would."""
        self._conversation.end(status)

    async def serve(self, chunks: AsyncGenerator[bytes, None]) -> int:
        """Speak with the client until it exits or is gone; return the exit status that follows from that."""
        ended = self._conversation.ended
        reading = asyncio.create_task(_read(chunks, self._conversation, self.outbox))
        unwritable = asyncio.create_task(self.outbox.lost.wait())
        waits: set[asyncio.Future[Any]] = {ended, reading, unwritable}
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            # A client that only closed its input may still read what it asked for.
            await self._conversation.close(GRACE_SECONDS if done == {reading} else 0)
            await self.outbox.finish(FINISH_SECONDS)
        finally:
            reading.cancel()
            unwritable.cancel()
            await asyncio.wait({reading, unwritable})
        if not reading.cancelled() and (problem := reading.exception()):
            log_unforeseen(problem, "The reading of a client")
        return ended.result() if ended.done() else 0


async def _read(chunks: AsyncGenerator[bytes, None], conversation: Conversation, outbox: Outbox) -> None:
    decoder = Decoder()
    async with aclosing(chunks):
        async for chunk in chunks:
            for frame in decoder.feed(chunk):
                conversation.receive(frame)
                if conversation.ended.done():
                    return
                if isinstance(frame, BadFrame) and frame.fatal:
                    log.warning("A client is cut off: %s", frame.message)
                    return
                await conversation.settled()
                await conversation.room()
            await outbox.accepting()
    if decoder.midway:
        log.warning("A client's input ended inside a message.")
