"""Asking the daemon whether a token still holds, and what it gives."""

import asyncio
from pathlib import Path
from typing import Final

import orjson
from attrs import frozen

from midstream.protocol.base import ItemId, ProviderKind, ThreadId
from midstream.server.runtime.readers import LONGEST_LINE, PATIENCE, SOCKET

LARGEST: Final = 4 * 1024 * 1024
"""Bytes of the daemon's answer."""

EXPIRED: Final = "This reader's token does not hold: the agent's session that it was given to is over."


class Expired(Exception):
    """The token is none, or its agent process is over."""


class Refused(Exception):
    """The daemon does not carry an order out; the message says why."""


@frozen
class Granted:
    """What may be read: a thread with its ancestors, without these values; and to whom work may be given."""

    thread_id: ThreadId
    secrets: frozenset[str]
    delegate_to: tuple[ProviderKind, ...]


@frozen
class Access:
    """A data folder, and a token for one thread in it."""

    data_dir: Path
    token: str

    @property
    def database(self) -> Path:
        return self.data_dir / "midstream.db"

    @property
    def checkpoints(self) -> Path:
        return self.data_dir / "checkpoints"

    async def grant(self) -> Granted:
        """Return what the token gives now.

        Raises:
            Expired: nothing, or nobody is there who knows.
        """
        try:
            async with asyncio.timeout(PATIENCE):
                answer = await self._ask(b"")
        except TimeoutError:
            raise Expired(EXPIRED) from None
        match answer:
            case {"threadId": str(thread_id), "secrets": list(secrets), "delegateTo": list(targets)}:
                return Granted(thread_id, frozenset(map(str, secrets)), tuple(map(str, targets)))
            case _:
                raise Expired(EXPIRED)

    async def delegate(self, provider: ProviderKind, prompt: str, title: str) -> ItemId:
        """Have another provider do some work, and return the item that holds what came back; this takes its time.

        Raises:
            Refused: it was not begun.
            Expired: nobody is there who could.
        """
        order = b" " + orjson.dumps({"provider": provider, "prompt": prompt, "title": title})
        if len(order) > LONGEST_LINE // 2:
            raise Refused(f"The prompt is too long; give at most {LONGEST_LINE // 2:,} bytes.")
        match await self._ask(order):
            case {"itemId": str(item_id)}:
                return item_id
            case {"refused": str(message)}:
                raise Refused(message)
            case _:
                raise Expired(EXPIRED)

    async def _ask(self, order: bytes) -> object:
        """Return the daemon's answer, None where there is no daemon or it has none."""
        try:
            incoming, outgoing = await asyncio.open_unix_connection(str(self.data_dir / SOCKET), limit=LARGEST)
            try:
                outgoing.write(self.token.encode() + order + b"\n")
                await outgoing.drain()
                return orjson.loads(await incoming.readline())
            finally:
                outgoing.close()
        except (OSError, ValueError):
            return None
