"""The Claude driver against what was recorded of the real one, without it."""

import json
from pathlib import Path

import pytest

from support.claude_stories import HANDOFF, STORIES, replaying


@pytest.mark.parametrize("name", STORIES)
async def test_a_recorded_story_of_claude_comes_out_the_same(name: str, tmp_path: Path, workspace: Path) -> None:
    await STORIES[name](replaying(name, tmp_path), workspace)
    said = [json.loads(line) for line in (tmp_path / f"{name}-1.jsonl").read_text().splitlines()]
    messages = [line for line in said if line["type"] == "user"]
    assert all(message["client_composed"] for message in messages)
    if name == "a_turn_of_work":
        handoff, words = messages[0]["message"]["content"]
        assert handoff == {"type": "text", "text": HANDOFF}
        assert words["text"].startswith("think: let me see")
