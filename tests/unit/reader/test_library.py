"""What the reader's tools answer: whole, redacted, page by page, and of this conversation alone."""

import json
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest

from midstream.protocol.records.item import (
    AgentMessageItem,
    CommandItem,
    Item,
    ReasoningItem,
    Shortened,
    ToolItem,
    UserMessageItem,
)
from midstream.protocol.records.thread import SourcePoint
from midstream.server.checkpoints import CheckpointStore
from midstream.server.graph.events import CheckpointPut, ItemPut
from midstream.server.reader.library import Library, Unreadable
from midstream.server.reader.paging import PAGE
from midstream.server.runtime.material import BULK_BYTES
from support import records
from support.reading import MORE, PREFACE, Folder
from unit.reader.conftest import SECRET

GITHUB = "ghp_" + "q7W2" * 9


async def refused(answer: Awaitable[str]) -> str:
    with pytest.raises(Unreadable) as problem:
        await answer
    return str(problem.value)


async def pages(library: Library, tool: str, **arguments: Any) -> list[str]:
    """Return all pages, each by the call that the page before named, without our own first and last lines."""
    found: list[str] = []
    call: tuple[str, dict[str, Any]] | None = (tool, arguments)
    while call is not None:
        text = await getattr(library, call[0])(**call[1])
        assert text.startswith(PREFACE)
        more = MORE.search(text)
        found.append(MORE.sub("", text).removeprefix(PREFACE))
        call = None if more is None else (more[1], json.loads(more[2]))
    return found


def message(ordinal: int, text: str, in_run: int = 1, **fields: Any) -> Item:
    return records.item(AgentMessageItem, ordinal, in_run, text=text, **fields)


async def test_runs_are_listed_with_their_provider_and_request_page_by_page(folder: Folder) -> None:
    await folder.thread(runs=tuple(records.run(n, "claude" if n % 2 else "codex") for n in range(1, 121)))
    listed = await pages(folder.library(), "runs")
    assert len(listed) == 3
    lines = "\n".join(listed).split("\n")
    assert lines[0] == "- r1 claude, completed, checkpoint none: do it"
    assert [line.split()[1] for line in lines] == [f"r{n}" for n in range(1, 121)]


async def test_items_are_listed_page_by_page_each_once(folder: Folder) -> None:
    await folder.thread(*(message(n, f"word{n}", 1 + n % 3) for n in range(1, 131)))
    lines = "\n".join(await pages(folder.library(), "items")).split("\n")
    assert [line.split()[2] for line in lines] == [f"itm_{n}" for n in range(1, 131)]
    assert lines[1] == "- r3 itm_2 agentMessage, completed: word2"
    of_two = "\n".join(await pages(folder.library(), "items", runs="1,3")).split("\n")
    assert len(of_two) == sum(1 + n % 3 in (1, 3) for n in range(1, 131))


async def test_a_long_output_is_read_whole(folder: Folder) -> None:
    output = "".join(f"line {n}\n" for n in range(20_000))
    shown = output[:4_000] + output[-4_000:]
    mark = Shortened(field="output", head_length=4_000, tail_offset=len(output) - 4_000)
    command = records.item(CommandItem, 1, command="make", output=shown, shortened=(mark,))
    await folder.thread()
    await folder.put(folder.text("itm_1", output, "output"), ItemPut(command))
    read = await pages(folder.library(), "item", id="itm_1")
    assert len(read) > 5
    assert all(len(one) <= PAGE for one in read)
    rows = "\n".join(read).split("\n# output:\n")[1].split("\n")
    assert "\n".join(row.removeprefix("> ") for row in rows) == output


async def test_no_line_of_foreign_text_stands_at_a_lines_start(folder: Folder) -> None:
    text = "write evil.txt: x\n# Heading\n- entry\n" + "x" * (PAGE + 9) + "\nwrite evil.txt: x"
    await folder.thread(message(1, text))
    for tool, arguments in (("item", {"id": "itm_1"}), ("items", {}), ("search", {"query": "evil"})):
        for read in await pages(folder.library(), tool, **arguments):
            assert all(line[:2] in ("# ", "- ", "> ") for line in read.split("\n"))
            assert "\n# Heading" not in read


async def test_secrets_are_redacted_as_in_handoffs_in_every_tool(folder: Folder, workspace: Path) -> None:
    (workspace / ".env").write_text("PLAIN=aZ81-bY72-cX63-dW54\n")
    secrets = (SECRET, GITHUB, "aZ81-bY72-cX63-dW54", "eV45-fU36-gT27-hS18")
    text = f"known {SECRET} shape {GITHUB} of the workspace aZ81-bY72-cX63-dW54"
    shown = records.item(CommandItem, 2, command="cat old/.env", output="SHOWN=eV45-fU36-gT27-hS18")
    asked = records.item(UserMessageItem, 3, text=text)
    await folder.thread(message(1, text), shown, asked, workspace=workspace.as_uri())
    library = folder.library()
    read = [await library.item(f"itm_{n}") for n in (1, 2, 3)]
    read += [await library.items(), await library.history("1-3"), await library.search("known"), await library.runs()]
    assert not [secret for secret in secrets if secret in "\n".join(read)]
    assert "[redacted: token]" in read[0]
    assert "[redacted: known secret]" in read[0]


@pytest.mark.parametrize("secret", [SECRET, GITHUB])
async def test_a_search_does_not_tell_whether_a_secret_is_there(folder: Folder, secret: str) -> None:
    await folder.thread(message(1, f"the key is {secret} here"))
    library = folder.library()
    assert "itm_1" in await library.search("THE KEY IS")
    assert await library.search(secret[:14]) == await library.search("nothing of this kind")


async def test_a_secret_at_a_pages_end_is_not_told_in_halves(folder: Folder) -> None:
    for before in range(PAGE - 120, PAGE, 7):
        text = "x" * before + f" {GITHUB} " + "y" * 99
        await folder.put(ItemPut(records.item(AgentMessageItem, 1, text=text)))
        if before == PAGE - 120:
            await folder.thread()
        read = "".join(await pages(folder.library(), "item", id="itm_1"))
        assert GITHUB[4:12] not in read


async def test_a_search_finds_words_in_whole_outputs_whatever_their_case_and_goes_on(folder: Folder) -> None:
    items = [message(n, f"the Needle of {n}" if n % 2 else "hay") for n in range(1, 100)]
    await folder.thread(*items, records.item(ToolItem, 100, 2, name="Read", output="a needle too"))
    lines = "\n".join(await pages(folder.library(), "search", query="nEEdle")).split("\n")
    assert [line.split()[2] for line in lines] == [f"itm_{n}" for n in (*range(1, 100, 2), 100)]
    assert "There is nothing." in await folder.library().search("needles")
    assert "empty query" in await refused(folder.library().search(" "))


async def test_ids_of_another_thread_answer_as_if_they_did_not_exist(folder: Folder, workspace: Path) -> None:
    place = workspace.as_uri()
    await folder.thread(message(1, "mine"), workspace=place)
    other: dict[str, Any] = {"thread_id": "thr_2"}
    await folder.thread(
        records.item(AgentMessageItem, 2, 9, text="theirs", **other),
        records.item(AgentMessageItem, 4, None, text="theirs", **other),
        runs=(records.run(9, **other),),
        id="thr_2",
        workspace=place,
    )
    await folder.put(CheckpointPut(records.checkpoint("ckp_2", thread_id="thr_2", run_id="run_9")), thread_id="thr_2")
    library = folder.library()
    for theirs, nobodys in (("itm_2", "itm_none"), ("itm_4", "itm_none"), ("ckp_2", "ckp_none"), ("thr_2", "thr_none")):
        calls = (
            library.item,
            lambda one: library.items(after=one),
            lambda one: library.search("theirs", after=one),
            library.files,
            lambda one: library.file(one, "kept.txt"),
        )
        for call in calls:
            of_theirs, of_nobodys = await refused(call(theirs)), await refused(call(nobodys))
            assert of_theirs.replace(theirs, nobodys) == of_nobodys
    everything = [await library.runs(), await library.items(), await library.history("1-99"), await library.search("e")]
    assert "theirs" not in "\n".join(everything)
    assert "r9" not in everything[0]


async def test_an_ancestor_is_read_up_to_the_fork_and_no_further(folder: Folder, workspace: Path) -> None:
    old: dict[str, Any] = {"thread_id": "thr_0"}
    runs = tuple(records.run(n, id=f"run_0{n}", **old) for n in (1, 2, 3))
    said = [message(n, f"said {n}", id=f"itm_0{n}", run_id=f"run_0{n}", **old) for n in (1, 2, 3)]
    await folder.thread(*said, id="thr_0", runs=runs)
    for n in (1, 3):
        where = {"run_id": f"run_0{n}", "run_ordinal": n, "scope_id": workspace.as_uri()}
        await folder.put(CheckpointPut(records.checkpoint(f"ckp_0{n}", **where, **old)), thread_id="thr_0")
    fork = SourcePoint(thread_id="thr_0", run_id="run_02", item_id="itm_02")
    await folder.thread(message(3, "own", 3), runs=(records.run(3),), forked_from=fork)
    library = folder.library()
    assert [line.split()[1] for line in (await pages(library, "runs"))[0].split("\n")] == ["r1", "r2", "r3"]
    listed = await library.items()
    assert ("said 1" in listed, "said 2" in listed, "said 3" in listed, "own" in listed) == (True, True, False, True)
    assert "said 2" in await library.item("itm_02")
    assert "said 2" in await library.history("1-3")
    assert "said 3" not in await library.history("1-3")
    assert await refused(library.item("itm_03")) == "There is no item itm_03 in this conversation."
    assert "holds no file" in await refused(library.file("ckp_01", "x"))
    assert "There is no checkpoint" in await refused(library.file("ckp_03", "x"))
    assert "said 3" in await folder.library("thr_0").items()
    assert "own" not in await folder.library("thr_0").items()


async def test_what_was_rolled_back_and_reasoning_cannot_be_read(folder: Folder) -> None:
    thought = records.item(ReasoningItem, 1, text="secretly thought")
    runs = (records.run(1), records.run(2, status="rolled_back"))
    await folder.thread(thought, message(2, "taken back", 2), message(3, "kept"), runs=runs)
    library = folder.library()
    told = "\n".join([await library.runs(), await library.items(), await library.history("1-2")])
    assert "kept" in told
    assert "taken back" not in told
    assert "thought" not in told
    for gone in ("itm_1", "itm_2"):
        assert await refused(library.item(gone)) == f"There is no item {gone} in this conversation."
    assert "There is nothing." in await library.search("taken back")


async def test_history_tells_what_is_too_old_for_a_handoff_to_look_at(folder: Folder) -> None:
    long = " ".join(f"I moved module_{n} into part_{n}.py." for n in range(600))
    count = BULK_BYTES // len(long) + 20
    await folder.thread(*(message(n, f"number{n}. {long}") for n in range(1, count + 1)))
    told = "\n".join(await pages(folder.library(), "history", runs="1", sections="conversation"))
    assert [f"number{n}. I moved" in told for n in range(1, count + 1)] == [True] * count


async def test_runs_and_sections_that_are_named_wrongly_are_refused_in_words(folder: Folder) -> None:
    await folder.thread()
    assert await refused(folder.library().history("all")) == "all does not name runs; a call names them as 1-4,7."
    assert await folder.library().history("1-99999999999999999999") == PREFACE.rstrip()
    assert "There is no section all; there are goals,constraints," in await refused(
        folder.library().history("1", "goals,all")
    )


async def test_files_of_a_checkpoint_are_listed_and_read_as_they_were(folder: Folder, workspace: Path) -> None:
    (workspace / "sub").mkdir()
    (workspace / "sub" / "a.txt").write_text("".join(f"row {n}\n" for n in range(9_000)))
    (workspace / "b.bin").write_bytes(b"\0\1")
    (workspace / ".env.old").write_text("TOKEN=eV45-fU36-gT27-hS18\n")
    checkpoints = CheckpointStore(Path("checkpoints"))
    captured = await checkpoints.capture(workspace, "thr_1", "ckp_1")
    await checkpoints.aclose()
    (workspace / "sub" / "a.txt").write_text("later\n")
    (workspace / ".env.old").unlink()
    await folder.thread(workspace=workspace.as_uri())
    await folder.put(CheckpointPut(records.checkpoint(scope_id=workspace.as_uri(), ref=captured.ref)))
    library = folder.library()
    listed = (await pages(library, "files", checkpoint="ckp_1"))[0].split("\n")
    assert listed == ["- .env.old", "- b.bin", "- kept.txt", "- sub/a.txt"]
    read = await pages(library, "file", checkpoint="ckp_1", path="sub/a.txt")
    assert len(read) > 1
    assert "\n".join(read) == "\n".join(f"> row {n}" for n in range(9_000)) + "\n> "
    assert "[redacted: known secret]" in await library.file("ckp_1", ".env.old")
    assert "eV45" not in await library.file("ckp_1", ".env.old")
    assert "2 bytes that are no text" in await refused(library.file("ckp_1", "b.bin"))
    for path in ("sub", "../outside", "/etc/passwd", "nothing", "", ".git/config", "sub/../kept.txt", "--help"):
        assert await refused(library.file("ckp_1", path)) == f"Checkpoint ckp_1 holds no file {path}."
