"""The Codex driver against what was recorded of the real one, where that is not installed."""

import json
from pathlib import Path

import pytest

from support.codex_stories import STORIES, driver_of, replay_provider
from support.codex_switches import DAEMON_STORIES


@pytest.mark.parametrize("name", STORIES)
async def test_a_recorded_story_comes_out_the_same(name: str, tmp_path: Path, workspace: Path) -> None:
    await STORIES[name](driver_of(replay_provider(name, tmp_path)), workspace)


@pytest.mark.parametrize("name", DAEMON_STORIES)
async def test_a_recorded_story_of_a_daemon_comes_out_the_same(name: str, tmp_path: Path, workspace: Path) -> None:
    handoff = await DAEMON_STORIES[name](replay_provider(name, tmp_path), tmp_path, workspace)
    logs = [json.loads(line) for file in sorted(tmp_path.glob(f"{name}-*")) for line in file.read_text().splitlines()]
    contexts = [line["params"].get("additionalContext") for line in logs if line.get("method") == "turn/start"]
    sent = "".join(part["value"] for context in contexts if isinstance(context, dict) for part in context.values())
    assert sent == handoff.sent_text
