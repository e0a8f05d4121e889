"""What `midstream doctor` and `provider/list` say of the real Codex in each state that it can be in."""

import json
from pathlib import Path
from typing import Final

import pytest

from support.cli import midstream
from support.codex import codex_home, codex_provider
from support.editor import Editor, editor_on
from support.fake_codex import fake_codex_command
from support.models.server import ModelServer

ABSENT: Final = "/nowhere/codex"
ELSE: Final = "or set providers.{}.command to the argv of another one's app-server."


@pytest.fixture
def config(tmp_path: Path, model: ModelServer) -> Path:
    """A configuration file with a Codex in each state; only the one that is too old is not the real one."""
    stranger = codex_home(tmp_path / "stranger", model)
    settings = Path(stranger["CODEX_HOME"]) / "config.toml"
    settings.write_text(settings.read_text().replace("requires_openai_auth = false", "requires_openai_auth = true"))
    codexes = {
        "codex": codex_provider(codex_home(tmp_path / "working", model)),
        "stranger": codex_provider(stranger),
        "absent": {"driver": "codex", "command": [ABSENT, "app-server"], "env": {}},
        "old": {"driver": "codex", "command": fake_codex_command(tmp_path, without=("thread/resume",)), "env": {}},
    }
    file = tmp_path / "config.toml"
    with file.open("w") as lines:
        for kind, one in codexes.items():
            command, env = json.dumps(one["command"]), one["env"].items()
            lines.write(f'[providers.{kind}]\ndriver = "codex"\ncommand = {command}\n[providers.{kind}.env]\n')
            lines.writelines(f"{name} = {json.dumps(value)}\n" for name, value in env)
    return file


WHAT_TO_DO: Final = {
    "codex": (None, None),
    "stranger": ("Codex is not logged in.", "Run: codex login"),
    "absent": (
        f"Codex is not installed: {ABSENT} cannot be started: No such file or directory.",
        "Run: npm install -g @openai/codex@latest, " + ELSE.format("absent"),
    ),
    "old": (
        "Codex 9.8.7 is too old: it does not know thread/resume.",
        "Run: npm install -g @openai/codex@latest, " + ELSE.format("old"),
    ),
}
"""The problem and the action that belong to each state."""


def test_the_doctor_says_of_each_codex_what_is_wrong_and_what_to_do(tmp_path: Path, config: Path) -> None:
    done = midstream("doctor", "--data-dir", tmp_path / "data", "--config", config)
    assert done.status == 0
    working, *others = WHAT_TO_DO.items()
    assert f"agent {working[0]}: works, version 0." in done.out
    for kind, (problem, action) in others:
        assert f"agent {kind}: {problem}\n         → {action}\n" in done.out


async def test_the_list_of_providers_says_the_same(tmp_path: Path, config: Path) -> None:
    async with editor_on(tmp_path / "data", config_file=config) as editor:
        listed = {provider.kind: provider for provider in (await editor.call("provider/list")).providers}
        for kind, what in WHAT_TO_DO.items():
            problem = listed[kind].problem
            assert ((None, None) if problem is None else (problem.message, problem.action)) == what
        states = {kind: (listed[kind].installed, listed[kind].authenticated) for kind in WHAT_TO_DO}
    assert states == {
        "codex": (True, True),
        "stranger": (True, False),
        "absent": (False, None),
        "old": (False, None),
    }


async def test_a_codex_that_works_is_listed_with_its_models_and_efforts(editor: Editor) -> None:
    listed = await editor.call("provider/list")
    (codex,) = [provider for provider in listed.providers if provider.kind == "codex"]
    assert codex.version is not None
    assert [(model.id, model.efforts) for model in codex.models] == [
        ("rehearsal-model", ("low", "high")),
        ("other-model", ("low", "high")),
    ]
    assert codex.capabilities.handoff.channel == "nativeData"
    assert codex.capabilities.rollback
