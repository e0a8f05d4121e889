"""All of these tests run in one loop a worker, in which the acts are played that say which of them reaches a point."""

import inspect
from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let all these tests run in one loop."""
    for item in items:
        asynchronous = isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj)
        if asynchronous and Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
