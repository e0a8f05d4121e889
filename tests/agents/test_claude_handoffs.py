"""Switching to the real Claude Code and away from it: what reaches its model, byte for byte."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from scenarios.steps import conversation, handoff_of, strategy
from support.claude import user_blocks
from support.codex import handed_over, user_texts
from support.editor import Editor
from support.models.server import ModelServer
from support.switches import founding


def last_request(model: ModelServer, text: str) -> dict[str, Any]:
    """Return the last request to Claude's model whose newest message is this text."""
    return next(body for body in reversed(model.requests) if "messages" in body and user_blocks(body)[-1:] == [text])


@pytest.mark.parametrize(("first", "second"), [("claude", "rehearsal"), ("rehearsal", "claude")])
async def test_runs_1_to_5_6_to_8_and_9_reach_each_agent_exactly_once(
    claude_editor: Editor, model: ModelServer, workspace: Path, first: str, second: str
) -> None:
    told = await founding(claude_editor, workspace, first, second)
    if first == "claude":
        seen = user_blocks(last_request(model, told.texts[8]))
        assert seen == [*told.texts[:5], told.delta.sent_text, told.texts[8]]
    else:
        seen = user_blocks(last_request(model, told.texts[7]))
        assert seen == [told.full.sent_text, *told.texts[5:8]]
    assert all((workspace / f"first{n}.txt").read_text() == f"{n}\n" for n in (1, 5, 9))


async def test_a_handoff_is_a_block_of_its_own_just_before_the_users_words_and_without_authority(
    claude_editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await claude_editor.new_thread(workspace, "rehearsal")
    for n in range(4):
        await claude_editor.say(thread, f"say: {n} café \U0001f600 " + "long words " * 900)
    run = await claude_editor.say(thread, "say: hello", "claude")
    handoff = await handoff_of(claude_editor, run)
    assert len(handoff.sent_text.encode()) > 20_000
    assert handoff.delivery is not None
    assert (handoff.delivery.channel, handoff.delivery.status) == ("separateBlock", "delivered")

    (body,) = model.requests
    sent, words = user_blocks(body)
    assert (sent, words) == (handoff.sent_text, "say: hello")
    assert hashlib.sha256(sent.encode()).hexdigest() == handoff.delivery.sha256
    content = body["messages"][-1]["content"]
    assert [block["text"] for block in content][-2:] == [sent, words]
    elsewhere = json.dumps([body["system"], body["messages"][:-1], content[:-2]])
    assert "long words" not in elsewhere


async def test_nothing_in_a_handoff_or_a_pasted_text_is_a_command_or_names_a_file_to_read(
    claude_editor: Editor, model: ModelServer, workspace: Path
) -> None:
    (workspace / "secret.txt").write_text("what only the file says")
    thread = await claude_editor.new_thread(workspace, "rehearsal")
    await claude_editor.say(thread, "/clear\n@secret.txt")
    run = await claude_editor.say(thread, "/compact @secret.txt", "claude")
    handoff = await handoff_of(claude_editor, run)
    assert run.status == "completed"
    (body,) = model.requests
    assert user_blocks(body) == [handoff.sent_text, "/compact @secret.txt"]
    assert "what only the file says" not in json.dumps(body)


async def test_an_old_order_in_a_handoff_is_data_to_claude(claude_editor: Editor, workspace: Path) -> None:
    thread = await claude_editor.new_thread(workspace, "rehearsal")
    await claude_editor.say(thread, "write a.txt: one")
    (workspace / "a.txt").unlink()
    run = await claude_editor.say(thread, "say: hello", "claude")
    assert (run.status, strategy(run)) == ("completed", "full_thread_summary")
    assert not (workspace / "a.txt").exists()


async def test_a_handoff_stays_in_claudes_history_where_it_was(
    claude_editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await claude_editor.new_thread(workspace, "rehearsal")
    await claude_editor.say(thread, "write a.txt: one")
    run = await claude_editor.say(thread, "say: two", "claude")
    later = await claude_editor.say(thread, "say: three")
    assert (later.provider, later.handoff_ids) == ("claude", ())
    sent = (await handoff_of(claude_editor, run)).sent_text
    assert user_blocks(model.requests[-1]) == [sent, "say: two", "say: three"]
    first, second = (_without_cache_marks(body["messages"]) for body in model.requests)
    assert second[: len(first)] == first  # what the prompt cache has stays a prefix
    assert conversation(await claude_editor.read(thread), "claude").native_run_ordinals == (2, 3)


def _without_cache_marks(messages: list[dict[str, Any]]) -> list[Any]:
    return [
        (message["role"], [{**block, "cache_control": None} for block in message["content"]]) for message in messages
    ]


@pytest.mark.parametrize(("first", "second"), [("codex", "claude"), ("claude", "codex")])
async def test_codex_and_claude_play_runs_1_to_9_and_each_is_told_what_the_other_did(
    both_editor: Editor, model: ModelServer, workspace: Path, first: str, second: str
) -> None:
    told = await founding(both_editor, workspace, first, second)
    codex, claude = told.texts[7 if second == "codex" else 8], told.texts[7 if second == "claude" else 8]
    seen_by_codex = next(b for b in reversed(model.requests) if "input" in b and user_texts(b)[-1:] == [codex])
    seen_by_claude = user_blocks(last_request(model, claude))
    if first == "codex":
        assert user_texts(seen_by_codex) == [*told.texts[:5], told.texts[8]]
        assert handed_over(seen_by_codex) == told.delta.sent_text
        assert seen_by_claude == [told.full.sent_text, *told.texts[5:8]]
    else:
        assert seen_by_claude == [*told.texts[:5], told.delta.sent_text, told.texts[8]]
        assert (user_texts(seen_by_codex), handed_over(seen_by_codex)) == (
            list(told.texts[5:8]),
            told.full.sent_text,
        )
    names = [f"first{n}.txt" for n in (1, 2, 3, 4, 5, 9)] + [f"second{n}.txt" for n in (6, 7, 8)]
    assert all((workspace / name).read_text() == f"{name[-5]}\n" for name in names)
