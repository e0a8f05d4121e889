"""What each section of a handoff tells, and what later facts supersede."""

from typing import Any

import pytest

from midstream.protocol.base import Position, Range
from midstream.protocol.records.item import (
    AgentMessageItem,
    ApprovalItem,
    ChangedFile,
    CheckpointItem,
    CommandItem,
    ErrorItem,
    FileChangeItem,
    PlanItem,
    QuestionItem,
    ReasoningItem,
    SubagentItem,
    TodoItem,
    TodoStep,
    ToolItem,
    UserMessageItem,
    WebResult,
    WebSearchItem,
)
from midstream.protocol.records.request import Answer, Question
from midstream.protocol.records.run import DiagnosticsAttachment, Failure, SelectionAttachment, StoredImage
from midstream.server.handoff.brief import brief
from midstream.server.handoff.build import build
from midstream.server.handoff.entries import TITLES, Entry
from midstream.server.handoff.material import Material
from support.materials import material
from support.records import checkpoint, file, item, request, run

NONCE = "0123456789abcdef"


def section(made: Material, kind: str) -> list[Entry]:
    return [entry for each in brief(made, 16_000) if each.kind == kind for entry in each.entries]


def texts(made: Material, kind: str) -> list[str]:
    return [entry.text for entry in section(made, kind)]


def test_goals_are_the_users_words_with_what_became_of_their_run() -> None:
    made = material(
        item(UserMessageItem, 1, 1, text="Build a parser.\nIn Rust."),
        item(UserMessageItem, 2, 2, text="Now test it.", intent="steer", status="cancelled"),
    )
    assert texts(made, "goals") == [
        "r1: Build a parser.\nIn Rust.",
        "r2 (not delivered then): Now test it.",
    ]
    assert [entry.item_ids for entry in section(made, "goals")] == [("itm_1",), ("itm_2",)]


def test_attachments_are_described_and_an_image_is_never_sent() -> None:
    span = Range(start=Position(line=2, character=0), end=Position(line=4, character=0))
    attachments = (
        StoredImage(mime_type="image/png", bytes=9, sha256="ab", uri=None),
        SelectionAttachment(uri="file:///w/a.py", range=span, text="x = 1"),
        DiagnosticsAttachment(uri="file:///w/a.py", items=({"message": "unused\nname"},)),
    )
    (text,) = texts(material(item(UserMessageItem, 1, text="See.", attachments=attachments)), "goals")
    assert text.split("\n")[1:] == [
        "[image, image/png, 9 bytes, sha256 ab]",
        "[selection of file:///w/a.py, lines 3-5]",
        "x = 1",
        "[1 diagnostics of file:///w/a.py: unused name]",
    ]


def test_standing_constraints_are_verbatim_and_those_known_already_are_marked_as_repeated() -> None:
    old = item(UserMessageItem, 1, 1, text="Never touch `schema.sql`. Thanks!")
    new = item(UserMessageItem, 2, 2, text="Add a flag without changing the concept.")
    made = material(new, standing=(old, new))
    assert texts(made, "constraints") == [
        "r1 (repeated): Never touch `schema.sql`.",
        "r2: Add a flag without changing the concept.",
    ]
    assert build(made, budget_tokens=16_000, nonce=NONCE).item_ids == {"itm_2"}


def test_a_constraint_said_twice_is_told_once() -> None:
    made = material(*(item(UserMessageItem, n, n, text="Never push.") for n in (1, 2)))
    assert texts(made, "constraints") == ["r1: Never push."]


def test_decisions_are_marked_lines_reasons_answers_and_refusals() -> None:
    question = Question(id="q1", text="Which store?", options=(), multiple=False, free_text=True)
    made = material(
        item(AgentMessageItem, 1, text="Hello.\nDecision: SQLite, it is one file."),
        item(AgentMessageItem, 2, 2, text="I decided to use WAL because readers must not wait. It is fine."),
        item(QuestionItem, 3, 3, questions=(question,), answers=(Answer(question_id="q1", values=("local",)),)),
        item(ApprovalItem, 4, 4, prompt="rm -rf build", decision="decline"),
        item(AgentMessageItem, 5, 5, text="Decision: a subagent's own", parent_item_id="itm_0"),
    )
    assert texts(made, "decisions") == [
        "r1: SQLite, it is one file.",
        "r2: I decided to use WAL because readers must not wait.",
        "r3: The user answered “Which store?” with: local",
        "r4: The user declined: rm -rf build",
    ]


def test_a_file_is_told_once_with_its_lines_and_runs() -> None:
    diff = "--- a\n+++ b\n-old\n+new\n+more\n"
    made = material(
        item(FileChangeItem, 1, 2, changes=(ChangedFile(path="a.py", kind="add", diff="+x\n"),)),
        item(FileChangeItem, 2, 4, changes=(ChangedFile(path="a.py", kind="modify", diff=diff),)),
        item(FileChangeItem, 3, 4, status="failed", changes=(ChangedFile(path="b.py", kind="add"),)),
    )
    assert texts(made, "files") == ["a.py added +3 -1 r2,4"]
    assert section(made, "files")[0].item_ids == ("itm_1", "itm_2")


def test_the_checkpoint_of_a_run_knows_better_than_its_tools() -> None:
    made = material(
        item(FileChangeItem, 1, 2, changes=(ChangedFile(path="undone.py", kind="add"),)),
        item(CheckpointItem, 2, 2, files=(file("a.py", status="renamed", old_path="z.py", additions=5, deletions=2),)),
    )
    assert texts(made, "files") == ["a.py renamed from z.py +5 -2 r2"]


def test_a_test_that_failed_and_later_passed_passed() -> None:
    made = material(
        item(CommandItem, 1, 2, command="pytest -q", exit_code=1, output="E boom\n1 failed"),
        item(CommandItem, 2, 4, command="pytest  -q", exit_code=0, output="....\n4 passed\n"),
    )
    assert texts(made, "commands") == ["`pytest -q`: exit code 0 r4 4 passed"]


def test_commands_stand_in_the_order_of_their_last_outcome() -> None:
    made = material(*(item(CommandItem, n, n, command=command) for n, command in enumerate(("a", "b", "a"), 1)))
    assert texts(made, "commands") == ["`b`: exit code 0 r2", "`a`: exit code 0 r3"]


def test_a_failed_command_keeps_its_exit_code_and_the_end_of_its_output() -> None:
    output = "\n".join(f"line {n}" for n in range(100))
    (text,) = texts(material(item(CommandItem, 1, command="make", exit_code=2, output=output)), "commands")
    assert text.split("\n") == ["`make`: exit code 2 r1 line 92", *(f"line {n}" for n in range(93, 100))]


def test_a_failed_command_tells_what_failed_wherever_that_stands() -> None:
    noise = [f"ok {n}" for n in range(50)]
    output = "\n".join(["--- FAIL: TestSync", "sync_test.go:9: TypeError: no head", *noise, "exit status 1", "FAIL"])
    (text,) = texts(material(item(CommandItem, 1, command="go test", exit_code=1, output=output)), "commands")
    assert text.split("\n") == [
        "`go test`: exit code 1 r1 --- FAIL: TestSync",
        "sync_test.go:9: TypeError: no head",
        "exit status 1",
        "FAIL",
    ]


def test_a_search_without_a_match_is_no_failure() -> None:
    made = material(item(CommandItem, 1, command="rg -n TODO src", exit_code=1))
    assert texts(made, "commands") == ["`rg -n TODO src`: exit code 1 (no match) r1"]


@pytest.mark.parametrize("status", ["interrupted", "running", "cancelled"])
def test_what_never_ended_reads_interrupted_no_result(status: Any) -> None:
    made = material(
        item(CommandItem, 1, command="make", exit_code=None, status=status, output="half"),
        item(ToolItem, 2, name="search", server="docs", input={"q": "x"}, status=status),
        item(SubagentItem, 3, title="Look", status=status),
    )
    assert texts(made, "commands") == [
        "`make`: interrupted, no result r1",
        'tool docs/search {"q": "x"}: interrupted, no result r1',
    ]
    assert texts(made, "subagents") == ["Look (codex): interrupted, no result r1"]


def test_tools_and_searches_stand_among_the_commands() -> None:
    made = material(
        item(ToolItem, 1, name="deploy", input={"api_key": "hunter2hunter2"}, status="failed", output="no\nrights"),
        item(WebSearchItem, 2, query="rfc 3339", results=(WebResult(url="https://x.org"),)),
    )
    assert texts(made, "commands") == [
        'tool deploy {"api_key": "[redacted: value]"}: failed r1 no\nrights',
        "searched the web for “rfc 3339”: https://x.org r1",
    ]


def steps(*states: Any) -> tuple[TodoStep, ...]:
    return tuple(TodoStep(text=f"step {n}", status=state) for n, state in enumerate(states, 1))


def test_only_the_latest_plan_and_todo_list_are_told() -> None:
    old = item(TodoItem, 1, 1, steps=steps("running", "pending"))
    new = item(TodoItem, 2, 2, steps=steps("completed", "running", "pending"))
    made = material(item(PlanItem, 3, 1, markdown="old plan"), item(PlanItem, 4, 2, markdown="new plan"), old, new)
    plan, todo = texts(made, "plan")
    assert plan == "r2 plan proposed: new plan"
    assert todo.endswith("going on): [x] step 1\n[~] step 2\n[ ] step 3")


def test_open_requests_are_told_once_and_answered_ones_are_not() -> None:
    made = material(
        item(ApprovalItem, 1, request_id="req_1", prompt="Run make?"),
        item(ApprovalItem, 2, request_id="req_2", prompt="Read x?", status="cancelled"),
        item(ApprovalItem, 3, request_id="req_3", prompt="Write y?", decision="accept"),
        open_requests=(request("req_1", "Run make?"),),
    )
    assert texts(made, "open") == ["Waits for the user: Run make?", "r1 Never answered: Read x?"]


def test_failures_are_told_until_a_later_run_completes() -> None:
    failure = Failure(class_="usage_limit", message="out of quota", retryable=True)
    error = item(ErrorItem, 1, 2, message="socket closed")
    failed = run(2, status="failed", failure=failure)
    assert texts(material(error, runs=(run(1), failed)), "failures") == [
        "r2 failed (usage_limit): out of quota",
        "r2 error: socket closed",
    ]
    assert texts(material(error, runs=(run(1), failed, run(3))), "failures") == []


def test_a_subagent_is_told_by_its_last_result_and_not_by_its_talk() -> None:
    made = material(
        item(SubagentItem, 1, 1, title="Survey", result="old"),
        item(AgentMessageItem, 2, 2, text="inner talk", parent_item_id="itm_3"),
        item(SubagentItem, 3, 2, title="Survey", result="three callers\nall tested"),
    )
    assert texts(made, "subagents") == ["Survey (codex): completed r2 three callers\nall tested"]
    assert texts(made, "conversation") == []


def test_the_checkpoint_says_how_the_workspace_stands() -> None:
    made = material(
        checkpoint=checkpoint(run_ordinal=3, mixed=True),
        diff=(file("a", additions=3, deletions=1), file("b", additions=None, deletions=None)),
        workspace_moved=True,
    )
    assert texts(made, "checkpoint") == [
        "The workspace moved and is now file:///w; check older paths.",
        "Checkpoint ckp_1 of run 3, 2026-12-01T16:00:00.000Z: 2 file(s) changed, +3 -1; "
        "another thread's run overlapped",
    ]


def test_the_conversation_names_who_spoke_in_which_run() -> None:
    made = material(
        item(AgentMessageItem, 1, 1, text="Done."),
        item(AgentMessageItem, 2, 2, text="I was go", status="interrupted"),
        item(AgentMessageItem, 3, None, text="Before."),
    )
    assert texts(made, "conversation") == [
        "r1 codex: Done.",
        "r2 codex (interrupted): I was go",
        "the agent: Before.",
    ]


def test_reasoning_and_native_references_never_enter() -> None:
    made = material(
        item(ReasoningItem, 1, text="secret thought", native_ref="rs_1"),
        item(ToolItem, 2, name="t", native_ref="call_abc"),
        item(AgentMessageItem, 3, text="hello", native_ref="msg_1"),
    )
    sent = build(made, budget_tokens=16_000, nonce=NONCE).sent_text
    assert "hello" in sent
    assert not any(words in sent for words in ("secret thought", "rs_1", "call_abc", "msg_1"))


def test_items_told_before_are_not_told_again() -> None:
    made = material(
        item(AgentMessageItem, 1, text="old"), item(AgentMessageItem, 2, text="new"), covered_items=frozenset({"itm_1"})
    )
    assert texts(made, "conversation") == ["r1 codex: new"]


def test_sections_stand_in_the_order_of_the_design() -> None:
    made = material(
        item(AgentMessageItem, 1, text="Decision: no cache."),
        item(UserMessageItem, 2, text="Never push."),
        item(CommandItem, 3, command="make"),
        checkpoint=checkpoint(),
    )
    kinds = [each.kind for each in brief(made, 16_000)]
    assert kinds == ["goals", "constraints", "decisions", "commands", "checkpoint", "conversation"]
    assert len(TITLES) == 11
