"""Paths that leave the workspace, by their text or through a symlink: refused before anything is read."""

from pathlib import Path

import pytest

from support.editor import Editor, Refused
from support.paths import INSIDE, LEAVING, PLACES, named, params_with


async def test_every_answered_method_refuses_a_path_that_leaves_the_workspace(editor: Editor) -> None:
    told = editor.capabilities_told
    answered = told["capabilities"]["experimental"]["midstream"]["methods"]
    asked = [(method, steps) for method, steps in PLACES if method in answered]
    assert asked
    for method, steps in asked:
        for path in LEAVING:
            with pytest.raises(Refused) as refused:
                await editor.call_raw(method, params_with(method, steps, path))
            assert (refused.value.code, refused.value.data) == (-32602, {"path": named(steps)}), (method, path)


async def test_a_path_is_never_an_option_or_a_pattern_of_git(editor: Editor, workspace: Path) -> None:
    run = await editor.say(await editor.new_thread(workspace), "write seen.txt: seen")
    for path in INSIDE:
        with pytest.raises(Refused, match="holds no file") as refused:
            await editor.call("checkpoint/file", checkpoint_id=run.checkpoint_id, path=path)
        assert refused.value.data == {"path": "path"}
        diff = await editor.call(
            "checkpoint/diff",
            thread_id=run.thread_id,
            from_=run.baseline_checkpoint_id,
            to="workspace",
            path=path,
            patch=True,
        )
        assert (diff.files, diff.patch) == ((), "")


async def test_a_symlink_is_shown_as_a_link_and_leads_nowhere(editor: Editor, workspace: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("not for the client")
    (workspace / "file").symlink_to(outside / "secret")
    (workspace / "folder").symlink_to(outside)
    run = await editor.say(await editor.new_thread(workspace), "say: done")

    link = await editor.call("checkpoint/file", checkpoint_id=run.checkpoint_id, path="file")
    assert (link.mode, link.content) == ("120000", str(outside / "secret"))
    with pytest.raises(Refused, match="holds no file"):
        await editor.call("checkpoint/file", checkpoint_id=run.checkpoint_id, path="folder/secret")
    everything = await editor.call(
        "checkpoint/diff", thread_id=run.thread_id, from_=run.checkpoint_id, to="workspace", path="folder/secret"
    )
    assert everything.files == ()
