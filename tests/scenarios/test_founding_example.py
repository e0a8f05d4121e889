"""The founding document's example, over the wire, with two real agent processes."""

import hashlib
from pathlib import Path

from midstream.protocol.records.item import HandoffItem
from support.editor import Editor, editor_on


def received(entries: list[dict[str, str]]) -> list[str]:
    """Return what an agent got in the user's role."""
    return [entry["text"] for entry in entries if entry["role"] == "user"]


async def test_runs_1_to_5_6_to_8_and_9_reach_each_agent_exactly_once(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    story = [("rehearsal", f"write first{n}.txt: {n}") for n in range(1, 6)]
    story += [("understudy", f"write second{n}.txt: {n}") for n in range(6, 9)]
    story += [("rehearsal", "write first9.txt: 9")]
    runs = [await editor.say(thread, text, provider) for provider, text in story]

    assert [run.status for run in runs] == ["completed"] * 9
    assert [run.ordinal for run in runs] == list(range(1, 10))
    read = await editor.read(thread)
    lived = {known.provider: known for known in read.provider_threads}
    assert lived["rehearsal"].native_run_ordinals == (1, 2, 3, 4, 5, 9)
    assert lived["understudy"].native_run_ordinals == (6, 7, 8)
    first = (await editor.call("handoff/read", handoff_id=runs[5].context_handoff_id)).handoff
    second = (await editor.call("handoff/read", handoff_id=runs[8].context_handoff_id)).handoff
    assert (first.strategy, first.run_ordinals) == ("full_thread_summary", (1, 2, 3, 4, 5))
    assert (second.strategy, second.run_ordinals) == ("delta_since_target_last_seen", (6, 7, 8))
    assert lived["understudy"].handoff_ids == (first.id,)
    assert lived["rehearsal"].handoff_ids == (second.id,)

    texts = [text for _, text in story]
    assert received(await editor.recall(thread, "rehearsal"))[:7] == [*texts[:5], second.sent_text, texts[8]]
    assert received(await editor.recall(thread, "understudy"))[:4] == [first.sent_text, *texts[5:8]]


async def test_the_bytes_sent_are_the_bytes_stored(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "write a.txt: one")
    run = await editor.say(thread, "say: hello", "understudy")
    handoff = (await editor.call("handoff/read", handoff_id=run.context_handoff_id)).handoff
    assert handoff.delivery.status == "delivered"
    assert handoff.delivery.sha256 == hashlib.sha256(handoff.sent_text.encode()).hexdigest()
    assert handoff.summary_text in handoff.sent_text
    assert received(await editor.recall(thread, "understudy"))[0] == handoff.sent_text


async def test_a_handoff_and_its_transfer_are_linked_to_the_run_that_consumed_them(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "write a.txt: one")
    run = await editor.say(thread, "say: hello", "understudy")
    read = await editor.read(thread)
    (handoff,) = read.handoffs
    (transfer,) = read.transfers
    assert run.handoff_ids == (handoff.id,) == (run.context_handoff_id,)
    assert handoff.target_run_id == transfer.target_run_id == run.id
    assert (handoff.transfer_id, transfer.status) == (transfer.id, "consumed")
    assert run.transfer_ids == (transfer.id,)
    (item,) = [item for item in await editor.items(thread, run) if isinstance(item, HandoffItem)]
    assert (item.handoff_id, item.from_providers, item.to_provider) == (handoff.id, ("rehearsal",), "understudy")


async def test_switching_and_back_with_no_run_in_between_hands_nothing_over(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "write a.txt: one")
    away = await editor.call(
        "provider/switch", thread_id=thread.id, selection={"provider": "understudy", "model": None}
    )
    assert away.plan.strategy == "full_thread_summary"
    back = await editor.call("provider/switch", thread_id=thread.id, selection={"provider": "rehearsal", "model": None})
    assert back.plan.strategy == "none"
    run = await editor.say(thread, "say: still here")
    assert run.handoff_ids == ()
    assert (await editor.read(thread)).handoffs == ()


async def test_an_agent_that_was_ended_meanwhile_is_resumed_with_a_delta(tmp_path: Path, workspace: Path) -> None:
    config = {"sessions": {"idleMinutes": 0}}
    async with editor_on(tmp_path / "data", "--rehearsal", config=config) as editor:
        thread = await editor.new_thread(workspace)
        first = await editor.say(thread, "say: one")
        await editor.until(
            lambda n: getattr(n, "type", "") == "providerSession" and n.record.status == "stopped"  # type: ignore[union-attr]
        )
        await editor.say(thread, "say: two", "understudy")
        third = await editor.say(thread, "say: three", "rehearsal")
        assert third.provider_thread_id == first.provider_thread_id
        assert third.plan is not None
        assert third.plan.strategy == "delta_since_target_last_seen"
