"""Which of the user's sentences bind the work."""

import pytest

from midstream.server.handoff.constraints import constraints


def found(text: str) -> tuple[str, ...]:
    return constraints(text)


@pytest.mark.parametrize(
    "sentence",
    [
        "Never touch the migrations.",
        "Don't add dependencies.",
        "don\u2019t commit yet",
        "Rename it without changing the concept.",
        "Only edit files below src/.",
        "It must run on Python 3.11.",
        "Use tabs, not spaces.",
        "No new files.",
        "Keep the API stable.",
        "Leave the README alone.",
        "Make sure the tests pass.",
        "The module should not import asyncio.",
        "You can't use the network.",
    ],
)
def test_a_sentence_that_forbids_limits_or_demands_is_one(sentence: str) -> None:
    assert found(sentence) == (sentence,)


@pytest.mark.parametrize(
    "text",
    [
        "Add a login page.",
        "What does this function do?",
        "Why must it be so?",
        "I can't log in.",
        "> never quoted",
        "```\nnever = 1\n```",
        "The knot is notable.",
        "Feb  9 09:07:20.570 |DEBU| never mind component=attribution session_id=28c304f6-3c5f",
        '{"level": "error", "must": "not", "code": 17}',
    ],
)
def test_requests_questions_quotes_and_code_are_none(text: str) -> None:
    assert found(text) == ()


def test_sentences_are_taken_out_of_lists_and_paragraphs_word_for_word() -> None:
    text = "Please fix it. Never push!  Thanks.\n\n- Only stdlib\n2. do not log e-mail addresses\n"
    assert found(text) == ("Never push!", "Only stdlib", "do not log e-mail addresses")
