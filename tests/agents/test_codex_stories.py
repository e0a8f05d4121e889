"""The stories that the quick tests replay, with the real Codex."""

from pathlib import Path

import pytest

from midstream.protocol.records.config import ProviderConfig
from midstream.server.providers.codex.driver import CodexDriver
from support.codex import CODEX
from support.codex_stories import STORIES


@pytest.mark.parametrize("name", STORIES)
async def test_a_story_comes_out_as_it_was_recorded(name: str, codex_env: dict[str, str], workspace: Path) -> None:
    command = (str(CODEX), "app-server")
    await STORIES[name](CodexDriver("codex", ProviderConfig(driver="codex", command=command, env=codex_env)), workspace)
