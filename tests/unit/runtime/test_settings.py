"""The configuration: what is merged, and what a fault costs."""

from pathlib import Path

from midstream.protocol.records.config import Config, ProviderConfig
from midstream.server.runtime.settings import merge, read_file, with_rehearsal


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(text)
    return path


def test_a_file_is_merged_key_by_key_over_the_defaults(tmp_path: Path) -> None:
    path = written(tmp_path, '[handoff]\nbudget_tokens = 5\n[providers.gemini]\ndriver = "acp"\ncommand = ["gemini"]\n')
    settings = read_file(path, Config())
    assert settings.problems == ()
    assert settings.config.handoff.budget_tokens == 5
    assert settings.config.handoff.max_missed_runs == 20
    assert list(settings.config.providers) == ["codex", "claude", "gemini"]
    assert settings.config.providers["gemini"] == ProviderConfig(driver="acp", command=("gemini",))


def test_a_providers_keys_are_merged_with_those_it_has(tmp_path: Path) -> None:
    settings = read_file(written(tmp_path, '[providers.codex]\nmodel = "small"\n'), Config())
    assert settings.config.providers["codex"] == ProviderConfig(driver="codex", model="small")


def test_a_wrong_key_is_named_with_the_file_and_what_is_allowed(tmp_path: Path) -> None:
    path = written(tmp_path, "[handoff]\nbudget = 5\nmax_handoffs = 2\n")
    settings = read_file(path, Config())
    (problem,) = settings.problems
    assert problem.key == "handoff.budget"
    assert str(path) in problem.message
    assert "budgetTokens" in problem.message
    assert settings.config.handoff.max_handoffs == 2


def test_a_wrong_type_costs_its_key_only(tmp_path: Path) -> None:
    settings = read_file(written(tmp_path, '[handoff]\nbudget_tokens = "many"\n[checkpoints]\nkeep = 5\n'), Config())
    (problem,) = settings.problems
    assert problem.key == "handoff.budgetTokens"
    assert "integer" in problem.message
    assert settings.config.handoff == Config().handoff
    assert settings.config.checkpoints.keep == 5


def test_a_value_below_what_makes_sense_is_refused(tmp_path: Path) -> None:
    settings = read_file(written(tmp_path, "[handoff]\nbudget_tokens = 0\n"), Config())
    assert [problem.key for problem in settings.problems] == ["handoff.budgetTokens"]


def test_an_unknown_driver_names_the_known_ones(tmp_path: Path) -> None:
    settings = read_file(written(tmp_path, '[providers.x]\ndriver = "telepathy"\n'), Config())
    (problem,) = settings.problems
    assert problem.key == "providers.x.driver"
    assert "codex, claude, acp" in problem.message
    assert "x" not in settings.config.providers


def test_a_file_that_is_no_toml_costs_the_file_only(tmp_path: Path) -> None:
    path = written(tmp_path, "[handoff\n")
    settings = read_file(path, Config())
    assert settings.config == Config()
    assert str(path) in settings.problems[0].message


def test_a_missing_file_is_no_fault(tmp_path: Path) -> None:
    assert read_file(tmp_path / "none.toml", Config(), named=False).problems == ()
    assert read_file(Path("/dev/null"), Config()).problems == ()


def test_a_clients_options_use_the_wires_names() -> None:
    settings = merge(Config(), {"handoff": {"budgetTokens": 7}, "checkpoints": []}, "options")
    assert settings.problems == ()
    assert settings.config.handoff.budget_tokens == 7


def test_an_unknown_table_is_named() -> None:
    settings = merge(Config(), {"colours": {}}, "options")
    assert settings.problems[0].key == "colours"


def test_the_rehearsal_agents_come_first_and_keep_their_conversations_in_the_folder(tmp_path: Path) -> None:
    providers = with_rehearsal(Config(), tmp_path).providers
    assert list(providers) == ["rehearsal", "understudy", "codex", "claude"]
    assert providers["understudy"].command is not None
    assert providers["understudy"].command[-4:] == ("--name", "understudy", "--state-dir", str(tmp_path))


def test_a_file_that_the_user_named_and_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    (problem,) = read_file(tmp_path / "none.toml", Config()).problems
    assert problem.message == f"There is no configuration file {tmp_path / 'none.toml'}."
