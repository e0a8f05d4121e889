"""Threads that share a workspace never restore each other's files."""

import pytest

from midstream.server.checkpoints.plan import CHANGED, SHARED


@pytest.fixture
def run(store, workspace):
    """Take the checkpoints around a piece of work of a thread, as a run does; return both."""
    count = iter(range(10, 90))

    async def do(thread: str, path=workspace.path, **files: str):
        before = await store.capture(path, thread, f"{next(count)}", kind="baseline")
        for name, content in files.items():
            workspace.write(name, content)
        after = await store.capture(path, thread, f"{next(count)}", kind="run", since=before.ref)
        return before, after

    return do


async def test_what_another_thread_did_between_two_runs_is_left_alone(workspace, run, restore):
    _, first = await run("a", mine="1")
    await run("b", theirs="1", shared="1")
    await run("a", mine="2")
    done = await restore(first, thread="a")
    assert done.conflicts == {}
    assert workspace.files() == {"mine": b"1", "theirs": b"1", "shared": b"1"}


async def test_what_another_thread_did_after_the_last_run_is_left_alone(workspace, run, restore):
    _, first = await run("a", mine="1")
    await run("a", mine="2")
    await run("b", theirs="1")
    assert (await restore(first, thread="a")).conflicts == {}
    assert workspace.files() == {"mine": b"1", "theirs": b"1"}


async def test_a_file_that_both_changed_is_a_conflict(workspace, run, restore):
    _, first = await run("a", both="1")
    await run("a", both="2")
    await run("b", both="3")
    assert set((await restore(first, thread="a")).conflicts) == {b"both"}
    assert workspace.files() == {"both": b"3"}


async def test_a_file_of_another_thread_is_a_conflict_even_where_it_is_named(workspace, run, restore):
    _, first = await run("a", mine="1")
    await run("b", theirs="1")
    await run("a", mine="2")
    assert (await restore(first, "theirs", thread="a")).conflicts == {b"theirs": SHARED}
    assert workspace.files() == {"mine": b"2", "theirs": b"1"}


async def test_a_restore_in_a_shared_workspace_is_undone_without_touching_the_others_files(workspace, run, restore):
    _, first = await run("a", mine="1")
    await run("a", mine="2")
    await run("b", theirs="1")
    done = await restore(first, thread="a")
    await run("b", theirs="2")
    assert (await restore(done.safety, thread="a")).conflicts == {}
    assert workspace.files() == {"mine": b"2", "theirs": b"2"}


async def test_runs_that_overlap_both_claim_what_changed(store, workspace, restore):
    for thread in "ab":
        await store.capture(workspace.path, thread, f"1{thread}", kind="baseline")
    before = {thread: await store.capture(workspace.path, thread, f"2{thread}") for thread in "ab"}
    workspace.write("someones", "1")
    for thread in "ab":
        await store.capture(workspace.path, thread, f"3{thread}", kind="run", since=before[thread].ref)
    assert (await restore(before["a"], thread="a")).conflicts == {b"someones": SHARED}


async def test_the_latest_checkpoint_brings_back_own_files_only(workspace, run, restore):
    await run("b", theirs="1")
    _, latest = await run("a", mine="1")
    workspace.write("mine", "damaged")
    workspace.write("theirs", "damaged")
    assert (await restore(latest, thread="a")).conflicts == {b"mine": CHANGED}
    await restore(latest, thread="a", force=True)
    assert workspace.files() == {"mine": b"1", "theirs": b"damaged"}


async def test_threads_in_a_folder_and_in_one_around_it_share_what_is_in_both(workspace, run, restore):
    workspace.commit(**{"sub/file": "1"})
    _, first = await run("a", mine="1", **{"sub/other": "1"})
    await run("b", path=workspace.file("sub"), **{"sub/file": "2"})
    await run("a", mine="2")
    await restore(first, thread="a")
    assert workspace.files() == {"mine": b"1", "sub/other": b"1", "sub/file": b"2"}
