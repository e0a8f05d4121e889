"""What `midstream doctor` and `provider/list` say of the real Claude Code in each state that it can be in."""

from pathlib import Path
from typing import Any

import pytest

from support.claude import claude_home, claude_provider
from support.cli import midstream
from support.editor import Editor, editor_on
from support.models.server import ModelServer

ABSENT = "/nowhere/claude"
STATES = {
    "claude": (None, None),
    "stranger": (
        "Claude Code is not logged in.",
        "Run: claude, and then /login; or set ANTHROPIC_API_KEY under providers.stranger.env.",
    ),
    "absent": (
        f"Claude Code is not installed: {ABSENT} cannot be started: No such file or directory.",
        "Run: pip install 'midstream[claude]', or set providers.absent.command to the argv of another Claude Code.",
    ),
}
"""The problem and the action that belong to each state."""


@pytest.fixture
def providers(tmp_path: Path, model: ModelServer) -> dict[str, dict[str, Any]]:
    """A Claude Code in each state."""
    return {
        "claude": claude_provider(claude_home(tmp_path / "working", model)),
        "stranger": claude_provider({**claude_home(tmp_path / "stranger", model), "ANTHROPIC_API_KEY": ""}),
        "absent": {"driver": "claude", "command": [ABSENT]},
    }


async def test_the_list_of_providers_says_of_each_claude_what_is_wrong_and_what_to_do(
    tmp_path: Path, providers: dict[str, dict[str, Any]]
) -> None:
    async with editor_on(tmp_path / "data", config={"providers": providers}) as editor:
        listed = {provider.kind: provider for provider in (await editor.call("provider/list")).providers}
        for kind, what in STATES.items():
            problem = listed[kind].problem
            assert ((None, None) if problem is None else (problem.message, problem.action)) == what
        states = {kind: (listed[kind].installed, listed[kind].authenticated) for kind in STATES}
    assert states == {"claude": (True, True), "stranger": (True, False), "absent": (False, None)}


def test_the_doctor_says_the_same_of_one_that_is_not_there(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f'[providers.absent]\ndriver = "claude"\ncommand = ["{ABSENT}"]\n')
    done = midstream("doctor", "--data-dir", tmp_path / "data", "--config", config)
    problem, action = STATES["absent"]
    assert f"agent absent: {problem}\n         → {action}\n" in done.out


async def test_a_claude_that_works_is_listed_with_its_version_models_and_efforts(claude_editor: Editor) -> None:
    listed = await claude_editor.call("provider/list")
    (claude,) = [provider for provider in listed.providers if provider.kind == "claude"]
    assert claude.version is not None
    assert claude.models
    assert "high" in (claude.models[0].efforts or ())
    assert claude.capabilities.handoff.channel == "separateBlock"
