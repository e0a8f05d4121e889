"""Fixtures: a workspace, and agents that all keep their sessions in one place."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from support.rehearsal import RehearsalClient, Start, rehearsal_agent


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
async def start(state_dir: Path) -> AsyncIterator[Start]:
    """Start an agent with flags; it is ended with the test."""
    async with AsyncExitStack() as stack:

        async def start_agent(*flags: str) -> RehearsalClient:
            return await stack.enter_async_context(rehearsal_agent(state_dir, *flags))

        yield start_agent


@pytest.fixture
async def agent(start: Start) -> RehearsalClient:
    return await start()
