"""The Codex driver against what was recorded of the real one, where that is not installed."""

from pathlib import Path

import pytest

from support.codex_stories import STORIES, replayed


@pytest.mark.parametrize("name", STORIES)
async def test_a_recorded_story_comes_out_the_same(name: str, workspace: Path) -> None:
    await STORIES[name](replayed(name), workspace)
