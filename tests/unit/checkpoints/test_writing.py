"""Writing to a workspace that changes at the same moment, by chance or by intent."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from midstream.server.checkpoints import CheckpointError, RestoreStopped, Selection
from midstream.server.checkpoints import restore as restoring
from midstream.server.checkpoints.model import Step, Version
from midstream.server.checkpoints.writing import Unexpected, Writer
from support.workspaces import Workspace, files_of, git

MARK = ".midstream-test-"


def version(folder: Path, content: bytes, mode: str = "100644") -> Version:
    return Version(mode, git(folder, "hash-object", "--stdin", stdin=content).decode().strip())


@pytest.fixture
def do(workspace):
    """Do or undo one step."""

    def one(path: str, before: bytes | None, after: bytes | None, *, undo: bool = False, number: int = 1) -> None:
        old, new = (None if content is None else version(workspace.path, content) for content in (before, after))
        step = Step(os.fsencode(path), old, new)
        with Writer.on(workspace.path, MARK, "sha1") as writer:
            (writer.undo if undo else writer.do)(number, step, (before if undo else after) or b"")

    return one


STEPS = pytest.mark.parametrize(("before", "after"), [(b"1", b"2"), (None, b"2"), (b"1", None)])


@STEPS
def test_a_step_is_done_and_undone(workspace, do, before, after):
    if before is not None:
        workspace.write("folder/file", before)
    do("folder/file", before, after)
    assert workspace.files() == ({} if after is None else {"folder/file": after})
    do("folder/file", before, after, undo=True)
    assert workspace.files() == ({} if before is None else {"folder/file": before})


@STEPS
def test_a_step_that_was_not_begun_is_undone_by_leaving_all_as_it_is(workspace, do, before, after):
    if before is not None:
        workspace.write("file", before)
    do("file", before, after, undo=True)
    assert workspace.files() == ({} if before is None else {"file": before})


@STEPS
def test_what_is_not_as_expected_is_left_as_it_is(workspace, do, before, after):
    workspace.write("folder/file", "the user's")
    with pytest.raises(Unexpected):
        do("folder/file", before, after)
    assert workspace.files() == {"folder/file": b"the user's"}


@STEPS
def test_what_changed_after_a_step_is_not_undone(workspace, do, before, after):
    workspace.write("file", "the user's")
    do("file", before, after, undo=True)
    assert workspace.files() == {"file": b"the user's"}


def test_a_file_that_has_gone_is_unexpected(workspace, do):
    with pytest.raises(Unexpected):
        do("file", b"1", b"2")
    assert workspace.files() == {}


def test_a_changed_executable_bit_is_unexpected(workspace, do):
    workspace.write("file", "1").chmod(0o755)
    with pytest.raises(Unexpected):
        do("file", b"1", b"2")
    assert workspace.files() == {"file": b"1"}


@pytest.mark.parametrize("before", [b"1", None])
def test_a_folder_at_the_place_of_a_file_is_unexpected(workspace, do, before):
    workspace.write("file/inner", "the user's")
    with pytest.raises(Unexpected):
        do("file", before, b"2")
    assert workspace.files() == {"file/inner": b"the user's"}


@pytest.mark.parametrize(
    "path", [".git/config", "a/.GIT/hooks/x", "../outside", "a/../../outside", "/etc/passwd", "a//b", "."]
)
def test_no_path_leads_out_of_the_workspace_or_into_a_git_directory(workspace, do, path):
    workspace.write("a/file", "1")
    with pytest.raises(Unexpected):
        do(path, None, b"2")
    assert workspace.files() == {"a/file": b"1"}
    assert not (workspace.path.parent / "outside").exists()


@pytest.mark.parametrize("path", ["link/file", "folder/link/file"])
def test_no_symlink_is_followed_on_the_way(workspace, do, tmp_path, path):
    outside = Workspace(tmp_path / "outside")
    outside.write("file", "1")
    workspace.file("folder").mkdir()
    workspace.file(path).parent.symlink_to(outside.path)
    for before, after in ((b"1", b"2"), (None, b"2"), (b"1", None)):
        with pytest.raises(Unexpected):
            do(path, before, after)
        do(path, before, after, undo=True)
    assert outside.files() == {"file": b"1"}


def test_a_symlink_at_the_place_is_replaced_and_not_followed(workspace, tmp_path):
    outside = Workspace(tmp_path / "outside")
    outside.write("file", "1")
    workspace.file("link").symlink_to(outside.file("file"))
    target = os.fsencode(outside.file("file"))
    step = Step(b"link", version(workspace.path, target, "120000"), version(workspace.path, b"2"))
    with Writer.on(workspace.path, MARK, "sha1") as writer:
        writer.do(1, step, b"2")
        assert workspace.files() == {"link": b"2"}
        writer.undo(1, step, target)
    assert workspace.files() == {"link": target}
    assert outside.files() == {"file": b"1"}


CUTS: list[tuple[str, dict[str, bytes], dict[str, bytes]]] = [
    ("new file written", {"file": b"1", f"{MARK}1": b"2"}, {"file": b"1"}),
    ("old file set aside", {f"{MARK}1.old": b"1", f"{MARK}1": b"2"}, {"file": b"1"}),
    ("new file placed", {f"{MARK}1.old": b"1", f"{MARK}1": b"2", "file": b"2"}, {"file": b"1"}),
    ("new file forgotten", {f"{MARK}1.old": b"1", "file": b"2"}, {"file": b"1"}),
    ("then edited by the user", {f"{MARK}1.old": b"1", "file": b"3"}, {"file": b"3"}),
    ("an edit set aside", {f"{MARK}1.old": b"edit", f"{MARK}1": b"2"}, {"file": b"edit"}),
    (
        "an edit set aside, and the place taken",
        {f"{MARK}1.old": b"edit", "file": b"3"},
        {f"{MARK}1.old": b"edit", "file": b"3"},
    ),
]


@pytest.mark.parametrize(("there", "left"), [cut[1:] for cut in CUTS], ids=[cut[0] for cut in CUTS])
def test_a_step_cut_off_anywhere_is_undone_and_no_edit_is_lost(workspace, do, there, left):
    for name, content in there.items():
        workspace.write(name, content)
    do("file", b"1", b"2", undo=True)
    assert workspace.files() == left


def test_a_deletion_cut_off_is_undone(workspace, do):
    workspace.write(f"{MARK}1.old", "1")
    do("file", b"1", None, undo=True)
    assert workspace.files() == {"file": b"1"}


@pytest.fixture
async def planned(store, workspace):
    """A restore of two changed files, kept safe and not yet applied."""
    workspace.commit(a="1", b="1", **{"folder/c": "1"})
    first = await store.capture(workspace.path, "thread", "1")
    for name in ("a", "b", "folder/c"):
        workspace.write(name, "2")
    await store.capture(workspace.path, "thread", "2")
    async with store.restoring(workspace.path, "thread", first.ref, Selection()) as restore:
        yield restore


@pytest.fixture
def meddle(monkeypatch) -> Callable[[Callable[[], object]], None]:
    """Have something happen in the workspace once the first file was restored."""

    def arrange(happen: Callable[[], object]) -> None:
        real = Writer.do
        done: list[bytes] = []

        def do(self: Writer, number: int, step: Step, content: bytes) -> None:
            real(self, number, step, content)
            done.append(step.path)
            if len(done) == 1:
                happen()

        monkeypatch.setattr(restoring.Writer, "do", do)

    return arrange


async def test_an_edit_saved_while_files_are_restored_stops_it_and_all_is_taken_back(planned, workspace, data, meddle):
    meddle(lambda: workspace.write("folder/c", "saved just now"))
    await planned.keep("s")
    with pytest.raises(RestoreStopped, match="folder/c"):
        await planned.apply()
    assert workspace.files() == {"a": b"2", "b": b"2", "folder/c": b"saved just now"}
    assert not list(data.glob("*/restore.json"))


async def test_a_folder_swapped_for_a_symlink_while_files_are_restored_leads_nowhere(
    planned, workspace, tmp_path, meddle
):
    outside = Workspace(tmp_path / "outside")
    outside.write("c", "2")

    def swap() -> None:
        workspace.file("folder").rename(workspace.file("moved"))
        workspace.file("folder").symlink_to(outside.path)

    meddle(swap)
    await planned.keep("s")
    with pytest.raises(RestoreStopped):
        await planned.apply()
    assert outside.files() == {"c": b"2"}
    assert {name: workspace.files()[name] for name in ("a", "b", "moved/c")} == {"a": b"2", "b": b"2", "moved/c": b"2"}


async def test_a_write_that_fails_is_taken_back_and_says_why(planned, workspace, meddle):
    def fail() -> None:
        raise OSError(28, "No space left on device")

    meddle(fail)
    await planned.keep("s")
    with pytest.raises(CheckpointError, match=r"nothing was restored: .*No space left"):
        await planned.apply()
    assert workspace.files() == {"a": b"2", "b": b"2", "folder/c": b"2"}


async def test_an_edit_saved_between_the_safety_checkpoint_and_the_first_write_stops_it(planned, workspace, data):
    safety = await planned.keep("s")
    workspace.write("a", "saved just now")
    with pytest.raises(RestoreStopped):
        await planned.apply()
    assert workspace.files()["a"] == b"saved just now"
    assert files_of(data, safety.ref)[b"a"] == ("100644", b"2")
