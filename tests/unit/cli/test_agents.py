"""`midstream agents`: which agents work, why the others do not, and that none can hold it up."""

import sys
import time
from pathlib import Path

import psutil

from midstream.protocol.records.config import Config, ProviderConfig
from midstream.server.cli.probing import probed
from support.cli import midstream

SAYS_NOTHING = (sys.executable, "-S", "-c", "import time; time.sleep(600)")


def test_each_configured_agent_is_named_with_what_to_do_about_it(config: Path) -> None:
    with config.open("a") as file:
        file.write('[providers.absent]\ndriver = "acp"\ncommand = ["midstream-no-such-agent"]\n')
        file.write('[providers.loud]\ndriver = "acp"\ncommand = ["sh", "-c", "printf \'\\u001b[31mno\' >&2; exit 3"]\n')
        file.write('[providers.claude]\ndriver = "claude"\ncommand = ["/nowhere/claude"]\n')
        file.write("[handoff]\nbudget = 1\n")
    done = midstream("agents", "--config", config)
    assert done.status == 0
    assert "rehearsal (driver acp): works, version 1\n" in done.out
    assert (
        "claude (driver claude): cannot be used\n  Claude Code is not installed: /nowhere/claude cannot be" in done.out
    )
    assert "absent (driver acp): cannot be used\n  midstream-no-such-agent cannot be started" in done.out
    assert "  → Install it, or set providers.absent.command.\n" in done.out
    assert "exit status 3:  [31mno\n  → Start the command of providers.loud in a terminal" in done.out
    assert f"{config}: handoff.budget: unknown" in done.err


def test_as_json_they_are_as_on_the_wire(config: Path) -> None:
    agents = midstream("agents", "--config", config, "--json").json
    rehearsal = next(agent for agent in agents if agent["kind"] == "rehearsal")
    assert (rehearsal["driver"], rehearsal["version"], rehearsal["problem"]) == ("acp", "1", None)
    assert rehearsal["capabilities"]["resume"]


def test_that_none_can_be_used_is_its_status(tmp_path: Path) -> None:
    assert midstream("agents", "--config", tmp_path / "none.toml").status == 1


async def test_an_agent_that_says_nothing_is_given_up_and_ended(config: Path) -> None:
    silent = ProviderConfig(driver="acp", command=SAYS_NOTHING)
    began = time.monotonic()
    (provider,) = await probed(Config(providers={"silent": silent}), seconds=0.5)
    assert time.monotonic() - began < 30
    assert provider.problem is not None
    assert provider.problem.message == "silent did not answer within 0.5 s."
    assert provider.problem.action == "Start the command of providers.silent in a terminal to see what it waits for."
    assert psutil.Process().children() == []


async def test_an_agent_that_cannot_be_asked_hides_no_other() -> None:
    odd = ProviderConfig(driver="acp", command=("no\0command",))
    one, other = await probed(
        Config(providers={"odd": odd, "claude": ProviderConfig(driver="claude", command=("/nowhere/claude",))})
    )
    assert one.problem is not None
    assert one.problem.message == "odd could not be asked: ValueError: embedded null byte."
    assert other.problem is not None
