"""What must hold on a data folder after its daemon was killed, whatever it was doing."""

import asyncio
import re
import sqlite3
import subprocess
from contextlib import closing
from typing import Any, Final

import psutil

from crash.stage import Recorder, Sent, Stage
from midstream.protocol.notifications import ThreadEvent
from midstream.protocol.records.provider import ProviderThread
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Thread
from midstream.server.rehearsal.conversation import Conversation
from midstream.server.rehearsal.history import visible
from scenarios.steps import of_type, received
from support.editor import Refused

TOKEN: Final = re.compile(r"token-\d+\.")
TERMINAL: Final = ("completed", "interrupted", "failed", "cancelled", "rolled_back")
ENDED_WITHIN: Final = 20.0


async def judge(stage: Stage) -> None:
    """Start a daemon on what the last one left, and look at everything."""
    await no_process_is_left(stage)
    promised, told = stage.sent, stage.told
    stage.disarm()
    stage.open_gate()
    editor = await stage.start()
    gone = await the_deleted(editor, promised)
    await all_that_was_told_is_there(editor, [event for event in told if event.thread_id not in gone])
    promised = [sent for sent in promised if sent.method == "thread/delete" or not sent.names_any(gone)]
    await what_was_answered_is_answered_again(editor, [sent for sent in promised if sent.answered])
    for sent in promised:
        if not sent.answered:
            await what_was_not_answered_happens_once(editor, sent)
    for thread in await threads(editor):
        await goes_on(stage, editor, thread)
    assert await editor.leave() == 0
    await no_process_is_left(stage)
    nothing_is_broken(stage)


async def the_deleted(editor: Recorder, promised: list[Sent]) -> set[str]:
    """Return the threads that are gone: only such as a client deleted, and all of which it was told so."""
    deletions = [sent for sent in promised if sent.method == "thread/delete"]
    known = {thread.id for thread in await threads(editor)}
    assert not known & {sent.params["threadId"] for sent in deletions if sent.answered}
    return {sent.params["threadId"] for sent in deletions} - known


async def no_process_is_left(stage: Stage) -> None:
    """The agents, and what they started, are gone with their daemon."""
    _, alive = await asyncio.to_thread(psutil.wait_procs, stage.processes(), timeout=ENDED_WITHIN)
    assert alive == []


async def threads(editor: Recorder) -> list[Thread]:
    """Return all threads, those put away as well."""
    return [
        thread for archived in (False, True) for thread in (await editor.call("thread/list", archived=archived)).threads
    ]


async def all_that_was_told_is_there(editor: Recorder, told: list[ThreadEvent]) -> None:
    """Each event that a client saw is in the log, word for word, at its place."""
    for thread_id in {event.thread_id for event in told}:
        seen = len(editor.told)
        await editor.call("thread/subscribe", thread_id=thread_id, after_sequence=0)
        last = (await editor.call("thread/read", thread_id=thread_id)).sequence
        await editor.until(
            lambda n, thread_id=thread_id, last=last: (  # type: ignore[misc]
                isinstance(n, ThreadEvent) and n.thread_id == thread_id and n.sequence >= last
            ),
            seen,
        )
        logged = {event.sequence: event for event in editor.all_told(ThreadEvent) if event.thread_id == thread_id}
        assert sorted(logged) == list(range(1, last + 1))
        for event in told:
            if event.thread_id == thread_id:
                assert logged[event.sequence] == event


async def what_was_answered_is_answered_again(editor: Recorder, promised: list[Sent]) -> None:
    """The same command again gives the first answer, and changes nothing."""
    before = {thread.id: (await editor.read(thread)).sequence for thread in await threads(editor)}
    for sent in promised:
        assert await editor.call_raw(sent.method, sent.params) == sent.answer
    assert {thread.id: (await editor.read(thread)).sequence for thread in await threads(editor)} == before


async def what_was_not_answered_happens_once(editor: Recorder, sent: Sent) -> None:
    """A command of unknown fate can be given again: it is carried out now, or was."""
    answers = [await _answer(editor, sent) for _ in range(2)]
    assert answers[0] == answers[1]


async def _answer(editor: Recorder, sent: Sent) -> Any:
    try:
        return await editor.call_raw(sent.method, sent.params)
    except Refused as refused:
        if refused.kind not in ("invalidState", "requestNotResumable"):  # what it was about may be over
            raise
        return refused.kind


async def goes_on(stage: Stage, editor: Recorder, thread: Thread) -> None:
    """The thread comes to rest, its next run works, and its agent knows each of the user's messages once."""
    if thread.archived_at is not None:
        await editor.call("thread/unarchive", thread_id=thread.id)
    if (await editor.read(thread)).thread.queue_held:
        await editor.call("queue/resume", thread_id=thread.id)
    for run in (await editor.read(thread)).runs:
        if run.status not in TERMINAL:
            await _ended(editor, run)
    entries = await editor.recall(thread, thread.selection.provider)
    read = await editor.read(thread)
    taken_back = {run.id for run in read.runs if run.status == "rolled_back"}
    messages = of_type(await editor.items(thread), "userMessage")
    said = [item for item in messages if item.run_id not in taken_back and TOKEN.search(item.text)]
    once_known(received(entries), {token for item in said for token in TOKEN.findall(item.text)})
    obeyed = stage.workspace / "log.txt"
    lines = obeyed.read_text().split() if obeyed.exists() else []
    assert len(lines) == len(set(lines))
    for known in read.provider_threads:
        if not known.stale_reasons:
            once_known(_native(stage, known))
    started = sorted(run.ordinal for run in read.runs if run.ordinal is not None)
    assert started == list(range(1, 1 + len(started)))
    assert all(run.status in TERMINAL for run in read.runs)


async def _ended(editor: Recorder, run: Run) -> None:
    """Wait for a run's end; one whose agent asks again is not answered but interrupted."""
    waiting = asyncio.ensure_future(editor.ended(run))
    asking = asyncio.ensure_future(editor.asked(run))
    await asyncio.wait({waiting, asking}, return_when=asyncio.FIRST_COMPLETED)
    asking.cancel()
    if not waiting.done():
        await editor.call("run/interrupt", run_id=run.id)
    await waiting


def _native(stage: Stage, known: ProviderThread) -> list[str]:
    (file,) = stage.home.rglob(f"{known.native_ref}.jsonl")
    conversation = Conversation.open(file.parent, file.stem)
    return [entry.text for entry in visible(conversation.records) if entry.role == "user"]


def once_known(texts: list[str], tokens: set[str] | None = None) -> None:
    """No message is in two of these texts; those with `tokens` are in one."""
    known = [token for text in texts for token in sorted(set(TOKEN.findall(text)))]
    assert len(known) == len(set(known)), texts
    assert tokens is None or set(known) == tokens, texts


def nothing_is_broken(stage: Stage) -> None:
    """No file is half written, the database is whole, and so is every store of checkpoints."""
    assert [path for path in stage.data.rglob("*") if path.suffix in (".partial", ".lock") and _is_left(path)] == []
    with closing(sqlite3.connect(stage.data / "midstream.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("SELECT count(*) FROM effects").fetchone() == (0,)
    for shadow in stage.data.glob("checkpoints/*/shadow.git"):
        subprocess.run(["git", "--git-dir", shadow, "fsck", "--strict"], check=True, capture_output=True)


def _is_left(path: Any) -> bool:
    return path.name not in ("midstream.db.lock", "daemon.lock")
