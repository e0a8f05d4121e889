"""Asking the daemon whether a token still holds, and what it gives."""

import asyncio
from pathlib import Path
from typing import Final

import orjson
from attrs import frozen

from midstream.protocol.base import ThreadId
from midstream.server.runtime.readers import PATIENCE, SOCKET

LARGEST: Final = 4 * 1024 * 1024
"""Bytes of the daemon's answer."""


class Expired(Exception):
    """The token is none, or its agent process is over."""


@frozen
class Granted:
    """What may be read: a thread with its ancestors, without these values."""

    thread_id: ThreadId
    secrets: frozenset[str]


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
                answer = await self._ask()
            match orjson.loads(answer):
                case {"threadId": str(thread_id), "secrets": list(secrets)}:
                    return Granted(thread_id, frozenset(map(str, secrets)))
                case _:
                    pass
        except (OSError, ValueError, TimeoutError):  # no daemon, or an answer that is none
            pass
        raise Expired("This reader's token does not hold: the agent's session that it was given to is over.")

    async def _ask(self) -> bytes:
        incoming, outgoing = await asyncio.open_unix_connection(str(self.data_dir / SOCKET), limit=LARGEST)
        try:
            outgoing.write(self.token.encode() + b"\n")
            return await incoming.readline()
        finally:
            outgoing.close()
