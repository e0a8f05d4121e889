"""The last line of a handoff: the exact call that returns what it leaves out, where the target can make one."""

import json
import re
from typing import Any

import attrs
import pytest

from midstream.protocol.records.item import AgentMessageItem, CommandItem, UserMessageItem
from midstream.server.handoff.build import Built, build, minimum_tokens
from midstream.server.handoff.leftovers import everything
from midstream.server.handoff.material import Material
from midstream.server.handoff.naming import parse_ranges, ranges
from midstream.server.handoff.summary import Written
from support.materials import material
from support.records import item

NONCE = "0123456789abcdef"
CALL = re.compile(r"; whole by midstream's tool history (\{.*\})$")


def long(**fields: Any) -> Material:
    """Runs 2, 3 and 5 with more messages and commands than any budget here takes."""
    asked = item(UserMessageItem, 1, 2, text="Build it.")
    said = (item(AgentMessageItem, n, 3, text=f"I moved module_{n} into part_{n}.py.") for n in range(2, 200))
    ran = (item(CommandItem, n, 5, command=f"make target_{n}") for n in range(200, 300))
    made = material(asked, *said, *ran, readable=True)
    return attrs.evolve(made, runs=tuple(run for run in made.runs if run.ordinal in (2, 3, 5)), **fields)


def last_line(built: Built) -> str:
    return built.summary_text.split("\n")[-1]


def named(built: Built) -> dict[str, str]:
    call = CALL.search(last_line(built))
    assert call is not None
    arguments: dict[str, str] = json.loads(call[1])
    return arguments


def test_the_call_names_the_runs_told_of_and_each_section_that_lacks_something() -> None:
    built = build(long(), budget_tokens=600, nonce=NONCE)
    lacking = [section.kind for section in built.sections if section.omitted or section.shortened]
    assert named(built) == {"runs": "2-3,5", "sections": ",".join(lacking)}
    assert "conversation" in lacking
    assert last_line(built).startswith(f"# Left out: {built.sections[-2].omitted} commands")


def test_a_section_told_in_part_alone_is_named_too() -> None:
    text = " ".join(f"Then I looked at part_{n}.py and found module_{n}." for n in range(300))
    made = material(item(UserMessageItem, 1, text="Go."), item(AgentMessageItem, 2, text=text), readable=True)
    built = build(made, budget_tokens=500, nonce=NONCE)
    (said,) = [section for section in built.sections if section.kind == "conversation"]
    assert (said.omitted, said.shortened) == (0, 1)
    assert named(built)["sections"] == "conversation"
    assert last_line(built).startswith("# Left out: parts; ")


def test_a_handoff_that_tells_all_names_no_call() -> None:
    built = build(long(), budget_tokens=100_000, nonce=NONCE)
    assert "Left out" not in built.summary_text


def test_a_target_without_the_reader_is_told_what_is_left_out_and_no_call() -> None:
    built = build(long(readable=False), budget_tokens=600, nonce=NONCE)
    assert re.fullmatch(r"# Left out: \d+ commands, \d+ conversation", last_line(built))


@pytest.mark.parametrize("budget", range(400, 1_400, 50))
def test_the_call_is_counted_in(budget: int) -> None:
    built = build(long(), budget_tokens=budget, nonce=NONCE)
    assert built.tokens.estimated <= budget
    assert named(built)
    assert minimum_tokens(long()) <= 400


def test_what_a_checkpoints_summary_does_not_tell_of_is_named() -> None:
    built = build(long(strategy="checkpoint_summary"), budget_tokens=16_000, nonce=NONCE)
    assert named(built) == {"runs": "2-3,5", "sections": "commands,conversation"}


def test_what_a_providers_summary_stands_for_is_named() -> None:
    written = Written(provider="claude", statements=("All was moved (r3).",))
    built = build(long(), budget_tokens=16_000, nonce=NONCE, written=written)
    assert named(built)["sections"] == "commands,conversation"


def test_what_was_left_out_and_what_was_told_make_the_whole() -> None:
    made = long()
    built = build(made, budget_tokens=600, nonce=NONCE)
    whole = {section.kind: section for section in everything(made, named(built)["sections"].split(","))}
    for section in (section for section in built.sections if section.kind in whole):
        assert len(whole[section.kind].entries) == len(section.entries) + section.omitted
    assert whole["commands"].entries[0].text == "`make target_200`: exit code 0 r5"


@pytest.mark.parametrize("ordinals", [(1,), (1, 2, 3), (2, 3, 5), (1, 3, 5, 6)])
def test_runs_put_in_short_are_read_back(ordinals: tuple[int, ...]) -> None:
    assert parse_ranges(ranges(ordinals, ","), 6) == ordinals
    assert parse_ranges(ranges(ordinals), 6) == ordinals


@pytest.mark.parametrize("text", ["", "a", "1-", "-3", "1,,2", "1;2", "1-2-3"])
def test_what_names_no_runs_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="name"):
        parse_ranges(text, 9)


def test_a_range_without_end_costs_nothing() -> None:
    assert parse_ranges("1-99999999999999999999", 3) == (1, 2, 3)
