"""An agent gives work to another one: a child thread, its run, and what comes back of it."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import pytest_asyncio

from midstream.protocol.records.item import SubagentItem
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Thread
from midstream.server.reader.access import Access
from midstream.server.reader.access import Refused as NotBegun
from midstream.server.runtime.delegations import AT_ONCE
from midstream.server.runtime.readers import TOKEN
from scenarios.steps import answer, handoff_of, of_type, said, selection, session_of, until_record
from support.editor import Editor, Refused, editor_on

DELEGATING: dict[str, Any] = {"reader": {"delegateTo": ["understudy", "rehearsal"]}}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def delegating(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    """An editor whose user has allowed that agents give work to both rehearsal agents."""
    async with editor_on(tmp_path_factory.mktemp("delegating") / "data", "--rehearsal", config=DELEGATING) as editor:
        yield editor


def delegate(prompt: str, provider: str = "understudy", **more: str) -> str:
    """Return the words on which a rehearsal agent gives work away."""
    return f"call delegate {json.dumps({'provider': provider, 'prompt': prompt, **more})}"


async def subagent_of(editor: Editor, thread: Thread, run: Run) -> SubagentItem:
    """Return the only subagent of a run."""
    (item,) = of_type(await editor.items(thread, run), "subagent")
    assert isinstance(item, SubagentItem)
    return item


async def child_of(editor: Editor, item: SubagentItem) -> tuple[Thread, Run]:
    """Return the thread of a subagent, and the only run in it."""
    assert item.child_thread_id is not None
    read = await editor.call("thread/read", thread_id=item.child_thread_id)
    (run,) = read.runs
    return read.thread, run


async def at_work(editor: Editor, parent: Thread) -> tuple[Thread, Run]:
    """Wait until a subagent of a thread is at work in a thread of its own, and follow that."""
    item = await until_record(editor, parent, lambda r: isinstance(r, SubagentItem) and r.status == "running")
    await editor.call("thread/subscribe", thread_id=item.child_thread_id)
    return await child_of(editor, item)


async def test_work_is_done_in_a_thread_of_its_own_and_comes_back(delegating: Editor, workspace: Path) -> None:
    thread = await delegating.new_thread(workspace)
    run = await delegating.say(thread, delegate("write b.txt: two\nsay: b.txt is there", title="Write b"))
    assert run.status == "completed"
    assert (workspace / "b.txt").read_text() == "two\n"
    item = await subagent_of(delegating, thread, run)
    assert (item.title, item.provider, item.status, item.result) == (
        "Write b",
        "understudy",
        "completed",
        "b.txt is there",
    )
    child, child_run = await child_of(delegating, item)
    assert child.lineage.parent_thread_id == thread.id
    assert child.lineage.relationship_to_parent == "subagent"
    assert child.lineage.root_thread_id == thread.id
    assert (child.title, child.forked_from) == ("Write b", None)
    assert (child_run.provider, child_run.status) == ("understudy", "completed")
    assert child_run.message.text == item.prompt == "write b.txt: two\nsay: b.txt is there"
    (tool,) = of_type(await delegating.items(thread, run), "tool")
    assert "b.txt is there" in tool.output


async def test_both_ways_are_transfers_that_can_be_listed(delegating: Editor, workspace: Path) -> None:
    thread = await delegating.new_thread(workspace)
    run = await delegating.say(thread, delegate("say: done"))
    item = await subagent_of(delegating, thread, run)
    child, child_run = await child_of(delegating, item)
    (spawned,) = (await delegating.call("transfer/list", thread_id=child.id)).transfers
    assert (spawned.type, spawned.status, spawned.created_by) == ("subagent_spawn", "consumed", "agent")
    assert (spawned.source_point.thread_id, spawned.source_point.run_id, spawned.source_point.item_id) == (
        thread.id,
        run.id,
        item.id,
    )
    assert (spawned.target_run_id, spawned.source_provider, spawned.target_provider) == (
        child_run.id,
        "rehearsal",
        "understudy",
    )
    (result,) = (await delegating.call("transfer/list", thread_id=thread.id)).transfers
    assert (result.type, result.status, result.created_by) == ("subagent_result", "consumed", "agent")
    assert (result.source_point.thread_id, result.source_point.run_id) == (child.id, child_run.id)
    assert (result.target_run_id, result.source_provider, result.target_provider) == (
        run.id,
        "understudy",
        "rehearsal",
    )


async def test_what_came_back_is_told_once_to_the_next_agent_and_never_to_the_one_that_asked(
    tmp_path: Path, workspace: Path
) -> None:
    data = tmp_path / "data"
    async with editor_on(data, "--rehearsal", config=DELEGATING) as editor:
        thread = await editor.new_thread(workspace)
        await editor.say(thread, delegate("say: the harbour light is green", "rehearsal", title="Look at the light"))
    async with editor_on(data, "--rehearsal", config=DELEGATING) as editor:
        await editor.call("thread/subscribe", thread_id=thread.id)
        switched = await editor.say(thread, "say: taken over", "understudy")
        told = [
            (section.kind, entry.text)
            for section in (await handoff_of(editor, switched)).sections
            for entry in section.entries
            if "harbour" in entry.text and section.kind != "goals"  # the user's own words are an order here
        ]
        (order, result) = told
        assert order[0] == "commands"
        assert result[0] == "subagents"
        assert result[1].startswith("Look at the light (rehearsal): completed")
        back = await editor.say(thread, "say: back", "rehearsal")
        assert "harbour" not in (await handoff_of(editor, back)).sent_text


async def test_of_two_agents_that_did_the_same_work_both_results_are_told(delegating: Editor, workspace: Path) -> None:
    thread = await delegating.new_thread(workspace)
    twice = [
        delegate(f"say: {colour}", who, title="Choose")
        for who, colour in (("understudy", "crimson"), ("rehearsal", "indigo"))
    ]
    await delegating.say(thread, "\n".join(twice))
    (handoff,) = (
        await delegating.call("handoff/preview", thread_id=thread.id, selection=selection("understudy"))
    ).handoffs
    (section,) = [section for section in handoff.sections if section.kind == "subagents"]
    assert [("crimson" in entry.text, "indigo" in entry.text) for entry in section.entries] == [
        (True, False),
        (False, True),
    ]


async def test_nobody_is_given_work_unless_the_user_has_allowed_it(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    run = await editor.say(thread, delegate("say: never"))
    (tool,) = of_type(await editor.items(thread, run), "tool")
    assert tool.status == "failed"
    assert "No MCP server offers a tool delegate" in tool.output
    assert of_type(await editor.items(thread, run), "subagent") == []


async def test_work_is_given_to_those_alone_that_the_user_named(tmp_path: Path, workspace: Path) -> None:
    config = {"reader": {"delegateTo": ["understudy"]}}
    async with editor_on(tmp_path / "data", "--rehearsal", config=config) as editor:
        thread = await editor.new_thread(workspace)
        run = await editor.say(thread, delegate("say: never", "rehearsal"))
        (tool,) = of_type(await editor.items(thread, run), "tool")
        assert "Work can be given to understudy here, not to rehearsal." in tool.output
        assert len((await editor.call("thread/list", workspace=workspace.as_uri())).threads) == 1


async def test_a_child_gives_no_work_away(delegating: Editor, workspace: Path) -> None:
    thread = await delegating.new_thread(workspace)
    run = await delegating.say(thread, delegate(delegate("say: too deep", "rehearsal")))
    child, child_run = await child_of(delegating, await subagent_of(delegating, thread, run))
    (tool,) = of_type(await delegating.items(child, child_run), "tool")
    assert "No MCP server offers a tool delegate" in tool.output


@pytest.mark.parametrize("mode", ["readOnly", "approvalRequired", "autoAcceptEdits", "fullAccess"])
async def test_a_child_may_do_what_its_parent_may(delegating: Editor, workspace: Path, mode: str) -> None:
    thread = await delegating.new_thread(workspace, runtime_mode=mode)
    run = await delegating.begin(thread, delegate("say: hello"))
    item = await until_record(delegating, thread, lambda r: isinstance(r, SubagentItem))
    child, _ = await child_of(delegating, item)
    assert child.runtime_mode == mode
    assert (await delegating.ended(run)).status == "completed"


async def test_what_a_child_asks_the_user_answers(delegating: Editor, workspace: Path) -> None:
    thread = await delegating.new_thread(workspace, runtime_mode="approvalRequired")
    run = await delegating.begin(thread, delegate("write c.txt: three\nsay: written"))
    child, child_run = await at_work(delegating, thread)
    request = await delegating.asked(child_run)
    assert request.thread_id == child.id
    assert not (workspace / "c.txt").exists()
    await answer(delegating, request)
    assert (await delegating.ended(run)).status == "completed"
    assert (workspace / "c.txt").read_text() == "three\n"
    assert (await subagent_of(delegating, thread, run)).result == "written"


async def test_a_child_that_fails_ends_no_run(delegating: Editor, workspace: Path) -> None:
    thread = await delegating.new_thread(workspace)
    run = await delegating.say(thread, delegate("fail: out of luck") + "\nsay: going on")
    assert run.status == "completed"
    item = await subagent_of(delegating, thread, run)
    assert item.status == "failed"
    assert "out of luck" in (item.result or "")
    assert "going on" in await said(delegating, thread, run)
    (result,) = (await delegating.call("transfer/list", thread_id=thread.id)).transfers
    assert (result.type, result.status, result.error) == ("subagent_result", "failed", "The work was failed.")


async def test_an_interrupt_reaches_the_child(delegating: Editor, workspace: Path) -> None:
    thread = await delegating.new_thread(workspace)
    run = await delegating.begin(thread, delegate("say: begun\nsleep 600000"))
    _, child_run = await at_work(delegating, thread)
    await delegating.until_output(child_run, "begun")
    await delegating.call("run/interrupt", run_id=run.id)
    assert (await delegating.ended(child_run)).status == "interrupted"
    assert (await delegating.ended(run)).status == "interrupted"
    assert (await subagent_of(delegating, thread, run)).status == "interrupted"


async def test_a_child_does_not_outlive_the_agent_that_waits_for_it(delegating: Editor, workspace: Path) -> None:
    thread = await delegating.new_thread(workspace)
    run = await delegating.begin(thread, delegate("say: begun\nsleep 600000"))
    _, child_run = await at_work(delegating, thread)
    await delegating.until_output(child_run, "begun")
    (known,) = (await delegating.read(thread)).provider_threads
    agent = (await session_of(delegating, known)).pid
    assert agent is not None
    psutil.Process(agent).kill()
    assert (await delegating.ended(child_run)).status == "interrupted"
    assert (await delegating.ended(run)).status == "failed"


async def test_a_parent_that_waits_for_its_child_blocks_nobody_and_is_not_mixed_with_it(
    delegating: Editor, workspace: Path
) -> None:
    thread = await delegating.new_thread(workspace)
    run = await delegating.begin(thread, delegate("write d.txt: four\nsay: begun\nsleep 600000"))
    child, child_run = await at_work(delegating, thread)
    await delegating.until_output(child_run, "begun")
    created = await delegating.call("checkpoint/list", thread_id=thread.id)
    with pytest.raises(Refused) as refused:
        await delegating.call("checkpoint/restore", checkpoint_id=created.checkpoints[0].id)
    assert refused.value.data["kind"] == "invalidState"
    await delegating.call("run/interrupt", run_id=child_run.id)
    await delegating.ended(run)
    for one in (thread, child):
        checkpoints = (await delegating.call("checkpoint/list", thread_id=one.id)).checkpoints
        assert [checkpoint.mixed for checkpoint in checkpoints if checkpoint.kind == "run"] == [False]
        (changed,) = [checkpoint.files for checkpoint in checkpoints if checkpoint.kind == "run"]
        assert [file.path for file in changed] == ["d.txt"]


async def test_a_child_is_no_fork_to_be_merged_back(delegating: Editor, workspace: Path) -> None:
    thread = await delegating.new_thread(workspace)
    run = await delegating.say(thread, delegate("say: done"))
    item = await subagent_of(delegating, thread, run)
    with pytest.raises(Refused, match="is no fork"):
        await delegating.call("thread/mergeBack", thread_id=item.child_thread_id)


async def test_a_secret_is_given_to_nobody_else(delegating: Editor, workspace: Path) -> None:
    (workspace / ".env").write_text("API_TOKEN=zq81-harbour-7731\n")
    thread = await delegating.new_thread(workspace)
    run = await delegating.say(thread, delegate("say: use zq81-harbour-7731 for it"))
    item = await subagent_of(delegating, thread, run)
    _, child_run = await child_of(delegating, item)
    assert "zq81-harbour-7731" not in child_run.message.text
    assert "zq81-harbour-7731" not in item.prompt + (item.result or "")


async def test_a_daemon_that_is_killed_leaves_parent_and_child_interrupted(tmp_path: Path, workspace: Path) -> None:
    data = tmp_path / "data"
    async with editor_on(data, "--rehearsal", config=DELEGATING) as editor:
        thread = await editor.new_thread(workspace)
        run = await editor.begin(thread, delegate("say: begun\nsleep 600000"))
        child, child_run = await at_work(editor, thread)
        await editor.until_output(child_run, "begun")
        await editor.kill()
    async with editor_on(data, "--rehearsal", config=DELEGATING) as editor:
        assert (await editor.ended(run)).status == "interrupted"
        assert (await editor.ended(child_run)).status == "interrupted"
        item = await subagent_of(editor, thread, run)
        assert (item.status, item.child_thread_id) == ("interrupted", child.id)


async def access_of(editor: Editor, thread: Thread, provider: str) -> Access:
    """Return the access that the reader of an agent at work has, which the agent itself can use too."""
    (known,) = [known for known in (await editor.read(thread)).provider_threads if known.provider == provider]
    agent = (await session_of(editor, known)).pid
    assert agent is not None
    (reader,) = [one for one in psutil.Process(agent).children(True) if "midstream.server.reader" in one.cmdline()]
    return Access(editor.data, reader.environ()[TOKEN])


async def test_a_few_agents_work_for_one_run_at_a_time(tmp_path: Path, workspace: Path) -> None:
    async with editor_on(tmp_path / "data", "--rehearsal", config=DELEGATING) as editor:
        thread = await editor.new_thread(workspace)
        run = await editor.begin(thread, "call runs {}\nsay: ready\nsleep 600000")
        await editor.until_output(run, "ready")
        access = await access_of(editor, thread, "rehearsal")
        orders = [asyncio.ensure_future(access.delegate("understudy", "sleep 600000", f"{n}")) for n in range(AT_ONCE)]
        for n in range(AT_ONCE):
            await until_record(editor, thread, lambda r, n=n: isinstance(r, SubagentItem) and r.title == f"{n}")
        with pytest.raises(NotBegun, match=f"{AT_ONCE} agents are at work"):
            await access.delegate("understudy", "say: one more", "")
        await editor.call("run/interrupt", run_id=run.id)
        for item_id in await asyncio.gather(*orders):
            (item,) = [item for item in await editor.items(thread, run) if item.id == item_id]
            assert item.status == "interrupted"


async def test_nobody_but_the_agent_of_the_run_at_work_gives_work_away(tmp_path: Path, workspace: Path) -> None:
    async with editor_on(tmp_path / "data", "--rehearsal", config=DELEGATING) as editor:
        thread = await editor.new_thread(workspace)
        await editor.say(thread, "call runs {}")
        access = await access_of(editor, thread, "rehearsal")
        with pytest.raises(NotBegun, match="Only the agent of a run that is at work"):
            await access.delegate("understudy", "say: idle", "")
        run = await editor.begin(thread, "say: ready\nsleep 600000", "understudy")
        await editor.until_output(run, "ready")
        with pytest.raises(NotBegun, match="Only the agent of a run that is at work"):
            await access.delegate("understudy", "say: in another's run", "")
        await editor.call("run/interrupt", run_id=run.id)
        await editor.ended(run)
        assert len((await editor.call("thread/list", workspace=workspace.as_uri())).threads) == 1


async def test_a_call_that_the_agent_gives_up_ends_the_child_and_not_the_run(tmp_path: Path, workspace: Path) -> None:
    async with editor_on(tmp_path / "data", "--rehearsal", config=DELEGATING) as editor:
        thread = await editor.new_thread(workspace)
        run = await editor.begin(thread, "call runs {}\nsay: ready\nsleep 600000")
        await editor.until_output(run, "ready")
        access = await access_of(editor, thread, "rehearsal")
        order = asyncio.ensure_future(access.delegate("understudy", "sleep 600000", "Long"))
        _, child_run = await at_work(editor, thread)
        order.cancel()
        assert (await editor.ended(child_run)).status == "interrupted"
        await until_record(editor, thread, lambda r: isinstance(r, SubagentItem) and r.status == "interrupted")
        (current,) = (await editor.read(thread)).runs
        assert current.status == "running"
        await editor.call("run/interrupt", run_id=run.id)
        await editor.ended(run)
