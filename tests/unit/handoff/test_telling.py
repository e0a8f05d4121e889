"""What of an item is kept for handoffs: clean, redacted, cut and counted, once."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midstream.protocol.records.item import (
    AgentMessageItem,
    ApprovalItem,
    ChangedFile,
    CommandItem,
    FileChangeItem,
    Item,
    ReasoningItem,
    Shortened,
    UserMessageItem,
)
from midstream.server.handoff.facts import Change, Fact, Telling, bulk, dump, load
from midstream.server.handoff.pieces import LONGEST, cut
from midstream.server.handoff.redact import Redactor
from midstream.server.handoff.telling import facts_of
from midstream.server.handoff.tokens import SAFETY, count, countable, estimate_tokens
from support.records import item

PATIENT = settings(max_examples=40, deadline=None)
KEY = "ghp_" + "a1B2" * 9


def told(made: Item, secrets: frozenset[str] = frozenset()) -> str:
    """All the foreign and own words of an item's facts."""
    facts = facts_of(made, Redactor(secrets))
    return "\n".join(
        fact.head + "".join(piece.text for piece in fact.pieces) if isinstance(fact, Telling) else fact.path
        for fact in facts
    )


@PATIENT
@given(st.text())
def test_pieces_make_the_text_again_and_none_is_long(text: str) -> None:
    text = text.encode(errors="ignore").decode()
    pieces = cut(text)
    assert "".join(piece.text for piece in pieces) == text
    assert all(len(piece.text) <= LONGEST and piece.tokens == count(piece.text) for piece in pieces)


def test_a_long_row_is_cut_between_words() -> None:
    pieces = cut("word " * 400)
    assert len(pieces) > 5
    assert all(piece.text.endswith("word ") for piece in pieces)


@PATIENT
@given(
    st.lists(
        st.one_of(
            st.builds(Telling, st.just("goals"), st.text(), st.text(), st.text(alphabet="ab. \n").map(cut)),
            st.builds(
                Change,
                st.text(),
                st.just("added"),
                st.none() | st.text(),
                st.integers(0, 10**9),
                st.integers(0, 10**9),
                st.booleans(),
            ),
        )
    ).map(tuple)
)
def test_facts_come_back_as_they_were_stored(facts: tuple[Fact, ...]) -> None:
    assert load(dump(facts)) == facts


def test_only_a_single_message_or_command_is_bulk() -> None:
    def section(made: Item) -> str | None:
        return bulk(dump(facts_of(made, Redactor())))

    assert section(item(AgentMessageItem, 1, text='It said ["told", "x"].')) == "conversation"
    assert section(item(CommandItem, 1, command="make")) == "commands"
    assert section(item(AgentMessageItem, 1, text="Decision: use WAL.")) is None
    assert section(item(UserMessageItem, 1, text="Go on.")) is None


def test_reasoning_diffs_and_what_the_user_allowed_give_nothing_to_tell() -> None:
    change = ChangedFile(path="a.py", kind="modify", diff="+password = 'x'\n-old\n")
    assert facts_of(item(ReasoningItem, 1, text="I think"), Redactor()) == ()
    assert facts_of(item(ApprovalItem, 1, prompt="May I?", decision="accept"), Redactor()) == ()
    assert facts_of(item(FileChangeItem, 1, changes=(change,)), Redactor()) == (
        Change("a.py", "modified", None, 1, 1, False),
    )


@pytest.mark.parametrize(
    "made",
    [
        item(UserMessageItem, 1, text=f"use {KEY}"),
        item(AgentMessageItem, 1, text=f"Decision: use {KEY} because it is there"),
        item(CommandItem, 1, command=f"curl -H '{KEY}'", exit_code=1, output=f"error: {KEY}"),
    ],
)
def test_a_secret_is_gone_before_anything_is_kept(made: Any) -> None:
    assert "a1B2" not in told(made)
    assert "[redacted: token]" in told(made)


def test_a_value_known_for_a_secret_is_gone_too() -> None:
    made = item(AgentMessageItem, 1, text="It says zq8-plain-4711-value there.")
    assert "4711" in told(made)
    assert "4711" not in told(made, frozenset({"zq8-plain-4711-value"}))


def test_what_a_command_shows_of_an_env_file_is_gone_whatever_it_is_called() -> None:
    made = item(
        CommandItem, 1, command="cat .env", exit_code=1, output="MODE=zq8Plain4711Value\nfailed on zq8Plain4711Value"
    )
    assert "4711" not in told(made)


def test_beside_the_cut_of_a_shortened_field_nothing_is_told_by_halves() -> None:
    head, tail = "intro\nthe key is " + KEY[:20], KEY[-8:] + " it was\nthe end"
    mark = Shortened(field="text", head_length=len(head), tail_offset=99_999)
    words = told(item(AgentMessageItem, 1, text=head + tail, shortened=(mark,)))
    assert "intro" in words
    assert "the end" in words
    assert KEY[:20] not in words
    assert KEY[-8:] not in words


@PATIENT
@given(st.text(max_size=200).map(lambda text: text.encode(errors="ignore").decode()))
def test_an_estimate_is_the_count_and_the_safety_factor(text: str) -> None:
    assert count(text) <= estimate_tokens(text) <= count(text) * SAFETY + 1


@PATIENT
@given(st.integers(0, 10**6))
def test_what_is_countable_within_a_budget_is_estimated_within_it(budget: int) -> None:
    assert countable(budget) * SAFETY <= budget + 1e-6
    assert (countable(budget) + 1) * SAFETY > budget
