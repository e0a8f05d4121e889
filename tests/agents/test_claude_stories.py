"""The stories that the quick tests replay, with the real Claude Code."""

from pathlib import Path

import pytest

from support.claude_stories import STORIES, driver_of


@pytest.mark.parametrize("name", STORIES)
async def test_a_story_of_claude_comes_out_as_it_was_recorded(
    name: str, claude_env: dict[str, str], workspace: Path
) -> None:
    await STORIES[name](driver_of(claude_env), workspace)
