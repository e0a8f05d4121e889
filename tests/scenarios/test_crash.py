"""``kill -9`` of the daemon in the middle of things: what a thread is like afterwards."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import psutil
import pytest
import pytest_asyncio
from attrs import frozen

from midstream.protocol.notifications import ThreadEvent
from midstream.protocol.records.handoff import HandoffInfo
from midstream.protocol.records.item import Item
from midstream.protocol.records.provider import ProviderThread
from midstream.protocol.records.read import ThreadRead
from midstream.protocol.records.request import RuntimeRequest
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Thread
from scenarios.steps import (
    codes,
    conversation,
    conversation_of,
    handoff_of,
    of_type,
    received,
    said,
    session_of,
    strategy,
    until_on_its_way,
    until_record,
)
from support.editor import Editor, Refused, editor_on


async def kill(editor: Editor) -> None:
    """Kill the daemon where it stands, and see that nothing that it started outlives it."""
    started = psutil.Process(editor.daemon_pid()).children(recursive=True)
    assert started
    await editor.kill()
    await all_gone(started)


async def all_gone(processes: Iterable[psutil.Process]) -> None:
    """Wait until processes have ended."""
    _, alive = await asyncio.to_thread(psutil.wait_procs, list(processes), timeout=20)
    assert alive == []


@frozen(kw_only=True)
class Crashed:
    """An editor on the daemon after a crash, and what stood in each of its threads just before."""

    editor: Editor
    told: tuple[ThreadEvent, ...]
    busy: tuple[Thread, Run, Run, Run]
    cut_off: tuple[Thread, Run]
    waiting: tuple[Thread, Run, RuntimeRequest, Path]
    sending: tuple[Thread, Run, Run, HandoffInfo]
    sending_alone: tuple[Thread, Run]
    resting: tuple[Thread, Run, ThreadRead, list[Item]]

    def told_of(self, thread: Thread) -> list[ThreadEvent]:
        """Return the events of a thread that were told before the crash."""
        return [event for event in self.told if event.thread_id == thread.id]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def crashed(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Crashed]:
    """A daemon that was killed in the middle of many things, and started again."""
    home = tmp_path_factory.mktemp("crashed")
    env = {"MIDSTREAM_REHEARSAL_DIR": str(home / "agents")}
    async with editor_on(home / "data", "--rehearsal", env=env) as editor:
        scenes = [
            await scene(editor, new_folder(home / name))
            for name, scene in (
                ("resting", rest),
                ("sending", send),
                ("sending alone", send_alone),
                ("waiting", wait),
                ("cut off", cut_off),
                ("busy", be_busy),
            )
        ]
        told = tuple(editor.all_told(ThreadEvent))
        await kill(editor)
    async with editor_on(home / "data", "--rehearsal", env=env) as editor:
        resting, sending, alone, waiting, ended, busy = scenes
        yield Crashed(
            editor=editor,
            told=told,
            busy=busy,
            cut_off=ended,
            waiting=waiting,
            sending=sending,
            sending_alone=alone,
            resting=resting,
        )


def new_folder(folder: Path) -> Path:
    """Make a workspace."""
    folder.mkdir()
    return folder


async def be_busy(editor: Editor, workspace: Path) -> tuple[Thread, Run, Run, Run]:
    """Have a run that ended, one that is at work, and one that is queued."""
    thread = await editor.new_thread(workspace)
    first = await editor.say(thread, "write a.txt: one")
    active = await editor.begin(thread, "write b.txt: two\nsay: partial words\nsleep 600000")
    await editor.until_output(active, "partial words")
    return thread, first, active, await editor.begin(thread, "say: queued")


async def cut_off(editor: Editor, workspace: Path) -> tuple[Thread, Run]:
    """Have a run that is at work."""
    thread = await editor.new_thread(workspace)
    run = await editor.begin(thread, "say: partial words\nsleep 600000")
    await editor.until_output(run, "partial words")
    return thread, run


async def wait(editor: Editor, workspace: Path) -> tuple[Thread, Run, RuntimeRequest, Path]:
    """Have a run that waits for an answer."""
    thread = await editor.new_thread(workspace, runtime_mode="approvalRequired")
    run = await editor.begin(thread, "run touch forbidden.txt")
    return thread, run, await editor.asked(run), workspace / "forbidden.txt"


async def send(editor: Editor, workspace: Path) -> tuple[Thread, Run, Run, HandoffInfo]:
    """Have a message with a handoff on its way to an agent that does not move."""
    thread = await editor.new_thread(workspace)
    first = await editor.say(thread, "say: one")
    await editor.say(thread, "say: two", "understudy")
    await freeze(editor, conversation(await editor.read(thread), "rehearsal"))
    seen = len(editor.told)
    run = await editor.begin(thread, "say: three", "rehearsal")
    return thread, first, run, await until_on_its_way(editor, thread, seen)


async def send_alone(editor: Editor, workspace: Path) -> tuple[Thread, Run]:
    """Have a message with no handoff on its way to an agent that does not move."""
    thread = await editor.new_thread(workspace)
    first = await editor.say(thread, "say: one")
    known = conversation(await editor.read(thread), "rehearsal")
    await freeze(editor, known)
    seen = len(editor.told)
    await editor.begin(thread, "say: two")
    await until_record(
        editor, thread, lambda r: isinstance(r, ProviderThread) and r.id == known.id and r.status == "active", seen
    )
    return thread, first


async def freeze(editor: Editor, known: ProviderThread) -> None:
    """Stop the agent process of a conversation, so that it takes nothing more."""
    session = await session_of(editor, known)
    psutil.Process(session.pid).send_signal(signal.SIGSTOP)


async def rest(editor: Editor, workspace: Path) -> tuple[Thread, Run, ThreadRead, list[Item]]:
    """Have a thread in which nothing happens any more."""
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "say: one")
    second = await editor.say(thread, "say: two", "understudy")
    return thread, second, await editor.read(thread), await editor.items(thread)


async def test_a_daemon_killed_in_the_middle_of_a_run_loses_nothing_that_it_told(crashed: Crashed) -> None:
    editor, (thread, first, active, queued) = crashed.editor, crashed.busy
    read = await editor.read(thread)
    items = await editor.items(thread)
    records = {read.thread.id} | {record.id for record in (*read.runs, *read.checkpoints, *items)}
    records |= {record.id for record in (*read.provider_threads, *read.transfers, *read.handoffs)}
    told = {event.record.id for event in crashed.told_of(thread) if event.type != "providerSession"}
    assert told
    assert told <= records
    assert len({item.id for item in items}) == len({item.ordinal for item in items}) == len(items)
    assert [(run.id, run.status) for run in read.runs] == [
        (first.id, "completed"),
        (active.id, "interrupted"),
        (queued.id, "queued"),
    ]
    assert (read.thread.status, read.thread.queue_held) == ("queued", True)
    (partial,) = of_type(await editor.items(thread, active), "agentMessage")
    assert (partial.text, partial.status) == ("partial words", "interrupted")
    assert [item.status for item in of_type(await editor.items(thread, active), "fileChange")] == ["completed"]

    held = max(event.sequence for event in crashed.told_of(thread))
    seen = len(editor.told)
    answered = await editor.call("thread/subscribe", thread_id=thread.id, after_sequence=held)
    assert answered.snapshot is None
    await until_record(editor, thread, lambda r: isinstance(r, Run) and r.status == "interrupted", seen)
    caught_up = [event.sequence for event in editor.all_told(ThreadEvent) if event.thread_id == thread.id]
    assert caught_up == list(range(held + 1, held + 1 + len(caught_up)))

    ahead = await editor.say(thread, "say: ahead of the held one")
    assert (ahead.status, ahead.ordinal) == ("completed", 3)
    await editor.call("queue/resume", thread_id=thread.id)
    assert (await editor.ended(queued)).ordinal == 4


async def test_the_run_after_a_crash_is_told_what_its_agent_may_have_missed(crashed: Crashed) -> None:
    editor, (thread, ended) = crashed.editor, crashed.cut_off
    (partial,) = of_type(await editor.items(thread, ended), "agentMessage")
    known = conversation(await editor.read(thread), "rehearsal")
    assert (known.native_run_ordinals, known.missing_item_ids, known.status) == ((1,), (partial.id,), "not_loaded")
    run = await editor.say(thread, "say: go on")
    assert run.provider_thread_id == known.id
    assert run.plan is not None
    assert (strategy(run), codes(run.plan)) == ("delta_since_target_last_seen", ["missing_items"])
    handoff = await handoff_of(editor, run)
    assert "partial words" in handoff.sent_text
    assert received(await editor.recall(thread, "rehearsal"))[1:3] == [handoff.sent_text, "say: go on"]
    assert conversation(await editor.read(thread), "rehearsal").missing_item_ids == ()


async def test_a_request_that_was_open_in_a_crash_is_expired(crashed: Crashed) -> None:
    editor, (thread, run, request, forbidden) = crashed.editor, crashed.waiting
    (kept,) = (await editor.read(thread)).requests
    assert (kept.id, kept.status) == (request.id, "expired")
    assert kept.resolved_at is not None
    assert (await editor.call("request/list")).requests == ()
    with pytest.raises(Refused) as refused:
        await editor.call("request/respond", request_id=request.id, decision="accept")
    assert (refused.value.code, refused.value.kind) == (4005, "requestNotResumable")
    assert (await editor.ended(run)).status == "interrupted"
    (approval,) = of_type(await editor.items(thread, run), "approval")
    assert (approval.status, approval.decision) == ("cancelled", None)
    assert not forbidden.exists()


async def test_a_message_that_was_on_its_way_in_a_crash_is_not_trusted_to_have_arrived(crashed: Crashed) -> None:
    editor, (thread, first, ended, doubted) = crashed.editor, crashed.sending
    (handoff,) = [known for known in (await editor.read(thread)).handoffs if known.id == doubted.id]
    assert handoff.delivery is not None
    assert handoff.delivery.status == "uncertain"
    assert (await editor.ended(ended)).status == "interrupted"
    run = await editor.say(thread, "say: four", "rehearsal")
    assert run.plan is not None
    assert (strategy(run), codes(run.plan)) == ("full_thread_summary", ["delivery_uncertain"])
    assert run.plan.run_ordinals == (1, 2, 3)
    assert run.provider_thread_id != first.provider_thread_id
    read = await editor.read(thread)
    (old,) = [known for known in read.provider_threads if known.id == first.provider_thread_id]
    assert (old.native_run_ordinals, old.handoff_ids) == ((1,), ())
    assert conversation_of(read, run).native_run_ordinals == (4,)


async def test_a_message_with_no_handoff_is_not_trusted_either(crashed: Crashed) -> None:
    editor, (thread, first) = crashed.editor, crashed.sending_alone
    run = await editor.say(thread, "say: three")
    assert (strategy(run), codes(run.plan)) == ("full_thread_summary", ["delivery_uncertain"])
    assert run.provider_thread_id != first.provider_thread_id


async def test_a_thread_that_was_at_rest_goes_on_after_a_crash_as_if_nothing_had_been(crashed: Crashed) -> None:
    editor, (thread, second, before, items) = crashed.editor, crashed.resting
    read = await editor.read(thread)
    assert (read.thread, read.runs, read.handoffs, read.transfers, read.checkpoints) == (
        before.thread,
        before.runs,
        before.handoffs,
        before.transfers,
        before.checkpoints,
    )
    assert await editor.items(thread) == items
    run = await editor.say(thread, "say: three", "understudy")
    assert (strategy(run), run.provider_thread_id) == ("none", second.provider_thread_id)
    assert received(await editor.recall(thread, "understudy"))[1:3] == ["say: two", "say: three"]
    assert await said(editor, thread, run) == ["three"]


async def test_an_editor_that_leaves_takes_all_agents_with_it(tmp_path: Path, workspace: Path) -> None:
    async with editor_on(tmp_path / "data", "--rehearsal") as editor:
        thread = await editor.new_thread(workspace)
        await editor.say(thread, "say: one")
        await editor.say(thread, "say: two", "understudy")
        started = psutil.Process(editor.daemon_pid()).children(recursive=True)
        assert started
        assert await editor.leave() == 0
        await all_gone(started)
