"""What a user sets up: configuration, maps, status line, autocommands, help, health, and the generated types."""

import re
import subprocess
import sys
import uuid
from pathlib import Path

import attrs

from midstream.protocol.methods.table import METHODS
from support.neovim import PLUGIN, Neovim, neovim_on


def test_a_wrong_configuration_is_named_and_the_rest_holds(tmp_path: Path, workspace: Path) -> None:
    with neovim_on(tmp_path / "data", workspace, page=0, colour="red", runtime_mode="fullAccess") as nvim:
        nvim.open("say: hello")
        nvim.until_shown("completed")
        nvim.until_told("vim.g.midstream.page: expected an integer from 1 to 500, got 0")
        nvim.until_told("vim.g.midstream.colour: there is no such option")
        assert len(nvim.said()) == 2


def test_a_configuration_may_be_a_function(nvim: Neovim) -> None:
    resolved = nvim.lua("return {require('midstream.config').resolve(function() return {page = 7} end)}")
    assert resolved[0]["page"] == 7
    assert resolved[1] == []


def test_a_command_that_cannot_be_executed_says_what_to_do(tmp_path: Path, workspace: Path) -> None:
    with neovim_on(tmp_path / "data", workspace, cmd=["no-such-midstream"]) as nvim:
        nvim.do("open new")
        nvim.until_told("`no-such-midstream` cannot be executed")
        nvim.api.command("checkhealth midstream")
        assert any("cannot be executed" in line for line in nvim.lines())


def test_health_names_the_daemon_and_its_agents(nvim: Neovim) -> None:
    nvim.api.command("checkhealth midstream")
    text = "\n".join(nvim.lines())
    assert "daemon: version" in text
    assert "agent rehearsal" in text
    assert "ERROR" not in text


def test_a_thread_is_followed_also_where_health_was_the_first_to_start_the_daemon(nvim: Neovim) -> None:
    nvim.api.command("checkhealth midstream")
    assert "daemon: version" in "\n".join(nvim.lines())
    nvim.open("say: heard")
    assert "heard" in nvim.until_shown("Run 1 · rehearsal · completed")


def test_subcommands_options_and_providers_are_completed(nvim: Neovim) -> None:
    nvim.open()
    complete = "return vim.fn.getcompletion(..., 'cmdline')"
    assert nvim.lua(complete, "Midstream re") == [
        "regenerate", "reject", "request", "restore", "resume", "retry",
    ]  # fmt: skip
    assert nvim.lua(complete, "Midstream send ++d") == ["++diagnostics"]
    nvim.until("#require('midstream.providers').names() > 0")
    assert "understudy" in nvim.lua(complete, "Midstream switch under")


def test_an_unknown_subcommand_and_option_are_named(nvim: Neovim) -> None:
    nvim.do("dance")
    nvim.until_told("There is no `:Midstream dance`")
    nvim.do("send ++loudly hello")
    nvim.until_told("`:Midstream send` has no option ++loudly.")


def test_a_method_that_the_daemon_does_not_answer_is_named(nvim: Neovim) -> None:
    nvim.open()
    nvim.lua("require('midstream.async').run(function() require('midstream.client').call('thread/dance', {}) end)")
    nvim.until_told("does not answer `thread/dance` yet")


def test_no_key_of_the_user_is_taken_and_plugs_are_there(nvim: Neovim) -> None:
    for mode in ("n", "x"):
        assert not [m for m in nvim.api.api.get_keymap(mode) if "idstream" in m.get("rhs", "") and m["lhs"][0] != "<"]
    assert nvim.lua("return vim.fn.maparg('<Plug>(MidstreamSend)', 'n')") == "<Cmd>Midstream send<CR>"


def test_the_status_line_names_provider_state_and_what_waits(asking: Neovim) -> None:
    assert asking.lua("return require('midstream').statusline()") == ""
    asking.open("run touch made.txt")
    asking.until("require('midstream').statusline():find('rehearsal · waiting', 1, true)")
    assert asking.lua("return require('midstream').status().waiting") == 1


def test_the_status_line_on_the_screen_follows_the_thread(nvim: Neovim) -> None:
    nvim.api.command("set laststatus=3 statusline=%{%v:lua.require'midstream'.statusline()%}")
    shown = (
        "vim.iter(vim.fn.range(1, vim.o.columns)):map(function(column) "
        "return vim.fn.screenstring(vim.o.lines - 1, column) end):join(''):find(..., 1, true)"
    )
    nvim.open("say: hello\nsleep 20000")
    nvim.until(shown, "rehearsal · running")
    nvim.api.command("aboveleft new")
    nvim.do("interrupt")
    nvim.until(shown, "rehearsal · idle")
    nvim.do("switch understudy")
    nvim.until(shown, "understudy · idle")


def test_autocommands_tell_of_a_threads_life(nvim: Neovim) -> None:
    nvim.open("ask: which colour?")
    nvim.until("vim.list_contains(_G.fired, 'MidstreamRequestOpened')")
    nvim.do("interrupt")
    nvim.until("vim.list_contains(_G.fired, 'MidstreamRunEnded')")
    nvim.do("switch understudy")
    nvim.until("vim.list_contains(_G.fired, 'MidstreamProviderSwitched')")
    fired = nvim.lua("return _G.fired")
    assert {"MidstreamConnected", "MidstreamThreadOpened", "MidstreamRunStarted", "MidstreamRequestClosed"} <= set(
        fired
    )


def test_help_has_a_tag_for_every_subcommand_and_option(nvim: Neovim, tmp_path: Path) -> None:
    nvim.api.command(f"helptags {PLUGIN / 'doc'}")
    (PLUGIN / "doc" / "tags").rename(tmp_path / "tags")
    tags = {line.split("\t")[0] for line in (tmp_path / "tags").read_text().splitlines()}
    commands = nvim.lua("return vim.tbl_keys(require('midstream.commands').table)")
    options = nvim.lua("return vim.tbl_keys((require('midstream.config').resolve(nil)))")
    assert {f":Midstream-{name}" for name in commands} <= tags
    assert {f"midstream-config.{name}" for name in [*options, "data_dir", "daemon", "provider"]} <= tags


def test_the_generated_types_are_those_of_the_schema() -> None:
    script = PLUGIN / "scripts" / "generate_types.py"
    assert subprocess.run([sys.executable, str(script)], check=False).returncode == 0


def test_exactly_the_requests_that_change_something_have_an_id(nvim: Neovim) -> None:
    sources = "".join(module.read_text() for module in PLUGIN.rglob("*.lua"))
    called = set(re.findall(r"""client\.call[(,]\s*"(\w+/\w+)\"""", sources))
    assert len(called) > 25
    for method in called:
        takes = "command_id" in attrs.fields_dict(METHODS[method].params)
        assert nvim.lua("return require('midstream.methods').changes(...)", method) == takes, method
    made = nvim.lua("return require('midstream.methods').command_id()")
    assert str(uuid.UUID(made)) == made
    assert uuid.UUID(made).version == 4


def test_modules_are_small() -> None:
    for module in PLUGIN.rglob("*.lua"):
        if module.name != "types.lua":
            assert len(module.read_text().splitlines()) < 250, module
