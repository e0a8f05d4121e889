"""How runs of the real Claude Code fail, each by its class, and go on afterwards."""

from pathlib import Path

import pytest

from scenarios.steps import said
from support.editor import Editor


@pytest.mark.parametrize(
    ("kind", "class_", "words"),
    [
        ("usage_limit", "usage_limit", "used up"),
        ("authentication", "authentication", "used up"),
        ("context_overflow", "context_overflow", "too long"),
        ("transport_error", "transport_error", "malformed"),
        ("validation_error", "validation_error", "used up"),
    ],
)
async def test_a_failure_of_the_model_has_its_class_and_the_conversation_goes_on(
    claude_editor: Editor, workspace: Path, kind: str, class_: str, words: str
) -> None:
    thread = await claude_editor.new_thread(workspace, "claude")
    run = await claude_editor.say(thread, f"fail: {kind}: used up")
    assert run.failure is not None
    assert (run.status, run.failure.class_) == ("failed", class_)
    assert words in run.failure.message
    assert await said(claude_editor, thread, run) == []
    after = await claude_editor.say(thread, "say: after")
    assert (after.status, after.provider_thread_id) == ("completed", run.provider_thread_id)
