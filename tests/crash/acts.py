"""What daemons are killed in the middle of. Each act comes to its interesting part, arms the stage, and goes on.

A point is tried in the first act that reaches it, so those with the longest history stand first.
"""

import base64
import json
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from crash.stage import Stage
from scenarios.steps import mood, selection

Act: TypeAlias = Callable[[Stage], Awaitable[None]]
PIXEL: Final = {"type": "image", "mimeType": "image/png", "base64": base64.b64encode(b"pixel").decode()}


async def leave(stage: Stage) -> None:
    """A client leaves, and with it the agents."""
    thread = await stage.editor.new_thread(stage.workspace)
    await stage.editor.say(thread, stage.words())
    stage.arm()


async def switch_back(stage: Stage) -> None:
    """The first agent takes over again: it is resumed, told what it missed, and shown an image."""
    editor = stage.editor
    thread = await editor.new_thread(stage.workspace)
    await editor.say(thread, stage.words())
    await editor.say(thread, stage.words(), "understudy")
    (stage.workspace / "edit.txt").write_text("by the user")
    stage.arm()
    message = {"text": stage.words(), "attachments": [PIXEL]}
    params = {"threadId": thread.id, "message": message, "selection": selection("rehearsal")}
    answer = await editor.call_raw("run/start", params)
    await editor.call("run/wait", run_id=answer["run"]["id"])


async def begin(stage: Stage) -> None:
    """A thread is made, named, given to another agent, put away and brought back, and has its first run."""
    editor = stage.editor
    stage.arm()
    thread = await editor.new_thread(stage.workspace)
    await editor.call("thread/update", thread_id=thread.id, title="A thread")
    await editor.call("provider/switch", thread_id=thread.id, selection=selection("understudy"))
    await editor.call("thread/archive", thread_id=thread.id)
    await editor.call("thread/unarchive", thread_id=thread.id)
    await editor.say(thread, stage.words())


async def resume(stage: Stage) -> None:
    """A conversation of an earlier daemon goes on."""
    thread = await stage.editor.new_thread(stage.workspace)
    await stage.editor.say(thread, stage.words())
    assert await stage.editor.leave() == 0
    editor = await stage.start()
    stage.arm()
    await editor.say(thread, stage.words())


async def refuse_to_resume(stage: Stage) -> None:
    """A conversation of an earlier daemon cannot go on."""
    thread = await stage.editor.new_thread(stage.workspace, "moody")
    await stage.editor.say(thread, stage.words())
    assert await stage.editor.leave() == 0
    mood(stage.workspace, "--refuse-resume")
    editor = await stage.start()
    stage.arm()
    await editor.say(thread, stage.words())


async def steer(stage: Stage) -> None:
    """Words are given to a run that is at work."""
    editor = stage.editor
    received = stage.home / "received"
    mood(stage.workspace, "--session-log", str(received))
    thread = await editor.new_thread(stage.workspace, "moody")
    await editor.say(thread, stage.words())
    run = await stage.busy(editor, thread, until=f"""grep -q '"method": *"_midstream/steer' {received}""")
    stage.arm()
    await editor.call("run/steer", run_id=run.id, text=stage.words())
    await editor.ended(run)


async def steer_in_vain(stage: Stage) -> None:
    """Words are given to a run whose agent, since its last start, takes none."""
    editor = stage.editor
    thread = await editor.new_thread(stage.workspace, "moody")
    await editor.say(thread, stage.words("crash"))
    mood(stage.workspace, "--no-steer")
    run = await stage.busy(editor, thread)
    stage.arm()
    await editor.call("run/steer", run_id=run.id, text=stage.words())
    stage.open_gate()
    await editor.ended(run)


async def interrupt(stage: Stage) -> None:
    """A run at work is interrupted."""
    editor = stage.editor
    thread = await editor.new_thread(stage.workspace)
    run = await stage.busy(editor, thread)
    stage.arm()
    await editor.call("run/interrupt", run_id=run.id)
    await editor.ended(run)


async def restart(stage: Stage) -> None:
    """A run at work goes on with other words."""
    editor = stage.editor
    thread = await editor.new_thread(stage.workspace)
    run = await stage.busy(editor, thread)
    stage.arm()
    await editor.begin(thread, stage.words(), delivery="restart")
    await editor.ended(run)


async def retry(stage: Stage) -> None:
    """A run that failed before its agent did anything is tried again."""
    editor = stage.editor
    thread = await editor.new_thread(stage.workspace, "moody")
    mood(stage.workspace, "--crash-on", "prompt")
    run = await editor.say(thread, stage.words())
    assert run.status == "failed"
    mood(stage.workspace)
    stage.arm()
    await editor.call("run/retry", run_id=run.id)
    await editor.ended(run)


async def queue(stage: Stage) -> None:
    """Runs wait, are changed, moved and taken back, and are let go on."""
    editor = stage.editor
    thread = await editor.new_thread(stage.workspace)
    run = await stage.busy(editor, thread, then="fail: no more")
    waiting = [await editor.begin(thread, stage.words()) for _ in range(3)]
    stage.arm()
    await editor.call("run/edit", run_id=waiting[0].id, text=stage.words())
    await editor.call("run/reorder", run_id=waiting[1].id, before_run_id=waiting[0].id)
    await editor.call("run/cancel", run_id=waiting[2].id)
    stage.open_gate()
    assert (await editor.ended(run)).status == "failed"
    await editor.call("queue/resume", thread_id=thread.id)
    await editor.ended(waiting[0])


async def approve(stage: Stage) -> None:
    """An agent asks, and is answered."""
    editor = stage.editor
    thread = await editor.new_thread(stage.workspace, runtime_mode="approvalRequired")
    run = await editor.begin(thread, stage.remark("run echo allowed >> log.txt"))
    request = await editor.asked(run)
    stage.arm()
    await editor.call("request/respond", request_id=request.id, decision="accept")
    await editor.ended(run)


async def walk_away(stage: Stage) -> None:
    """An agent asks, and nobody is there."""
    editor = stage.editor
    thread = await editor.new_thread(stage.workspace, runtime_mode="approvalRequired")
    run = await editor.begin(thread, stage.remark("run echo allowed >> log.txt"))
    await editor.asked(run)
    stage.arm()
    assert await editor.vanish() == 0


async def preview(stage: Stage) -> None:
    """A handoff is made before its run."""
    editor = stage.editor
    thread = await editor.new_thread(stage.workspace)
    await editor.say(thread, stage.words())
    stage.arm()
    shown = await editor.call("handoff/preview", thread_id=thread.id, selection=selection("understudy"))
    named = [handoff.id for handoff in shown.handoffs]
    run = await editor.begin(thread, stage.words(), "understudy", handoff_ids=named)
    await editor.ended(run)


async def edit_handoffs(stage: Stage) -> None:
    """A handoff is rewritten by the user before its run, and another is given up."""
    editor = stage.editor
    thread = await editor.new_thread(stage.workspace)
    await editor.say(thread, stage.words())
    stage.arm()
    (first,) = (await editor.call("handoff/preview", thread_id=thread.id, selection=selection("understudy"))).handoffs
    words = f"{first.summary_text}\nSeen by the user."
    edited = (await editor.call("handoff/edit", handoff_id=first.id, summary_text=words)).handoff
    run = await editor.begin(thread, stage.words(), "understudy", handoff_ids=[edited.id])
    await editor.ended(run)
    (second,) = (await editor.call("handoff/preview", thread_id=thread.id, selection=selection("rehearsal"))).handoffs
    await editor.call("handoff/discard", handoff_id=second.id)


async def recover(stage: Stage) -> None:
    """A daemon puts right what a killed one left."""
    thread = await stage.editor.new_thread(stage.workspace)
    await stage.editor.say(thread, stage.words())
    await stage.busy(stage.editor, thread)
    await stage.editor.begin(thread, stage.words())
    await stage.crash()
    stage.arm()
    await stage.start()


async def lose_an_agent(stage: Stage) -> None:
    """An agent dies in the middle of a run."""
    editor = stage.editor
    thread = await editor.new_thread(stage.workspace)
    await editor.say(thread, stage.words())
    stage.arm()
    await editor.say(thread, stage.words("crash"))
    await editor.say(thread, stage.words())


async def restore(stage: Stage) -> None:
    """Files are kept on request, changed, and brought back."""
    editor = stage.editor
    thread = await editor.new_thread(stage.workspace)
    await editor.say(thread, stage.words())
    stage.arm()
    kept = (await editor.call("checkpoint/create", thread_id=thread.id)).checkpoint
    (stage.workspace / "edit.txt").write_text("by the user")
    await editor.call("checkpoint/create", thread_id=thread.id)
    await editor.call("checkpoint/restore", checkpoint_id=kept.id)


async def delegate(stage: Stage) -> None:
    """A subagent works in a folder of its own."""
    editor = stage.editor
    (stage.workspace / "part").mkdir()
    thread = await editor.new_thread(stage.workspace)
    stage.arm()
    await editor.say(thread, stage.words("subagent Helper IN part: write own.txt: own"))


async def hire(stage: Stage) -> None:
    """An agent gives work to another one, in a thread of its own."""
    editor = stage.editor
    thread = await editor.new_thread(stage.workspace)
    order = {"provider": "understudy", "prompt": "append child.txt: work\nsay: done"}
    stage.arm()
    await editor.say(thread, stage.words(f"call delegate {json.dumps(order)}"))


async def outgrow(stage: Stage) -> None:
    """There are more checkpoints than are kept."""
    assert await stage.editor.leave() == 0
    editor = await stage.start(checkpoints={"keep": 1})
    thread = await editor.new_thread(stage.workspace)
    await editor.say(thread, stage.words())
    stage.arm()
    await editor.say(thread, stage.words())
    await editor.say(thread, stage.words())
    await editor.until(lambda n: getattr(n, "type", "") == "checkpoint" and n.record.status == "missing")  # type: ignore[union-attr]


async def delete(stage: Stage) -> None:
    """A thread is deleted whose agent another thread still uses."""
    editor = stage.editor
    kept = await editor.new_thread(stage.workspace)
    await editor.say(kept, stage.words())
    thread = await editor.new_thread(stage.workspace)
    await editor.say(thread, stage.remark())
    stage.arm()
    await editor.call("thread/delete", thread_id=thread.id)
    await editor.say(kept, stage.words())


async def fork(stage: Stage) -> None:
    """A thread is forked, and its agent forks the conversation."""
    editor = stage.editor
    thread = await editor.new_thread(stage.workspace)
    kept = await editor.say(thread, stage.words())
    await editor.say(thread, stage.words())
    stage.arm()
    made = await editor.call("thread/fork", thread_id=thread.id, from_={"type": "run", "runId": kept.id})
    await editor.say(made.thread, stage.words())


async def fork_in_vain(stage: Stage) -> None:
    """An agent that since its last start forks nothing is to go on with a fork."""
    editor = stage.editor
    thread = await editor.new_thread(stage.workspace, "moody")
    kept = await editor.say(thread, stage.words())
    await editor.say(thread, stage.words("crash"))
    made = await editor.call("thread/fork", thread_id=thread.id, from_={"type": "run", "runId": kept.id})
    mood(stage.workspace, "--no-fork", "--no-fork-at-turn")
    stage.arm()
    await editor.say(made.thread, stage.words())


async def merge_back(stage: Stage) -> None:
    """A fork's work is given to its parent, taken back, and given again."""
    editor = stage.editor
    thread = await editor.new_thread(stage.workspace)
    await editor.say(thread, stage.words())
    made = await editor.call("thread/fork", thread_id=thread.id)
    await editor.say(made.thread, "say: of the fork")
    stage.arm()
    given = await editor.call("thread/mergeBack", thread_id=made.thread.id)
    await editor.call("transfer/cancel", transfer_id=given.transfer.id)
    await editor.call("thread/mergeBack", thread_id=made.thread.id)
    await editor.say(thread, stage.words())


async def roll_back(stage: Stage) -> None:
    """A fork takes back what its parent waits for, and its agent forgets it."""
    editor = stage.editor
    thread = await editor.new_thread(stage.workspace)
    await editor.say(thread, stage.words())
    made = await editor.call("thread/fork", thread_id=thread.id)
    await editor.call("thread/subscribe", thread_id=made.thread.id)
    await editor.say(made.thread, "say: of the fork")
    given = await editor.call("thread/mergeBack", thread_id=made.thread.id)
    (known,) = (await editor.read(made.thread)).provider_threads
    told = len(editor.told)
    stage.arm()
    await editor.call("thread/rollback", thread_id=made.thread.id, to_run_ordinal=1)
    for record_id, status in ((known.id, "idle"), (given.transfer.id, "superseded")):
        await editor.until(
            lambda n, record_id=record_id, status=status: (  # type: ignore[misc]
                getattr(n, "record", None) is not None
                and (n.record.id, getattr(n.record, "status", "")) == (record_id, status)  # type: ignore[union-attr]
            ),
            told,
        )


ACTS: Final[tuple[Act, ...]] = (
    leave,
    switch_back,
    resume,
    refuse_to_resume,
    steer,
    steer_in_vain,
    restart,
    interrupt,
    retry,
    queue,
    approve,
    walk_away,
    preview,
    edit_handoffs,
    recover,
    lose_an_agent,
    restore,
    delegate,
    hire,
    outgrow,
    delete,
    fork,
    fork_in_vain,
    merge_back,
    roll_back,
    begin,
)
