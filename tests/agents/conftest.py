"""The real command lines of agents, each in a private home, against the tests' own model."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from support.codex import codex_home, codex_provider
from support.editor import Editor, editor_on
from support.models.server import ModelServer, model_server


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    """The model that the agents reach."""
    async with model_server() as server:
        yield server


@pytest.fixture
def codex_env(tmp_path: Path, model: ModelServer) -> dict[str, str]:
    """The environment that leads Codex to its private home."""
    return codex_home(tmp_path / "codex", model)


@pytest.fixture
async def editor(tmp_path: Path, codex_env: dict[str, str]) -> AsyncIterator[Editor]:
    """An editor on a fresh daemon with the real Codex and the two rehearsal agents."""
    config = {"providers": {"codex": codex_provider(codex_env)}}
    async with editor_on(tmp_path / "data", "--rehearsal", config=config) as editor:
        yield editor
