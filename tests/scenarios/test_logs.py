"""What a daemon's logs quote of users, agents, files and secrets: nothing, unless the user asked for it."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from midstream.protocol.notifications import ThreadEvent
from support.editor import Editor, Refused, editor_on
from support.traces import files_that_hold

USER, AGENT, FILE, SECRET = "user-said-4711", "agent-said-4712", "file-named-4713", "secret-4714"
CHATTY = f"""
import sys
print("{AGENT} is no JSON", flush=True)
print("{AGENT} on stderr", file=sys.stderr)
from midstream.server.rehearsal.main import main
sys.exit(main(["--name", "chatty"]))
"""
BROKEN = f"""
import sys
sys.exit("{AGENT}: I cannot start")
"""
PROVIDERS: dict[str, Any] = {
    name: {"driver": "acp", "command": [sys.executable, "-c", code], "env": {"API_KEY": SECRET}}
    for name, code in {"chatty": CHATTY, "broken": BROKEN}.items()
}
FAULTS: list[tuple[str, dict[str, Any]]] = [
    ("thread/create", {"workspace": f"file:///{USER}"}),
    ("thread/create", {"workspace": USER, "title": USER}),
    ("thread/read", {"threadId": USER}),
    ("run/start", {"threadId": "thr_1", "message": {"text": [USER]}}),
    ("run/start", {"threadId": "thr_1", "message": {"text": USER}, "commandId": USER}),
    (f"thread/{USER}", {USER: USER}),
    ("checkpoint/file", {"checkpointId": "ckp_1", "path": f"../{USER}"}),
]


async def live_through_it(editor: Editor, workspace: Path) -> None:
    """Have users, agents and files say their words in runs that succeed, fail, are steered, crash and are refused."""
    thread = await editor.new_thread(workspace, "chatty", title=USER)
    await editor.say(thread, f"{USER}\nwrite {FILE}.txt: {FILE}\nsay: {AGENT}\nrun echo {AGENT}")
    await editor.say(thread, f"{USER}\nfail: {AGENT}")
    await editor.say(thread, f"{USER}\ncrash")
    await editor.say(await editor.new_thread(workspace, "broken"), USER)
    run = await editor.begin(thread, f"{USER}\nsay: {AGENT}\nsleep 60000", "chatty")
    await editor.until_output(run, AGENT)
    with suppress(Refused):
        await editor.call("run/steer", run_id=run.id, text=USER)
    await editor.call("run/interrupt", run_id=run.id)
    await editor.ended(run)
    for method, params in FAULTS:
        with pytest.raises(Refused):
            await editor.call_raw(method, params)
    wrong = lsp.DidChangeConfigurationParams(settings={"midstream": {"handoff": {USER: USER}}})
    editor.protocol.notify(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION, wrong)
    await editor.call("thread/delete", thread_id=thread.id)


@pytest.mark.parametrize("asked_for", [False, True])
async def test_logs_quote_nobody_unless_the_user_asked_for_it(tmp_path: Path, workspace: Path, asked_for: bool) -> None:
    data, config = tmp_path / "data", tmp_path / "config.toml"
    config.write_text(f"[log]\nbodies = {str(asked_for).lower()}\n")
    async with editor_on(data, config_file=config, config={"providers": PROVIDERS}) as editor:
        await live_through_it(editor, workspace)
        said_to_the_client = "\n".join(message.message for message in editor.log_messages)
        assert any(isinstance(told, ThreadEvent) for told in editor.told)
    for words in (USER, AGENT, FILE, SECRET):
        assert words not in said_to_the_client
        expected = ["midstream.log"] if asked_for and words == AGENT else []
        assert files_that_hold(words, data / "log") == expected
    assert "An agent wrote a line that is no message of ours" in (data / "log" / "midstream.log").read_text()
