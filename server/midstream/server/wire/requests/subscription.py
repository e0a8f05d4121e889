"""`thread/subscribe` and `thread/unsubscribe`: a thread's events, gapless from the given one on."""

import asyncio
from typing import Final

from midstream.protocol.base import ThreadId
from midstream.protocol.methods.thread import ThreadIdParams, ThreadSubscribeParams, ThreadSubscribeResult
from midstream.protocol.notifications import RunOutput
from midstream.server.graph.state import ThreadState
from midstream.server.runtime.erasing import unless_deleted
from midstream.server.runtime.publishing import OUTPUT_FIELDS, thread_event
from midstream.server.runtime.reading import thread_read
from midstream.server.wire.client import Client
from midstream.server.wire.requests.host import Host
from midstream.server.wire.service import Handler

REPLAYED: Final = 2_000
"""How many events a client may be behind before it gets a snapshot instead of them."""

PAGE: Final = 50
"""How many of them are read at once."""


class Subscriber:
    """Begins subscriptions right after they were answered."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._beginning: dict[tuple[str, ThreadId], asyncio.Task[None]] = {}

    async def subscribe(self, client: Client, params: ThreadSubscribeParams) -> ThreadSubscribeResult:
        """Answer where the stream stands; what is missing follows."""
        await self._forget(client, params.thread_id)
        async with self._host.daemon.engine.thread(params.thread_id) as turn:
            head, after = turn.state.sequence, params.after_sequence
            replayed = after is not None and head - REPLAYED <= after <= head and after >= 0
            start = after if replayed and after is not None else head
            snapshot = None if replayed else thread_read(turn.state)
        key = (client.id, params.thread_id)
        task = asyncio.ensure_future(self._begin(client, params.thread_id, start))
        self._beginning[key] = task
        task.add_done_callback(lambda _: self._beginning.pop(key, None))
        return ThreadSubscribeResult(sequence=start, snapshot=snapshot)

    async def unsubscribe(self, client: Client, params: ThreadIdParams) -> None:
        """Follow the thread no longer."""
        await self._forget(client, params.thread_id)

    async def _forget(self, client: Client, thread_id: ThreadId) -> None:
        beginning = self._beginning.get((client.id, thread_id))
        if beginning is not None:
            beginning.cancel()
            await asyncio.wait([beginning])
        client.subscriptions.end(thread_id)

    async def _begin(self, client: Client, thread_id: ThreadId, start: int) -> None:
        """Replay event by event, as fast as the client reads, until nothing is missing."""
        daemon, following = self._host.daemon, client.subscriptions
        following.begin(thread_id, start, replaying=True)
        while (sequence := following.sequence(thread_id)) is not None:
            events = await daemon.store.events(thread_id, sequence, PAGE)
            for committed in events:
                client.notify(thread_event(committed))
                await client.emptied()
            if not events and await self._finished(client, thread_id):
                return

    async def _finished(self, client: Client, thread_id: ThreadId) -> bool:
        """Let text pass, once no event is missing; False where one was committed meanwhile."""
        with unless_deleted(thread_id):
            return await self._caught_up(client, thread_id)
        return True

    async def _caught_up(self, client: Client, thread_id: ThreadId) -> bool:
        async with self._host.daemon.engine.thread(thread_id) as turn:
            outputs = await self._unrecorded(turn.state)
            if client.subscriptions.sequence(thread_id) != turn.state.sequence:
                return client.subscriptions.sequence(thread_id) is None
            client.subscriptions.caught_up(thread_id)
            for output in outputs:
                client.notify(output)
            return True

    async def _unrecorded(self, state: ThreadState) -> list[RunOutput]:
        """Return the text that live items have beyond what their records show."""
        outputs = []
        for (item_id, field, path), text in state.texts.items():
            item = state.live_items.get(item_id)
            if item is None or item.run_id is None or path is not None or field not in OUTPUT_FIELDS:
                continue
            if text.length > text.recorded:
                missing = await self._host.daemon.store.text(item_id, field, None, offset=text.recorded)
                outputs.append(
                    RunOutput(
                        thread_id=state.thread.id,
                        run_id=item.run_id,
                        item_id=item_id,
                        field=OUTPUT_FIELDS[field],
                        offset=text.recorded,
                        text=missing or "",
                    )
                )
        return outputs


def handlers(host: Host) -> dict[str, Handler]:
    """Return the handlers of this family."""
    subscriber = Subscriber(host)
    return {"thread/subscribe": subscriber.subscribe, "thread/unsubscribe": subscriber.unsubscribe}
