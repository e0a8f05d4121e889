"""The founding example, played with any two agents."""

from pathlib import Path

from attrs import frozen

from midstream.protocol.records.handoff import ContextHandoff
from midstream.protocol.records.run import Run
from scenarios.steps import handoff_of, received
from support.editor import Editor


@frozen
class Founding:
    """The founding example as it went: the runs' texts, and what each agent was handed."""

    texts: tuple[str, ...]
    full: ContextHandoff
    delta: ContextHandoff


async def founding(editor: Editor, workspace: Path, first: str, second: str) -> Founding:
    """Play runs 1 to 5, 6 to 8 and 9, and see that each agent lived its own and was told the others'."""
    thread = await editor.new_thread(workspace, first)
    story = [(first, f"write first{n}.txt: {n}") for n in range(1, 6)]
    story += [(second, f"write second{n}.txt: {n}") for n in range(6, 9)]
    story += [(first, "write first9.txt: 9")]
    runs: list[Run] = [await editor.say(thread, text, provider) for provider, text in story]
    texts = tuple(text for _, text in story)

    assert [run.status for run in runs] == ["completed"] * 9
    lived = {known.provider: known for known in (await editor.read(thread)).provider_threads}
    assert lived[first].native_run_ordinals == (1, 2, 3, 4, 5, 9)
    assert lived[second].native_run_ordinals == (6, 7, 8)
    full, delta = await handoff_of(editor, runs[5]), await handoff_of(editor, runs[8])
    assert (full.strategy, full.run_ordinals) == ("full_thread_summary", (1, 2, 3, 4, 5))
    assert (delta.strategy, delta.run_ordinals) == ("delta_since_target_last_seen", (6, 7, 8))
    assert (lived[first].handoff_ids, lived[second].handoff_ids) == ((delta.id,), (full.id,))
    if "rehearsal" in (first, second):
        seen = received(await editor.recall(thread, "rehearsal"))
        if first == "rehearsal":
            assert seen[:7] == [*texts[:5], delta.sent_text, texts[8]]
        else:
            assert seen[:4] == [full.sent_text, *texts[5:8]]
    return Founding(texts, full, delta)
