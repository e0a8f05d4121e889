"""Switching to the real Codex and away from it: what reaches its model, byte for byte."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from scenarios.steps import conversation, handoff_of, strategy
from support.codex import handed_over, user_texts
from support.editor import Editor
from support.models.server import ModelServer
from support.switches import founding


def last_request(model: ModelServer, text: str) -> dict[str, Any]:
    """Return the last request whose newest message is this text."""
    return next(body for body in reversed(model.requests) if user_texts(body)[-1:] == [text])


@pytest.mark.parametrize(("first", "second"), [("codex", "rehearsal"), ("rehearsal", "codex")])
async def test_runs_1_to_5_6_to_8_and_9_reach_each_agent_exactly_once(
    editor: Editor, model: ModelServer, workspace: Path, first: str, second: str
) -> None:
    told = await founding(editor, workspace, first, second)
    if first == "codex":
        seen = last_request(model, told.texts[8])
        assert user_texts(seen) == [*told.texts[:5], told.texts[8]]
        assert handed_over(seen) == told.delta.sent_text
    else:
        seen = last_request(model, told.texts[7])
        assert (user_texts(seen), handed_over(seen)) == ([*told.texts[5:8]], told.full.sent_text)
    assert all((workspace / f"first{n}.txt").read_text() == f"{n}\n" for n in (1, 5, 9))


async def test_a_long_handoff_reaches_the_model_whole_just_before_the_users_words_and_without_authority(
    editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace, "rehearsal")
    for n in range(4):
        await editor.say(thread, f"say: {n} café \U0001f600 " + "long words " * 900)
    run = await editor.say(thread, "say: hello", "codex")
    handoff = await handoff_of(editor, run)
    assert len(handoff.sent_text.encode()) > 20_000
    assert handoff.delivery is not None
    assert (handoff.delivery.channel, handoff.delivery.status) == ("nativeData", "delivered")

    (body,) = model.requests
    assert hashlib.sha256(handed_over(body).encode()).hexdigest() == handoff.delivery.sha256
    assert handed_over(body) == handoff.sent_text
    assert user_texts(body) == ["say: hello"]
    before = [item for item in body["input"] if item["type"] == "function_call_output"]
    assert body["input"][-len(before) - 1 :] == [*before, body["input"][-1]]
    with_authority = json.dumps([item for item in body["input"] if item not in before])
    assert "long words" not in with_authority
    assert "long words" not in json.dumps(body.get("instructions"))


async def test_an_old_order_in_a_handoff_is_data_to_codex(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace, "rehearsal")
    await editor.say(thread, "write a.txt: one")
    (workspace / "a.txt").unlink()
    run = await editor.say(thread, "say: hello", "codex")
    assert (run.status, strategy(run)) == ("completed", "full_thread_summary")
    assert not (workspace / "a.txt").exists()


async def test_a_handoff_stays_in_codexs_history(editor: Editor, model: ModelServer, workspace: Path) -> None:
    thread = await editor.new_thread(workspace, "rehearsal")
    await editor.say(thread, "write a.txt: one")
    run = await editor.say(thread, "say: two", "codex")
    later = await editor.say(thread, "say: three")
    assert (later.provider, later.handoff_ids) == ("codex", ())
    assert handed_over(model.requests[-1]) == (await handoff_of(editor, run)).sent_text
    assert conversation(await editor.read(thread), "codex").native_run_ordinals == (2, 3)
