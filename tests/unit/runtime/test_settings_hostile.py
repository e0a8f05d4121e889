"""Configuration files and client options that nobody would write on purpose: each costs itself only."""

import os
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midstream.protocol.nesting import DEEPEST
from midstream.protocol.records.config import Config
from midstream.server.runtime.settings import FILE_BYTES, KEY_SHOWN, PROBLEMS, merge, read_file
from support.hostile import JSON, nested

PIECES: Final = st.sampled_from(
    [b"[", b"]", b"[[", b"]]", b"=", b"=", b'"', b"'", b'"""', b"{", b"}", b",", b".", b"\n", b"\n", b"#", b"\\u0000",
     b"handoff", b"providers", b"budget_tokens", b"sessions", b"idle_minutes", b"command", b"driver", b'"acp"', b"env",
     b"1", b"-0", b"0x_", b"1e400", b"nan", b"inf", b"1979-05-27", b"true", b"\xff", b"\0", "ä".encode()]
)  # fmt: skip
NAMES: Final = [
    *("providers", "handoff", "checkpoints", "sessions", "budgetTokens", "maxMissedRuns", "keep", "keepDays"),
    *("idleMinutes", "summarizer", "codex", "driver", "command", "env", "settings", "label", "model"),
]
TABLES: Final = st.dictionaries(
    st.sampled_from(NAMES) | st.text(max_size=3),
    JSON | st.dictionaries(st.sampled_from(NAMES), JSON | st.dictionaries(st.sampled_from(NAMES), JSON, max_size=3)),
    max_size=4,
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile") / "config.toml"


def only_problem(path: Path) -> str:
    """Return what is wrong with a file that costs itself, and nothing else."""
    merged = read_file(path, Config())
    (problem,) = merged.problems
    assert merged.config == Config()
    assert str(path) in problem.message
    return problem.message


@given(st.lists(PIECES, max_size=30).map(b"".join) | st.binary(max_size=40))
def test_any_bytes_are_a_configuration_or_a_problem(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    assert isinstance(read_file(file, Config()).config, Config)


@settings(max_examples=40)
@given(TABLES)
def test_any_options_are_a_configuration_or_a_problem(tables: dict[str, object]) -> None:
    assert isinstance(merge(Config(), tables, "options").config, Config)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xff\xfe", "utf-8"),
        (b'a = "\0"', "Illegal character"),
        (b"a = " + nested(5000).encode(), "deep"),
        (b"a = " + b"{a=" * 5000, "deep"),
        (b"[handoff]\nbudget_tokens = " + b"1" * 5000, "digits"),
        (b"a = 1\na = 2", "overwrite"),
        (b"#" * (FILE_BYTES + 1), f"larger than {FILE_BYTES} bytes"),
    ],
    ids=["no utf-8", "nul", "deep arrays", "deep tables", "thousands of digits", "a key twice", "large"],
)
def test_a_file_that_cannot_be_held_is_one_problem(file: Path, content: bytes, words: str) -> None:
    file.write_bytes(content)
    assert words in only_problem(file)


def test_a_pipe_nobody_writes_to_a_folder_and_an_endless_device_are_not_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, Path("/dev/zero")):
        assert "is no regular file" in only_problem(path)


def test_of_a_file_of_10_gb_no_more_than_the_limit_is_read(file: Path) -> None:
    with file.open("wb") as large:
        large.truncate(10_000_000_000)
    assert f"larger than {FILE_BYTES} bytes" in only_problem(file)


def test_a_file_may_be_a_link_to_where_its_owner_keeps_it(file: Path, tmp_path: Path) -> None:
    file.write_bytes(b"[handoff]\nbudget_tokens = 7")
    link = tmp_path / "link.toml"
    link.symlink_to(file)
    assert read_file(link, Config()).config.handoff.budget_tokens == 7


def test_a_value_too_deep_to_be_kept_costs_its_table(file: Path) -> None:
    name = ".".join(["a"] * (DEEPEST + 1))
    file.write_text(f'[providers.x]\ndriver = "acp"\nsettings.{name} = 1\n[handoff]\nbudget_tokens = 7\n')
    merged = read_file(file, Config())
    assert [problem.key for problem in merged.problems] == ["providers"]
    assert (merged.config.providers, merged.config.handoff.budget_tokens) == (Config().providers, 7)


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('command = ["a\\u0000b"]', "command[0]"),
        ('command = ["a", "\\u0000"]', "command[1]"),
        ('command = [""]', "command[0]"),
        ('env = {"A=B" = "c"}', "env"),
        ('env = {"" = "c"}', "env"),
        ('env = {A = "\\u0000"}', "env"),
    ],
)
def test_a_command_that_no_process_can_be_started_with_is_named(file: Path, line: str, key: str) -> None:
    file.write_text(f'[providers.x]\ndriver = "acp"\n{line}\n')
    merged = read_file(file, Config())
    assert [problem.key for problem in merged.problems] == [f"providers.x.{key}"]
    assert "x" not in merged.config.providers


def test_of_a_million_problems_the_first_are_told_and_long_names_are_cut() -> None:
    tables: dict[str, object] = {f"{number}{'x' * 50_000}": 1 for number in range(200)}
    problems = merge(Config(), tables, "options").problems
    assert len(problems) == PROBLEMS
    assert max(len(problem.key) for problem in problems) == KEY_SHOWN + 1


@pytest.mark.parametrize("number", ["nan", "inf", "1" + "0" * 400, "1" + "0" * 30])
def test_a_number_beyond_all_sense_costs_its_key(file: Path, number: str) -> None:
    file.write_text(f"[handoff]\nbudget_tokens = {number}\n[checkpoints]\nkeep = 5\n")
    merged = read_file(file, Config())
    assert [problem.key for problem in merged.problems] == ["handoff.budgetTokens"]
    assert merged.config.checkpoints.keep == 5
