from collections.abc import AsyncIterator

import pytest

from support.echo_service import Echo
from support.wire_peer import LocalPeer, connected


@pytest.fixture
async def echo() -> Echo:
    """A service in this process."""
    return Echo()


@pytest.fixture
async def stranger(echo: Echo) -> AsyncIterator[LocalPeer]:
    """A client that has said nothing yet."""
    async with connected(echo.service) as peer:
        yield peer


@pytest.fixture
async def client(stranger: LocalPeer) -> LocalPeer:
    """An initialized client."""
    await stranger.open()
    return stranger
