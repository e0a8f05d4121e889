"""Handoffs before they are sent: previewed as wished, edited, made anew, given up, and kept while the thread stands."""

from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from midstream.protocol.notifications import HandoffProgress
from midstream.protocol.records.handoff import ContextHandoff
from midstream.protocol.records.thread import Thread
from scenarios.steps import phases, received, selection, strategy
from support.editor import Editor, Refused, command_id

UNDERSTUDY = selection("understudy")


async def preview(editor: Editor, thread: Thread, **params: Any) -> ContextHandoff:
    """Return the only handoff of a preview for the understudy."""
    answer = await editor.call("handoff/preview", thread_id=thread.id, selection=UNDERSTUDY, **params)
    (handoff,) = answer.handoffs
    assert answer.plan.strategy == handoff.strategy
    return handoff


async def stored(editor: Editor, handoff_id: str) -> ContextHandoff:
    return (await editor.call("handoff/read", handoff_id=handoff_id)).handoff


async def told_to_the_understudy(editor: Editor, thread: Thread) -> list[str]:
    return received(await editor.recall(thread, "understudy"))


@pytest_asyncio.fixture(loop_scope="session")
async def thread(editor: Editor, workspace: Path) -> Thread:
    """Run 1 is the rehearsal's, run 2 the understudy's, run 3 the rehearsal's again."""
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "write a.txt: one\ndecide: blue\nsay: alpha")
    await editor.say(thread, "say: beta", "understudy")
    await editor.say(thread, "write b.txt: two\nsay: gamma", "rehearsal")
    return thread


async def test_a_preview_tells_by_the_strategy_that_was_wished_for(editor: Editor, thread: Thread) -> None:
    delta = await preview(editor, thread)
    assert (delta.strategy, delta.run_ordinals) == ("delta_since_target_last_seen", (3,))
    assert "alpha" not in delta.summary_text
    full = await preview(editor, thread, strategy="full_thread_summary")
    assert (full.strategy, full.run_ordinals) == ("full_thread_summary", (1, 3))
    assert "alpha" in full.summary_text
    checkpoint = await preview(editor, thread, strategy="checkpoint_summary")
    assert {section.kind for section in checkpoint.sections} <= {"goals", "decisions", "files", "checkpoint"}
    assert "b.txt" in checkpoint.summary_text


async def test_a_wished_strategy_is_what_the_run_that_names_it_is_told(editor: Editor, thread: Thread) -> None:
    full = await preview(editor, thread, strategy="full_thread_summary")
    run = await editor.say(thread, "say: delta", "understudy", handoff_ids=[full.id])
    assert (strategy(run), run.handoff_ids) == ("full_thread_summary", (full.id,))
    assert full.sent_text in await told_to_the_understudy(editor, thread)


async def test_a_strategy_that_cannot_be_is_refused(editor: Editor, workspace: Path, thread: Thread) -> None:
    for wished in ("manual_context", "delta_since_target_last_seen"):
        with pytest.raises(Refused) as refused:
            await editor.call("handoff/preview", thread_id=thread.id, selection=selection("plain"), strategy=wished)
        assert refused.value.kind == "invalidState"
    assert (await editor.call("handoff/list", thread_id=thread.id)).handoffs[2:] == ()


async def test_a_preview_keeps_the_budget_that_was_wished_for(editor: Editor, thread: Thread) -> None:
    await editor.say(thread, "\n".join(f"say: statement{n} about module{n}.py and its_function_{n}" for n in range(80)))
    small, large = [await preview(editor, thread, budget_tokens=budget) for budget in (450, 4_000)]
    assert small.tokens.estimated <= small.tokens.budget == 450
    assert 450 < large.tokens.estimated <= 4_000
    assert sum(section.omitted for section in small.sections) > sum(section.omitted for section in large.sections)
    with pytest.raises(Refused) as refused:
        await preview(editor, thread, budget_tokens=1)
    assert refused.value.kind == "handoffOverBudget"


async def test_an_edited_handoff_is_what_is_sent_and_both_stay_readable(editor: Editor, thread: Thread) -> None:
    old = await preview(editor, thread)
    key = "ghp_" + "a1B2" * 9
    answer = await editor.call("handoff/edit", handoff_id=old.id, summary_text=f"Only this: gamma.\nthe key {key}")
    new = answer.handoff
    assert (new.strategy, new.created_by, new.sections, new.redactions) == ("manual_context", "user", (), 1)
    assert new.summary_text == "> Only this: gamma.\n> the key [redacted: token]"
    run = await editor.say(thread, "say: delta", "understudy", handoff_ids=[new.id])
    assert (strategy(run), run.handoff_ids) == ("manual_context", (new.id,))
    assert new.sent_text in await told_to_the_understudy(editor, thread)
    superseded = await stored(editor, old.id)
    assert (superseded.status, superseded.superseded_by, superseded.sent_text) == ("superseded", new.id, old.sent_text)


async def test_an_edited_handoff_that_the_thread_outgrew_is_refused_or_followed_by_the_rest(
    editor: Editor, thread: Thread
) -> None:
    old = await preview(editor, thread)
    edited = (await editor.call("handoff/edit", handoff_id=old.id, summary_text="In my words.")).handoff
    await editor.say(thread, "say: epsilon", "rehearsal")
    before = await editor.read(thread)
    with pytest.raises(Refused) as refused:
        await editor.begin(thread, "say: zeta", "understudy", handoff_ids=[edited.id])
    assert (refused.value.code, refused.value.kind) == (4012, "handoffStale")
    assert refused.value.data["missedRunOrdinals"] == [4]
    assert await editor.read(thread) == before
    run = await editor.say(thread, "say: zeta", "understudy", handoff_ids=[edited.id], allow_stale_handoff=True)
    first, second = [await stored(editor, handoff_id) for handoff_id in run.handoff_ids]
    assert (first.id, second.run_ordinals) == (edited.id, (4,))
    assert "epsilon" in second.summary_text
    assert "gamma" not in second.summary_text
    told = await told_to_the_understudy(editor, thread)
    place = told.index(edited.sent_text)
    assert told[place : place + 3] == [edited.sent_text, second.sent_text, "say: zeta"]
    after = await editor.say(thread, "say: eta", "understudy")
    assert strategy(after) == "none"


async def test_a_handoff_whose_run_went_on_is_rebuilt_although_its_runs_are_the_same(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace)
    run = await editor.say(thread, "say: before\nfail: broken")
    old = await preview(editor, thread)
    await editor.ended((await editor.call("run/retry", run_id=run.id)).run)
    answer = await editor.call(
        "run/start",
        thread_id=thread.id,
        message={"text": "say: here"},
        selection=UNDERSTUDY,
        handoff_ids=[old.id],
    )
    (replaced,) = answer.replaced_handoffs
    assert (replaced.from_, (await stored(editor, replaced.to)).run_ordinals) == (old.id, old.run_ordinals)
    assert (await editor.ended(answer.run)).handoff_ids == (replaced.to,)


async def test_a_regenerated_handoff_supersedes_the_old_one_and_stays_for_the_same_provider(
    editor: Editor, thread: Thread
) -> None:
    old = await preview(editor, thread)
    wishes = {"strategy": "full_thread_summary", "budget_tokens": 900}
    command = command_id()
    new = (await editor.call("handoff/regenerate", handoff_id=old.id, command_id=command, **wishes)).handoff
    assert (new.strategy, new.tokens.budget, new.run_ordinals) == ("full_thread_summary", 900, (1, 3))
    assert new.made_for is not None
    assert new.made_for.selection.provider == "understudy"
    assert (await stored(editor, old.id)).superseded_by == new.id
    again = (await editor.call("handoff/regenerate", handoff_id=old.id, command_id=command, **wishes)).handoff
    assert again == new
    with pytest.raises(Refused) as refused:
        await editor.call("handoff/regenerate", handoff_id=old.id)
    assert (refused.value.kind, refused.value.data["status"]) == ("invalidState", "superseded")


async def test_a_discarded_handoff_cannot_be_sent_and_a_sent_one_not_be_discarded(
    editor: Editor, thread: Thread
) -> None:
    given_up = await preview(editor, thread)
    discarded = (await editor.call("handoff/discard", handoff_id=given_up.id)).handoff
    assert (discarded.status, discarded.superseded_by) == ("superseded", None)
    with pytest.raises(Refused) as refused:
        await editor.begin(thread, "say: no", "understudy", handoff_ids=[given_up.id])
    assert refused.value.kind == "invalidState"
    sent = await preview(editor, thread)
    await editor.say(thread, "say: yes", "understudy", handoff_ids=[sent.id])
    for method, params in (
        ("handoff/discard", {}),
        ("handoff/edit", {"summary_text": "x"}),
        ("handoff/regenerate", {}),
    ):
        with pytest.raises(Refused) as refused:
            await editor.call(method, handoff_id=sent.id, **params)
        assert refused.value.kind == "invalidState"
    with pytest.raises(Refused) as refused:
        await editor.call("handoff/discard", handoff_id="hof_none")
    assert refused.value.kind == "handoffNotFound"


async def test_a_queued_run_follows_the_handoff_that_it_named(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace, runtime_mode="approvalRequired")
    await editor.say(thread, "say: one")
    asking = await editor.begin(thread, "run true")
    request = await editor.asked(asking)
    old = await preview(editor, thread)
    queued = await editor.begin(thread, "say: later", "understudy", handoff_ids=[old.id])
    new = (await editor.call("handoff/edit", handoff_id=old.id, summary_text="In my words.")).handoff
    (run,) = [run for run in (await editor.read(thread)).runs if run.id == queued.id]
    assert run.handoff_ids == (new.id,)
    await editor.call("request/respond", request_id=request.id, decision="accept")
    ended = await editor.ended(queued)
    assert ended.handoff_ids[0] == new.id
    follows = await stored(editor, ended.handoff_ids[1])
    assert follows.run_ordinals == (2,)


async def test_a_handoff_counts_as_delivered_when_the_turn_is_taken_and_not_when_it_ends(
    editor: Editor, thread: Thread
) -> None:
    run = await editor.begin(thread, "sleep 60000", "understudy")
    await editor.until(lambda n: isinstance(n, HandoffProgress) and n.run_id == run.id and n.phase == "delivered")
    assert phases(editor, run) == ["deciding", "collecting", "ready", "delivering", "delivered"]
    (info,) = [info for info in (await editor.read(thread)).handoffs if info.target_run_id == run.id]
    assert info.delivery is not None
    assert info.delivery.status == "delivered"
    await editor.call("run/interrupt", run_id=run.id)
    assert (await editor.ended(run)).status == "interrupted"
    assert phases(editor, run)[-1] == "delivered"


async def test_the_phases_end_with_how_the_handoff_ended(editor: Editor, thread: Thread) -> None:
    before = len(editor.told)
    await preview(editor, thread, command_id=(command := command_id()))
    told = [n for n in editor.told[before:] if isinstance(n, HandoffProgress)]
    assert [(n.phase, n.command_id) for n in told] == [(p, command) for p in ("deciding", "collecting", "ready")]
    with pytest.raises(Refused):
        await preview(editor, thread, budget_tokens=1)
    assert editor.all_told(HandoffProgress)[-1].phase == "failed"
    failed = await editor.say(thread, "say: x", "stillborn")
    assert failed.status == "failed"
    assert phases(editor, failed)[-1] == "failed"
