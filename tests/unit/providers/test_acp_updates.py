"""Session updates as provider events: pure, with shapes that real agents sent."""

from pathlib import Path
from typing import Any

import pytest

from midstream.protocol.records.item import ChangedFile, TodoStep, WebResult
from midstream.server.providers.acp.diffs import changed_files
from midstream.server.providers.acp.messages import FileDiff, parse_update
from midstream.server.providers.acp.updates import Translator
from midstream.server.providers.diffs import MAX_LINES
from midstream.server.providers.drafts import (
    CommandDraft,
    FileChangeDraft,
    MessageDraft,
    SubagentDraft,
    TodoDraft,
    ToolDraft,
    WebSearchDraft,
)
from midstream.server.providers.events import (
    HistoryCompacted,
    ItemChanged,
    OutputAppended,
    ProviderEvent,
    UsageReported,
)
from support.acp_turns import chunk
from support.turns import last_of_each, of, said, written

WORKSPACE = Path("/w")


def events_of(*updates: dict[str, Any], end: bool = True) -> list[ProviderEvent]:
    translator = Translator("t", WORKSPACE)
    events: list[ProviderEvent] = []
    for update in updates:
        if (parsed := parse_update({"sessionId": "s", "update": update})) is not None:
            events += translator.translate(parsed)
    return [*events, *(translator.finish("completed") if end else ())]


def call(call_id: str = "c1", **more: object) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call", "toolCallId": call_id, **more}


def news(call_id: str = "c1", **more: object) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call_update", "toolCallId": call_id, **more}


def diff(path: str, old: str | None, new: str) -> dict[str, Any]:
    return {"type": "diff", "path": path, "oldText": old, "newText": new}


def thought(text: str) -> dict[str, Any]:
    return {**chunk(text), "sessionUpdate": "agent_thought_chunk"}


def text(words: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": words}}


def test_chunks_that_follow_each_other_are_one_item_and_others_are_their_own() -> None:
    events = events_of(thought("h"), thought("m"), chunk("a"), chunk("b"), call(title="x"), chunk("c"))
    texts = written(events)
    ends = [(event.draft, event.status, texts.get(event.ref)) for event in last_of_each(events).values()]
    assert ends == [
        (MessageDraft(type="reasoning"), "completed", "hm"),
        (MessageDraft(type="agentMessage"), "completed", "ab"),
        (ToolDraft(name="x", input=None), "interrupted", None),
        (MessageDraft(type="agentMessage"), "completed", "c"),
    ]


def test_every_appended_text_belongs_to_an_item_that_was_announced_before() -> None:
    announced: set[str] = set()
    events = events_of(chunk("a"), thought("b"), chunk("c", messageId="m"), chunk("d", messageId="m"))
    for event in events:
        if isinstance(event, ItemChanged):
            announced.add(event.ref)
        elif isinstance(event, OutputAppended):
            assert event.ref in announced
    assert said(events) == "abcd"


def test_a_message_id_that_comes_back_makes_no_second_item_of_the_same_ref() -> None:
    events = events_of(chunk("a", messageId="m"), chunk("b", messageId="n"), chunk("c", messageId="m"))
    running = [event.ref for event in of(ItemChanged, events) if event.status == "running"]
    assert running[:2] == ["m", "n"]
    assert len(set(running)) == 3


def test_news_of_a_known_call_does_not_break_a_message() -> None:
    events = events_of(call(title="x"), chunk("a"), news(status="in_progress"), chunk("b"))
    assert list(written(events).values()) == ["ab"]


def test_a_command_keeps_what_later_news_do_not_say() -> None:
    events = events_of(
        call(title="ls", kind="execute", status="pending", rawInput={"command": ["ls", "a b"], "cwd": "/w/sub"}),
        news(status="in_progress", content=[text("out")]),
        news(status="failed", rawOutput={"metadata": {"exit": 2}}),
    )
    changed = of(ItemChanged, events)
    assert [event.status for event in changed] == ["pending", "running", "failed"]
    assert changed[-1].draft == CommandDraft(command="ls 'a b'", cwd="/w/sub", output="out", exit_code=2)


def test_late_news_of_a_call_that_ended_lately_still_show() -> None:
    events = events_of(call(status="completed", content=[text("out")]), call("c2"), news(title="Found"))
    (late,) = [event for event in of(ItemChanged, events) if event.ref == "c1"][1:]
    assert late.draft == ToolDraft(name="Found", input=None, output="out")


def test_what_a_call_said_is_not_kept_for_ever() -> None:
    large = [call(f"c{n}", status="completed", content=[text("x" * 400_000)]) for n in range(5)]
    events = events_of(*large, news("c0", title="late"), news("c4", title="in time"))
    titles = [event.draft.name for event in of(ItemChanged, events) if isinstance(event.draft, ToolDraft)]
    assert titles[len(large) :] == ["in time"]


@pytest.mark.parametrize(
    ("old", "new", "kind", "unified"),
    [
        (None, "a\n", "add", "--- /dev/null\n+++ b/x.py\n@@ -0,0 +1 @@\n+a\n"),
        ("a\n", "b\n", "modify", "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"),
        ("a\n", "", "delete", "--- a/x.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"),
        ("", "a\n", "modify", "--- a/x.py\n+++ b/x.py\n@@ -0,0 +1 @@\n+a\n"),
        (
            "a\u2028b",
            "a\u2028b\n",
            "modify",
            "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\u2028b\n\\ No newline at end of file\n+a\u2028b\n",
        ),
    ],
)
def test_a_diff_becomes_a_unified_diff_with_the_path_from_the_workspace(
    old: str | None, new: str, kind: str, unified: str
) -> None:
    events = events_of(call(kind="edit", title="e", status="completed", content=[diff("/w/x.py", old, new)]))
    draft = of(ItemChanged, events)[-1].draft
    assert isinstance(draft, FileChangeDraft)
    (change,) = draft.changes
    assert (change.path, change.kind, change.diff) == ("x.py", kind, unified)


def test_a_path_outside_the_workspace_stays_and_hunks_of_one_file_are_one_change() -> None:
    changes = changed_files(
        [FileDiff(path="/w/a", old="1\n", new="2\n"), FileDiff(path="/w/a", old="8\n", new="9\n"),
         FileDiff(path="/else/b", old=None, new="x\n")], WORKSPACE,
    )  # fmt: skip
    assert [change.path for change in changes] == ["a", "/else/b"]
    assert changes[0].diff is not None
    assert changes[0].diff.count("@@ -1 +1 @@") == 2


def test_texts_too_long_to_compare_are_told_without_a_diff() -> None:
    long = "x\n" * (MAX_LINES + 1)
    (change,) = changed_files([FileDiff(path="/w/a", old="1\n", new=long)], WORKSPACE)
    assert (change.kind, change.diff) == ("modify", None)


def test_an_edit_without_a_diff_names_its_places() -> None:
    events = events_of(call(kind="delete", title="rm", locations=[{"path": "/w/x"}, {"path": "/w/x"}, {"line": 1}]))
    assert of(ItemChanged, events)[-1].draft == FileChangeDraft(changes=(ChangedFile(path="x", kind="delete"),))


def test_an_item_keeps_the_type_that_its_first_news_gave_it() -> None:
    events = events_of(call(title="patch"), news(kind="edit", status="completed", content=[diff("/w/x", "a\n", "b\n")]))
    first, last = of(ItemChanged, events)
    assert isinstance(first.draft, ToolDraft)
    assert isinstance(last.draft, ToolDraft)
    assert last.draft.output is not None
    assert "+b\n" in last.draft.output


def test_a_search_of_the_web_and_any_other_call_are_told_apart() -> None:
    link = {"type": "content", "content": {"type": "resource_link", "uri": "https://e.org", "name": "E"}}
    events = events_of(
        call("w", kind="fetch", title="Search", rawInput={"query": "q"}, content=[link], status="completed"),
        call("f", kind="fetch", title="Fetch", rawInput={"url": "https://e.org"}, status="completed"),
        call("r", kind="read", title="Read x", rawInput={"path": "x"}, content=[text("body")], status="completed"),
    )
    results = (WebResult(title="E", url="https://e.org"),)
    assert [event.draft for event in of(ItemChanged, events)] == [
        WebSearchDraft(query="q", results=results),
        ToolDraft(name="Fetch", input={"url": "https://e.org"}),
        ToolDraft(name="Read x", input={"path": "x"}, output="body"),
    ]


def test_a_plan_is_one_todo_list_that_is_replaced() -> None:
    def plan(*steps: tuple[str, str]) -> dict[str, Any]:
        return {"sessionUpdate": "plan", "entries": [{"content": step, "status": status} for step, status in steps]}

    events = events_of(plan(("a", "in_progress"), ("b", "pending")), plan(("a", "completed"), ("b", "odd")))
    first, _, last = of(ItemChanged, events)
    assert first.ref == last.ref
    done = (TodoStep(text="a", status="completed"), TodoStep(text="b", status="pending"))
    assert (last.draft, last.status) == (TodoDraft(steps=done), "completed")


def test_a_subagents_work_names_it_as_parent_and_its_messages_do_not_mix() -> None:
    told = {"midstream/subagent": {"title": "Look", "prompt": "say: x", "dir": "/w/sub"}}
    inside = {"midstream/parent": "c1"}
    events = events_of(
        call(kind="think", title="Look", _meta=told),
        chunk("outer"),
        chunk("inner", _meta=inside),
        chunk(" goes on"),
        call("c2", kind="read", title="r", _meta=inside, status="completed"),
        news(status="completed", content=[text("found")]),
    )
    items = last_of_each(events)
    assert items["c1"].draft == SubagentDraft(title="Look", prompt="say: x", result="found", folder="/w/sub")
    assert items["c2"].parent_ref == "c1"
    texts = written(events)
    messages = {event.parent_ref: texts[ref] for ref, event in items.items() if isinstance(event.draft, MessageDraft)}
    assert messages == {None: "outer goes on", "c1": "inner"}


def test_usage_and_compaction_are_told_and_the_rest_is_ignored() -> None:
    events = events_of(
        {"sessionUpdate": "usage_update", "used": 12, "size": 100},
        {"sessionUpdate": "session_info_update", "_meta": {"midstream/compaction": {"summary": "s"}}},
        {"sessionUpdate": "current_mode_update", "currentModeId": "x"},
        {"sessionUpdate": "available_commands_update", "availableCommands": []},
        {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "echo"}},
    )
    usage, compacted = events
    assert isinstance(usage, UsageReported)
    assert (usage.usage.context_tokens, usage.usage.context_window) == (12, 100)
    assert compacted == HistoryCompacted(summary="s")


@pytest.mark.parametrize(
    "update",
    [{}, {"sessionUpdate": 7}, {"sessionUpdate": "tool_call"}, {"sessionUpdate": "tool_call", "toolCallId": 5},
     {"sessionUpdate": "usage_update", "used": "many"}, {"sessionUpdate": "current_mode_update"}],
)  # fmt: skip
def test_an_update_that_says_nothing_to_us_makes_no_event(update: dict[str, Any]) -> None:
    assert events_of(update) == []


@pytest.mark.parametrize(
    "update",
    [
        {"sessionUpdate": "agent_message_chunk", "content": "text"},
        {"sessionUpdate": "plan", "entries": {"a": 1}},
        call(content="x", locations="y", rawInput=[1], rawOutput=3, title=4, kind=[], status={}, _meta="z"),
        call(content=[None, {"type": "diff"}, {"type": "terminal", "terminalId": "t"}, {"type": "content"}]),
    ],
)
def test_members_of_wrong_types_are_taken_as_absent(update: dict[str, Any]) -> None:
    assert len(last_of_each(events_of(update))) == 1
