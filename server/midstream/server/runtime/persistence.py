"""Commits that a thread cannot do without: tried again until the disk takes them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from midstream.protocol.errors import MidstreamError
from midstream.server.quoting import Quoted
from midstream.server.store import StoreFailed

T = TypeVar("T")
LOG: Final = logging.getLogger(__name__)
FIRST_PAUSE: Final = 0.25
LONGEST_PAUSE: Final = 8.0
"""Seconds between two tries; each pause is twice the one before."""


async def until_stored(commit: Callable[[], Awaitable[T]], what: str) -> T:
    """Commit until the store takes it; `what` names it to the user, who is told once that it has to wait.

    Raises:
        MidstreamError: it was refused for another reason than a full disk or a locked file.
    """
    pause = FIRST_PAUSE
    while True:
        try:
            return await commit()
        except (StoreFailed, MidstreamError) as error:
            if isinstance(error, MidstreamError) and error.kind != "storeLocked":
                raise
            if pause == FIRST_PAUSE:
                LOG.error(
                    "%s cannot be stored and is tried until it can; make room on the disk: %s", what, Quoted(error)
                )
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)
