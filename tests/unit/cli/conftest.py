"""A data folder with two threads in it, and a configuration with one agent that works."""

import asyncio
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import frozen

from support.editor import editor_on


@frozen
class Made:
    """What a daemon that has ended left: its data folder, and the workspace that it was about."""

    data: Path
    workspace: Path


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A long thread in which two providers took part, a short one, and one that is archived."""
    folder = tmp_path_factory.mktemp("made")
    made = Made(folder / "data", folder / "workspace")
    made.data.mkdir(mode=0o700)
    made.workspace.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=made.workspace, check=True)
    asyncio.run(_make(made, folder / "agents"))
    return made


async def _make(made: Made, agents: Path) -> None:
    env = {"MIDSTREAM_REHEARSAL_DIR": str(agents)}
    async with editor_on(made.data, "--rehearsal", env=env) as editor:
        thread = await editor.new_thread(made.workspace, title="Long")
        await editor.say(thread, "write a.txt: one\nstream 100 300")
        await editor.say(thread, "write b.txt: two", "understudy")
        await editor.say(await editor.new_thread(made.workspace, title="Sho\x1brt"), "say: hello")
        archived = await editor.new_thread(made.workspace, title="Archived")
        await editor.call("thread/archive", thread_id=archived.id)


@pytest.fixture
def data(made: Made, tmp_path: Path) -> Path:
    """A data folder of the test's own."""
    return shutil.copytree(made.data, tmp_path / "data")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration file with one agent that works."""
    file = tmp_path / "config.toml"
    command = [sys.executable, "-m", "midstream.server.rehearsal", "--name", "rehearsal"]
    file.write_text(f'[providers.rehearsal]\ndriver = "acp"\ncommand = {command}\n')
    return file
