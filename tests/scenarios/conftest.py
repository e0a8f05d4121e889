"""One daemon for all scenarios of a worker; each has a workspace and threads of its own.

A scenario that kills its daemon, or needs another configuration, starts its own with ``editor_on``.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from scenarios.steps import AGENTS
from support.editor import Editor, editor_on


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let all scenarios run in the loop in which the daemon's client lives."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def editor(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    """An editor on a daemon with the two rehearsal agents and those of `AGENTS`."""
    home = tmp_path_factory.mktemp("shared")
    env = {"MIDSTREAM_REHEARSAL_DIR": str(home / "agents")}
    async with editor_on(home / "data", "--rehearsal", env=env, config={"providers": AGENTS}) as editor:
        yield editor
