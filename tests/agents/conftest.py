"""The real command lines of agents, each in a private home, against the tests' own model."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from support.claude import claude_home, claude_provider
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


@pytest.fixture
def claude_env(tmp_path: Path, model: ModelServer) -> dict[str, str]:
    """The environment that leads Claude Code to its private home."""
    return claude_home(tmp_path / "claude", model)


@pytest.fixture
async def claude_editor(tmp_path: Path, claude_env: dict[str, str]) -> AsyncIterator[Editor]:
    """An editor on a fresh daemon with the real Claude Code and the two rehearsal agents."""
    config = {"providers": {"claude": claude_provider(claude_env)}}
    async with editor_on(tmp_path / "data", "--rehearsal", config=config) as editor:
        yield editor


@pytest.fixture
async def both_editor(tmp_path: Path, codex_env: dict[str, str], claude_env: dict[str, str]) -> AsyncIterator[Editor]:
    """An editor on a fresh daemon with the real Codex and the real Claude Code."""
    config = {"providers": {"codex": codex_provider(codex_env), "claude": claude_provider(claude_env)}}
    async with editor_on(tmp_path / "data", config=config) as editor:
        yield editor


@pytest.fixture
async def delegating_editor(
    tmp_path: Path, codex_env: dict[str, str], claude_env: dict[str, str]
) -> AsyncIterator[Editor]:
    """An editor on a fresh daemon whose agents may give work to a rehearsal agent."""
    config = {
        "providers": {"codex": codex_provider(codex_env), "claude": claude_provider(claude_env)},
        "reader": {"delegateTo": ["understudy"]},
    }
    async with editor_on(tmp_path / "data", "--rehearsal", config=config) as editor:
        yield editor
