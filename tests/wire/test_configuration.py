"""Where the configuration comes from, and what a fault in it costs."""

from pathlib import Path
from typing import Any

import pytest
from lsprotocol.types import DidChangeConfigurationParams

from support.editor import Editor, Refused, editor_on, providers
from support.raw import RawClient, notification, raw_client

FILE = """
[providers.from_file]
driver = "acp"
command = ["agent-of-the-file"]

[handoff]
budget_tokens = 0
max_missed_runs = 4
colour = "blue"

[checkpoints]
enabled = false
"""


async def knows(editor: Editor, workspace: Path, provider: str) -> bool:
    """Whether a provider is configured."""
    try:
        await editor.new_thread(workspace, provider)
    except Refused as refused:
        if refused.kind != "providerUnknown":
            raise
        return False
    return True


def problems(editor: Editor) -> list[dict[str, Any]]:
    """Return what `initialize` said of the configuration."""
    return editor.capabilities_told["capabilities"]["experimental"]["midstream"]["configProblems"]


async def test_a_fault_in_the_file_costs_its_key_only(tmp_path: Path, workspace: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(FILE)
    async with editor_on(tmp_path / "data", config_file=file) as editor:
        told = {problem["key"]: problem["message"] for problem in problems(editor)}
        assert set(told) == {"handoff.budgetTokens", "handoff.colour"}
        assert all(str(file) in message for message in told.values())
        assert "maxMissedRuns" in told["handoff.colour"]
        assert await knows(editor, workspace, "from_file")
        assert not await knows(editor, workspace, "rehearsal")


async def test_a_file_that_is_no_toml_is_one_problem_and_the_defaults_hold(tmp_path: Path, workspace: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[providers")
    async with editor_on(tmp_path / "data", config_file=file) as editor:
        (problem,) = problems(editor)
        assert str(file) in problem["message"]
        assert await knows(editor, workspace, "codex")


async def test_the_clients_options_stand_over_the_file(tmp_path: Path, workspace: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(FILE)
    config = {"providers": {"from_client": {"driver": "acp"}, "wrong": {"driver": "telepathy"}}, "checkpoints": []}
    async with editor_on(tmp_path / "data", config_file=file, config=config) as editor:
        assert {problem["key"] for problem in problems(editor)} == {
            "handoff.budgetTokens",
            "handoff.colour",
            "providers.wrong.driver",
        }
        assert await knows(editor, workspace, "from_file")
        assert await knows(editor, workspace, "from_client")
        assert not await knows(editor, workspace, "wrong")


async def test_options_of_the_wrong_shape_are_refused_by_their_path(unopened: RawClient) -> None:
    for options, path in (
        ({"config": "blue"}, "initializationOptions.config"),
        ({"native": "yes"}, "initializationOptions.native"),
        ({"dataDir": 5}, "initializationOptions.dataDir"),
    ):
        error = await unopened.error("initialize", {"capabilities": {}, "initializationOptions": options})
        assert (error["code"], error["data"]["path"]) == (-32602, path)
    await unopened.initialize()


async def test_a_changed_configuration_holds_for_what_starts_afterwards(tmp_path: Path, workspace: Path) -> None:
    async with raw_client(tmp_path / "data") as client:
        await client.initialize()
        settings = {"midstream": {"providers": {"new": {"driver": "acp"}}}, "other": {"tool": 1}}
        await client.send(notification("workspace/didChangeConfiguration", {"settings": settings}))
        assert await client.new_thread(workspace, "new")
        assert not [message for message in client.heard if message["method"].startswith("window/")]


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"handoff": {"budgetTokens": "many"}}, "handoff.budgetTokens"),
        ({"providers": {"new": {"driver": "telepathy"}}}, "providers.new.driver"),
        ({"colours": {}}, "colours"),
        ("nonsense", "midstream"),
    ],
    ids=["type", "driver", "table", "no table"],
)
async def test_a_wrong_change_is_shown_with_its_key_and_the_old_configuration_stays(
    tmp_path: Path, workspace: Path, settings: Any, key: str
) -> None:
    async with raw_client(tmp_path / "data") as client:
        await client.initialize(config={"providers": {"old": {"driver": "acp"}}})
        good = {"providers": {"fine": {"driver": "acp"}}}
        changed = {**good, **settings} if isinstance(settings, dict) and "providers" not in settings else settings
        await client.send(notification("workspace/didChangeConfiguration", {"settings": {"midstream": changed}}))
        shown = (await client.until("window/showMessage"))["params"]
        assert shown["type"] == 1
        assert key in shown["message"]
        assert await client.new_thread(workspace, "old")
        for provider in ("fine", "new"):
            params = {"workspace": workspace.as_uri(), "selection": {"provider": provider, "model": None}}
            assert (await client.error("thread/create", params))["data"]["kind"] == "providerUnknown"


async def test_settings_that_are_not_for_this_daemon_change_nothing(tmp_path: Path, workspace: Path) -> None:
    async with raw_client(tmp_path / "data") as client:
        await client.initialize(config={"providers": {"old": {"driver": "acp"}}})
        for params in ({"settings": None}, {"settings": {}}, {"settings": {"other": 1, "midstream": None}}, {}):
            await client.send(notification("workspace/didChangeConfiguration", params))
        assert await client.new_thread(workspace, "old")
        assert not [message for message in client.heard if message["method"].startswith("window/")]


async def test_a_provider_whose_command_is_given_later_becomes_usable(tmp_path: Path, workspace: Path) -> None:
    missing = {"late": {"driver": "acp", "command": ["no-such-agent"]}}
    async with editor_on(tmp_path / "data", config={"providers": missing}) as editor:
        thread = await editor.new_thread(workspace, "late")
        with pytest.raises(Refused) as refused:
            await editor.begin(thread, "say: hello")
        assert refused.value.kind == "providerUnavailable"
        settings = {"midstream": {"providers": providers("late")}}
        editor.protocol.notify("workspace/didChangeConfiguration", DidChangeConfigurationParams(settings=settings))
        assert (await editor.say(thread, "say: hello")).status == "completed"


async def test_a_fault_in_the_file_does_not_keep_a_client_from_changing_the_rest(
    tmp_path: Path, workspace: Path
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(FILE)
    async with editor_on(tmp_path / "data", config_file=file) as editor:
        settings = {"midstream": {"providers": providers("later")}}
        editor.protocol.notify("workspace/didChangeConfiguration", DidChangeConfigurationParams(settings=settings))
        await editor.call("provider/list")
        assert await knows(editor, workspace, "later")
        assert editor.messages == []
