"""Switching to the real Claude Code and away from it: what reaches its model, byte for byte."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from scenarios.steps import handoff_of
from support.claude import user_blocks
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
