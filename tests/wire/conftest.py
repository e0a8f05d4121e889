"""Fixtures of the wire suite."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from support.raw import RawClient, raw_client


@pytest.fixture
async def unopened(tmp_path: Path) -> AsyncIterator[RawClient]:
    """A raw client on a fresh daemon, before `initialize`."""
    async with raw_client(tmp_path / "data", "--rehearsal") as client:
        yield client


@pytest.fixture
async def raw(unopened: RawClient) -> RawClient:
    """A raw client on a fresh daemon that was initialized."""
    await unopened.initialize()
    return unopened
