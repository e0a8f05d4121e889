"""What agents may ask of the daemon: a token for each thread and agent process, known here alone.

`midstream reader` runs as a child of the agent. It asks at each call whether its token still holds, so that a token
ends with the provider session, and with the daemon, without anything on the disk that could outlive them.
"""

import asyncio
import json
import logging
import os
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol, Self

from attrs import frozen

from midstream.protocol.base import ItemId, JsonObject, ProviderKind, ProviderSessionId, ThreadId
from midstream.protocol.converter import make_converter, structure
from midstream.protocol.errors import MidstreamError
from midstream.server.providers.adapter import McpServer
from midstream.server.quoting import Quoted
from midstream.server.runtime.background import Background
from midstream.server.runtime.delegations import Order
from midstream.server.store import StoreFailed

LOG: Final = logging.getLogger(__name__)
CONVERTER: Final = make_converter()
NAME: Final = "midstream"
"""The server's name, which agents show and call it by."""

SOCKET: Final = "reader.sock"
TOKEN: Final = "MIDSTREAM_READER_TOKEN"  # noqa: S105 (the name of a variable)
PATIENCE: Final = 10.0
"""Seconds in which a reader has to say its token."""

LONGEST_CALL: Final = 86_400.0
"""Seconds that an agent waits for an answer: work that it gave away takes as long as it takes."""

LONGEST_LINE: Final = 1 << 20
"""Bytes of what a reader may say."""


@frozen
class Grant:
    """What a token gives: a thread, for as long as an agent process lives."""

    session_id: ProviderSessionId
    thread_id: ThreadId
    lives: Callable[[], bool]

    def is_of(self, session_id: ProviderSessionId, thread_id: ThreadId | None) -> bool:
        """Whether it was given to this process, for this thread or, where that is None, for any."""
        return self.session_id == session_id and thread_id in (None, self.thread_id)


class Delegating(Protocol):
    """Who has work done by other providers: `runtime.delegations`."""

    async def targets(self, thread_id: ThreadId) -> tuple[ProviderKind, ...]:
        """Return the providers to which a thread's agent may give work."""

    async def carry_out(
        self, session_id: ProviderSessionId, thread_id: ThreadId, order: Order, gone: asyncio.Future[bytes]
    ) -> ItemId:
        """Have an order done, unless `gone` is first, and return the item that holds what came back."""


class Readers:
    """Gives out tokens, and answers the readers that show one. `known_secrets` are values that no reader may tell."""

    def __init__(self, data_dir: Path, known_secrets: Callable[[], frozenset[str]], delegations: Delegating) -> None:
        self._data_dir = data_dir
        self._known_secrets = known_secrets
        self._delegations = delegations
        self._grants: dict[str, Grant] = {}
        self._server: asyncio.Server | None = None
        self._answering = Background()

    async def open(self) -> Self:
        """Listen in the data folder; where that cannot be, no reader is offered."""
        # Relative, since a socket's path may hold about 100 bytes and the daemon works inside the data folder.
        path = os.path.relpath(self._data_dir / SOCKET)  # noqa: ASYNC240 (no look at the disk)
        before = os.umask(0o177)  # from its first moment it is the owner's alone
        try:
            self._server = await asyncio.start_unix_server(self._accept, path, limit=LONGEST_LINE)
        except OSError as error:
            LOG.warning("agents are given no reader, for nothing can listen at %s: %s", SOCKET, Quoted(error))
        finally:
            os.umask(before)
        return self

    @property
    def offered(self) -> bool:
        """Whether agents can be given a reader."""
        return self._server is not None

    def server_for(self, session_id: ProviderSessionId, thread_id: ThreadId, lives: Callable[[], bool]) -> McpServer:
        """Return how an agent starts the reader of a thread; the same each time while its process lives."""
        token = next((token for token, one in self._grants.items() if one.is_of(session_id, thread_id)), None)
        if token is None:
            token = secrets.token_urlsafe(32)
            self._grants[token] = Grant(session_id, thread_id, lives)
        return McpServer(
            name=NAME,
            command=sys.executable,
            # -P: the agent works in the workspace, and no module of that may be taken for one of ours.
            args=("-P", "-m", "midstream.server.reader", "--data-dir", str(self._data_dir.absolute())),
            env={TOKEN: token},
            call_seconds=LONGEST_CALL,
        )

    def expire(self, session_id: ProviderSessionId, thread_id: ThreadId | None = None) -> None:
        """Take back the tokens of an agent process, of one thread or of all."""
        for token, grant in tuple(self._grants.items()):
            if grant.is_of(session_id, thread_id):
                del self._grants[token]

    async def aclose(self) -> None:
        """Answer nobody any more."""
        self._grants.clear()
        if self._server is not None:
            self._server.close()
            await self._answering.cancel()
            (self._data_dir / SOCKET).unlink(missing_ok=True)

    def _accept(self, incoming: asyncio.StreamReader, outgoing: asyncio.StreamWriter) -> None:
        self._answering.spawn(self._answer(incoming, outgoing))

    async def _answer(self, incoming: asyncio.StreamReader, outgoing: asyncio.StreamWriter) -> None:
        """Answer one line: a token, after which an order may stand."""
        try:
            async with asyncio.timeout(PATIENCE):
                line = (await incoming.readline()).decode(errors="replace").strip()
            token, _, asked = line.partition(" ")
            grant = self._grants.get(token)
            if grant is not None and grant.lives():
                answer = await self._delegate(grant, asked, incoming) if asked else await self._granted(grant)
                outgoing.write(json.dumps(answer).encode() + b"\n")
                await outgoing.drain()
        except (TimeoutError, ValueError, ConnectionError):
            pass  # no reader of ours, or one that is gone
        finally:
            outgoing.close()

    async def _granted(self, grant: Grant) -> JsonObject:
        targets = await self._delegations.targets(grant.thread_id)
        return {"threadId": grant.thread_id, "secrets": sorted(self._known_secrets()), "delegateTo": list(targets)}

    async def _delegate(self, grant: Grant, asked: str, incoming: asyncio.StreamReader) -> JsonObject:
        """Carry an order out for as long as the reader waits for it; raises ValueError for what is none."""
        order = structure(CONVERTER, json.loads(asked), Order)
        gone = asyncio.ensure_future(incoming.read())
        try:
            item_id = await self._delegations.carry_out(grant.session_id, grant.thread_id, order, gone)
        except (MidstreamError, StoreFailed) as error:
            return {"refused": str(error)}
        finally:
            gone.cancel()
        return {"itemId": item_id}
