"""Fixtures that all suites share."""

import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import settings

from support.editor import Editor, editor_on

# Daemons and agents are started by the hundred here: each would compile the whole project anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# The same examples on every run; `--hypothesis-profile=default` looks for new ones.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A git workspace with one commit."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "kept.txt").write_text("kept\n")
    identity = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Begin"]):
        subprocess.run(["git", *identity, *command], cwd=folder, check=True)
    return folder


@pytest.fixture(autouse=True)
def agents_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what agents store with the test: an agent that is installed here finds nobody's login."""
    folder = tmp_path / "agents"
    monkeypatch.setenv("MIDSTREAM_REHEARSAL_DIR", str(folder))
    (tmp_path / "codex-home").mkdir()
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex-home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return folder


@pytest.fixture
async def editor(tmp_path: Path) -> AsyncIterator[Editor]:
    """An editor on a fresh daemon with the two rehearsal agents."""
    async with editor_on(tmp_path / "data", "--rehearsal") as editor:
        yield editor
