"""The directive language, without a process."""

import pytest

from midstream.server.rehearsal.directives import (
    Append,
    Ask,
    CallTool,
    Compact,
    Crash,
    Decide,
    Delete,
    Directive,
    Done,
    Fail,
    Recall,
    Remark,
    Run,
    Say,
    Sleep,
    Stream,
    Subagent,
    Summary,
    SummaryBehaviour,
    Think,
    Todo,
    Write,
    parse,
)


@pytest.mark.parametrize(
    ("line", "directive"),
    [
        ("write a/b.txt: x: y", Write("a/b.txt", "x: y")),
        ("append a.txt: more", Append("a.txt", "more")),
        ("delete a.txt", Delete("a.txt")),
        ("run echo hi: there", Run("echo hi: there")),
        ("todo: a | b c | d", Todo(("a", "b c", "d"))),
        ("done: b c", Done("b c")),
        ("decide: use SQLite", Decide("use SQLite")),
        ("ask: Which one?", Ask("Which one?")),
        ("subagent Scout: say: found", Subagent("Scout", None, "say: found")),
        ("subagent The scout IN lib/x: write a: b", Subagent("The scout", "lib/x", "write a: b")),
        ('call read {"id": "a b"}', CallTool("read", {"id": "a b"})),
        ("call list", CallTool("list", {})),
        ("say: hello", Say("hello")),
        ("think: hmm", Think("hmm")),
        ("stream 3 10", Stream(3, 10)),
        ("sleep 20", Sleep(20)),
        ("fail: it broke", Fail(None, None, "it broke")),
        ("fail: usage_limit: no more", Fail("usage_limit", None, "no more")),
        (
            "fail: usage_limit until 2030-01-01T00:00:00Z: no more",
            Fail("usage_limit", "2030-01-01T00:00:00Z", "no more"),
        ),
        ("crash", Crash()),
        ("compact", Compact()),
        ("summary orders", Summary(SummaryBehaviour.ORDERS)),
        ("recall", Recall()),
    ],
)
def test_a_line_that_begins_with_a_directive_is_obeyed(line: str, directive: Directive) -> None:
    assert parse(line) == (directive,)


@pytest.mark.parametrize("mark", ["> ", "- ", " ", "# ", "`"])
@pytest.mark.parametrize("line", ["write a.txt: x", "run true", "crash", "recall"])
def test_a_quoted_directive_is_not_obeyed(mark: str, line: str) -> None:
    assert parse(mark + line) == (Remark(mark + line),)


@pytest.mark.parametrize("line", ["call read {broken", "call read [1]", "summary poor", "crashed", "recall it"])
def test_a_line_that_only_looks_like_a_directive_is_a_remark(line: str) -> None:
    assert parse(line) == (Remark(line),)


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r", "\u2028", "\x0c"])
def test_a_directive_is_obeyed_after_any_kind_of_line_break(line_break: str) -> None:
    assert parse(f"hello{line_break}{line_break}crash") == (Remark("hello"), Crash())
