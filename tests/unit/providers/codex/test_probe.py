"""What the driver finds of a Codex that is not there, too old, not logged in, or lacks something."""

from pathlib import Path

import pytest

from midstream.protocol.records.config import ProviderConfig
from midstream.server.providers.adapter import ContextBlock, ProviderError, TurnInput
from midstream.server.providers.codex.driver import CodexDriver
from support.fake_codex import fake_codex
from support.turns import opened, options_in


async def test_a_sound_codex_has_its_version_and_every_ability(tmp_path: Path) -> None:
    provider = await fake_codex(tmp_path).driver.probe()
    assert (provider.installed, provider.version, provider.authenticated) == (True, "9.8.7", True)
    assert provider.problem is None
    able = provider.capabilities
    assert (able.resume, able.fork, able.fork_at_turn, able.rollback, able.steer) == (True,) * 5
    assert able.handoff.channel == "nativeData"


async def test_a_codex_that_is_not_installed_is_named_with_how_to_install_it() -> None:
    driver = CodexDriver("codex", ProviderConfig(driver="codex", command=("/nowhere/codex", "app-server")))
    provider = await driver.probe()
    assert (provider.installed, provider.authenticated) == (False, None)
    assert provider.problem is not None
    assert "/nowhere/codex" in provider.problem.message
    assert provider.problem.action is not None
    assert "npm install -g @openai/codex" in provider.problem.action
    assert "providers.codex.command" in provider.problem.action


async def test_a_codex_that_is_too_old_is_named_with_what_it_lacks(tmp_path: Path) -> None:
    provider = await fake_codex(tmp_path, without=("thread/resume",)).driver.probe()
    assert not provider.installed
    assert provider.problem is not None
    assert provider.problem.message == "Codex 9.8.7 is too old: it does not know thread/resume."
    assert provider.problem.action is not None
    assert "@openai/codex@latest" in provider.problem.action


async def test_a_codex_that_has_no_app_server_is_told_with_its_last_words(tmp_path: Path) -> None:
    command = ("/bin/sh", "-c", "echo unknown command app-server >&2; exit 2")
    provider = await CodexDriver("codex", ProviderConfig(driver="codex", command=command)).probe()
    assert provider.problem is not None
    assert "unknown command app-server" in provider.problem.message


async def test_a_codex_that_is_not_logged_in_is_named_with_how_to_log_in(tmp_path: Path) -> None:
    account = {"account": None, "requiresOpenaiAuth": True}
    provider = await fake_codex(tmp_path, account_read=account).driver.probe()
    assert (provider.installed, provider.authenticated) == (True, False)
    assert provider.problem is not None
    assert provider.problem.action == "Run: codex login"


async def test_a_codex_that_needs_no_login_is_logged_in(tmp_path: Path) -> None:
    account = {"account": None, "requiresOpenaiAuth": False}
    assert (await fake_codex(tmp_path, account_read=account).driver.probe()).authenticated is True


@pytest.mark.parametrize(
    ("lacking", "ability"),
    [
        ("thread/fork", "fork"),
        ("thread/revert", "rollback"),
        ("thread/turns/list", "rollback"),
        ("turn/steer", "steer"),
    ],
)
async def test_an_ability_that_is_missing_is_not_claimed(tmp_path: Path, lacking: str, ability: str) -> None:
    provider = await fake_codex(tmp_path, without=(lacking,)).driver.probe()
    assert provider.problem is None
    assert getattr(provider.capabilities, ability) is False


async def test_a_codex_without_context_gets_handoffs_as_a_block_and_refuses_the_other_channel(tmp_path: Path) -> None:
    plain = {"error": {"code": -32600, "message": "thread not found: 0"}}
    codex = fake_codex(tmp_path, turn_start=plain)
    assert (await codex.driver.probe()).capabilities.handoff.channel == "separateBlock"
    async with opened(codex.driver, tmp_path) as session:
        thread = await session.start_thread(options_in(tmp_path))
        block = ContextBlock(handoff_id="hof_1", channel="nativeData", text="# Handoff")
        with pytest.raises(ProviderError, match="takes no context"):
            async for _ in session.run_turn(
                thread.ref, TurnInput(context=(block,), attachments=(), text="hi"), options_in(tmp_path)
            ):
                pass
