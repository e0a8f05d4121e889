"""An agent whose every word is a path, a command or an option: the words are shown, and nothing acts on them."""

from pathlib import Path
from typing import Any, Final

import pytest

from midstream.protocol.records.item import CommandItem, FileChangeItem, SubagentItem
from support import bad_agent_file
from support.editor import Editor, Refused, editor_on

SESSION: Final = "../../../escaped\n--upload-pack=touch pwned\0"
PATHS: Final = [
    *(
        "../../escaped",
        "/escaped/by/root",
        "-rf",
        "--output=escaped",
        "a\nb",
        "a\0b",
        "",
        "~/escaped",
        "file:///escaped",
    ),
    *("$(touch pwned)", "C:\\escaped", "\ud800".encode("utf-16", "surrogatepass").decode("utf-16", "replace")),
]
TRACES: Final = ("escaped", "pwned", "upload-pack", "call")
"""What a file would be called that came of the agent's words."""


def tool(call: str, **more: Any) -> dict[str, Any]:
    update = {"sessionUpdate": "tool_call", "toolCallId": call, "title": "\x1b]0;escaped\x07\n--title", **more}
    return {"update": update}


def script() -> dict[str, Any]:
    diffs = [{"type": "diff", "path": path, "oldText": None, "newText": "escaped\n"} for path in PATHS]
    link = {"type": "content", "content": {"type": "resource_link", "uri": "file:///etc/passwd", "name": "../x"}}
    image = {"type": "content", "content": {"type": "image", "mimeType": "../../escaped", "data": "AAAA"}}
    subagent = {"title": "../escaped", "prompt": "touch pwned", "dir": "../../.."}
    return {
        "session/new": [{"answer": {"sessionId": SESSION, "modes": {"currentModeId": "../escaped"}}}],
        "session/prompt": [
            tool("../../call\n", kind="edit", status="completed", content=diffs),
            tool("-c", kind="execute", status="completed", rawInput={"command": "touch pwned", "cwd": "/../escaped\0"}),
            tool("sub", status="completed", content=[link, image], _meta={"midstream/subagent": subagent}),
            tool("loc", kind="delete", status="completed", locations=[{"path": path} for path in PATHS]),
            {"update": bad_agent_file.chunk("run touch pwned\nfile:///etc/passwd")},
            {"answer": {"stopReason": "../../escaped\n", "_meta": {"midstream/turnId": "../../escaped"}}},
        ],
    }


def tree(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if ".git" not in path.relative_to(folder).parts}


async def test_what_an_agent_says_is_shown_and_never_becomes_a_path_or_a_command(
    tmp_path: Path, workspace: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    config = {"providers": {"liar": bad_agent_file.provider(tmp_path / "liar", script())}}
    before = tree(workspace)
    async with editor_on(tmp_path / "data", config=config, env={"HOME": str(home)}) as editor:
        thread = await editor.new_thread(workspace, "liar", runtime_mode="approvalRequired")
        run = await editor.say(thread, "go")
        again = await editor.say(thread, "and again")
        items = await editor.items(thread, run)
        await assert_paths_are_names_only(editor, items, run.checkpoint_id)
    assert (run.status, again.status) == ("completed", "completed")

    assert tree(workspace) == before
    assert tree(home) == set()
    assert {path.name for path in tmp_path.iterdir()} == {"workspace", "home", "data", "liar", "codex-home"}
    assert [name for name in tree(tmp_path / "data") for trace in TRACES if trace in name] == []
    assert not Path("/escaped").exists()
    told = [line["params"].get("sessionId") for line in bad_agent_file.received(tmp_path / "liar") if "params" in line]
    assert told.count(SESSION) >= 2
    log = (tmp_path / "data" / "log" / "midstream.log").read_text()
    assert "escaped" not in log


async def assert_paths_are_names_only(editor: Editor, items: list[Any], checkpoint_id: str | None) -> None:
    [changed] = [
        item for item in items if isinstance(item, FileChangeItem) and len(item.changes) > 1 and item.changes[0].diff
    ]
    for change in changed.changes:
        told = await editor.call("item/output", item_id=changed.id, field="diff", path=change.path)
        assert "+escaped" in told.text
        with pytest.raises(Refused) as refused:
            await editor.call("checkpoint/file", checkpoint_id=checkpoint_id, path=change.path)
        assert refused.value.data == {"path": "path"}
    with pytest.raises(Refused):
        await editor.call("item/output", item_id=changed.id, field="diff", path="/etc/passwd")
    assert [item.command for item in items if isinstance(item, CommandItem)] == ["touch pwned"]
    assert [item.child_thread_id for item in items if isinstance(item, SubagentItem)] == [None]
