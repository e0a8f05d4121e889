"""Undoing hunks: the reject of an editor's diff."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from midstream.server.checkpoints import Hunk
from midstream.server.checkpoints.hunks import parse_hunks, undo
from midstream.server.checkpoints.plan import SHARED, UNSAVED
from midstream.server.checkpoints.rejects import NO_SUCH_HUNK

TEXTS = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"\r", b"\xff\n", b"\n"]), max_size=12).map(b"".join)


def hunks_of(folder: Path, old: bytes, new: bytes) -> set[Hunk]:
    (folder / "old").write_bytes(old)
    (folder / "new").write_bytes(new)
    command = ["git", "diff", "--no-index", "--text", "-U0", "old", "new"]
    return parse_hunks(subprocess.run(command, cwd=folder, capture_output=True, check=False).stdout)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(old=TEXTS, new=TEXTS, data=st.data())
def test_with_all_hunks_undone_a_file_is_the_old_one_and_each_can_be_undone_by_itself(tmp_path, old, new, data):
    hunks = hunks_of(tmp_path, old, new)
    assert undo(old, new, hunks) == old
    assert undo(old, new, []) == new
    if hunks:
        some = data.draw(st.sets(st.sampled_from(sorted(hunks, key=lambda hunk: hunk.new_start))))
        assert len(hunks_of(tmp_path, old, undo(old, new, some))) <= len(hunks) - len(some)


def test_hunk_headers_are_parsed_and_lines_that_look_like_them_are_not():
    patch = b"--- a/x\n+++ b/x\n@@ -1 +1,2 @@ def f():\n-a\n+@@ -7 +7 @@\n+c\n@@ -9,0 +11 @@\n+@@\n"
    assert parse_hunks(patch) == {Hunk(1, 1, 1, 2), Hunk(9, 0, 11, 1)}


OLD = "".join(f"line {number}\n" for number in range(1, 11))
NEW = OLD.replace("line 2\n", "two\nand more\n").replace("line 9\n", "")
TWO, NINE = Hunk(2, 1, 2, 2), Hunk(9, 1, 9, 0)


@pytest.fixture
async def first(store, workspace):
    workspace.write("text", OLD)
    captured = await store.capture(workspace.path, "thread", "1")
    workspace.write("text", NEW)
    workspace.write("new", "a\n")
    await store.capture(workspace.path, "thread", "2")
    return captured


async def test_hunks_are_undone_one_after_another(workspace, first, restore):
    done = await restore(first, hunks={b"text": (NINE,)})
    assert done.conflicts == {}
    assert workspace.file("text").read_text() == NEW.replace("line 8\n", "line 8\nline 9\n")
    await restore(first, hunks={b"text": (TWO,)})
    assert workspace.file("text").read_text() == OLD
    assert workspace.file("new").read_text() == "a\n"


async def test_edits_elsewhere_in_the_file_stay_and_are_still_a_conflict_for_a_whole_restore(workspace, first, restore):
    workspace.write("text", NEW.replace("line 5\n", "the user's\n"))
    assert (await restore(first, hunks={b"text": (TWO,)})).conflicts == {}
    assert workspace.file("text").read_text() == OLD.replace("line 9\n", "").replace("line 5\n", "the user's\n")
    assert b"text" in (await restore(first)).conflicts


async def test_a_hunk_that_is_not_there_any_more_is_a_conflict(workspace, first, restore):
    workspace.write("text", NEW.replace("and more\n", ""))
    done = await restore(first, hunks={b"text": (TWO, NINE), b"new": (Hunk(0, 0, 1, 1),), b"none": (TWO,)})
    assert done.conflicts == {b"text": NO_SUCH_HUNK, b"none": NO_SUCH_HUNK}
    assert workspace.file("new").exists()


async def test_the_only_hunk_of_a_new_file_takes_the_file_away(workspace, first, restore):
    done = await restore(first, hunks={b"new": (Hunk(0, 0, 1, 1),)})
    assert done.plan.deleted == (b"new",)
    assert not workspace.file("new").exists()
    await restore(done.safety)
    assert workspace.file("new").read_text() == "a\n"


async def test_the_hunk_of_a_deleted_file_brings_it_back(workspace, first, restore):
    workspace.file("text").unlink()
    await restore(first, hunks={b"text": (Hunk(1, 10, 0, 0),)})
    assert workspace.file("text").read_text() == OLD


async def test_a_hunk_of_a_renamed_file_is_undone_under_its_new_name(workspace, first, restore):
    workspace.file("text").rename(workspace.file("moved"))
    await restore(first, hunks={b"moved": (TWO,)})
    assert workspace.file("moved").read_text() == OLD.replace("line 9\n", "")
    assert not workspace.file("text").exists()


async def test_a_hunk_in_a_file_with_unsaved_edits_is_a_conflict(workspace, first, restore):
    done = await restore(first, hunks={b"text": (TWO,)}, dirty=frozenset({b"text"}))
    assert done.conflicts == {b"text": UNSAVED}
    assert workspace.file("text").read_text() == NEW


async def test_a_hunk_of_a_file_that_another_threads_run_changed_is_a_conflict(store, workspace, first, restore):
    before = await store.capture(workspace.path, "other", "3")
    workspace.write("text", NEW.replace("line 5\n", "the other's\n"))
    await store.capture(workspace.path, "other", "4", since=before.ref)
    assert (await restore(first, hunks={b"text": (TWO,)})).conflicts == {b"text": SHARED}
