"""Searching what was said and done, over the wire."""

from pathlib import Path

import pytest

from midstream.protocol.methods.thread import SearchMatch
from midstream.protocol.records.thread import Thread
from support.editor import Editor, Refused

SECRET = "password = hunter2hunter2"


async def found(editor: Editor, workspace: Path, query: str, **params: object) -> tuple[SearchMatch, ...]:
    """Search in one workspace: the daemon is shared with other tests, whose threads hold the same words."""
    answer = await editor.call("thread/search", query=query, workspace=workspace.as_uri(), **params)
    matches: tuple[SearchMatch, ...] = answer.matches
    return matches


async def talk(editor: Editor, workspace: Path) -> Thread:
    thread = await editor.new_thread(workspace, title="About birds")
    await editor.say(thread, "think: a Nightingale sings")
    await editor.say(thread, f"write bird.txt: wren\nsay: the nightingale went; {SECRET}")
    return thread


async def test_what_was_said_and_done_is_found_newest_first_with_where_it_stands(
    editor: Editor, workspace: Path
) -> None:
    thread = await talk(editor, workspace)
    matches = await found(editor, workspace, "nightingale")
    assert {(one.thread_id, one.thread_title) for one in matches} == {(thread.id, "About birds")}
    ids = [item.id for item in await editor.items(thread)]
    places = [ids.index(one.item_id) for one in matches]
    assert places == sorted(places, reverse=True)
    assert (matches[0].run_ordinal, matches[-1].run_ordinal) == (2, 1)
    assert matches[-1].snippet == "think: a Nightingale sings"
    assert [one.item_id for one in await found(editor, workspace, "nightingale", limit=1)] == [matches[0].item_id]
    assert len(await found(editor, workspace, "bird.txt")) == 2
    for name in ("agentMessage", "completedAt", 'type":"', "%"):
        assert await found(editor, workspace, name) == ()


async def test_no_search_finds_or_shows_a_secret(editor: Editor, workspace: Path) -> None:
    await talk(editor, workspace)
    assert not any("hunter2" in one.snippet for one in await found(editor, workspace, "went; password"))
    assert await found(editor, workspace, "hunter2") == ()


async def test_words_in_the_middle_of_a_long_output_are_found(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "run seq 1 9000; printf 'the %s lies here\\n' needle; seq 1 9000")
    shown = [one.snippet for one in await found(editor, workspace, "NEEDLE lies")]
    assert any("9000 the needle lies here 1 2" in snippet for snippet in shown)


async def test_a_search_stays_in_its_workspace_and_out_of_deleted_threads(
    editor: Editor, workspace: Path, tmp_path: Path
) -> None:
    thread = await talk(editor, workspace)
    assert len(await found(editor, workspace, "wren")) > 0
    assert await found(editor, tmp_path, "wren") == ()
    await editor.call("thread/fork", thread_id=thread.id)
    await editor.call("thread/delete", thread_id=thread.id)
    assert await found(editor, workspace, "wren") == ()
    for params in ({"query": " "}, {"query": "wren", "limit": 0}):
        with pytest.raises(Refused):
            await editor.call("thread/search", **params)
