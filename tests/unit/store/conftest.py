"""A store in a folder of its own, and the log of one thread in it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from midstream.server.store import Store
from support.stores import ThreadLog


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "midstream.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[Store]:
    store = await Store.open(path)
    yield store
    await store.aclose()


@pytest.fixture
def log(store: Store) -> ThreadLog:
    return ThreadLog(store)
