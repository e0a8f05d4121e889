"""Long texts stand shortened in records and whole in the log."""

from typing import Any

import attrs
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midstream.protocol.converter import make_converter
from midstream.protocol.records.item import ChangedFile, FileChangeItem, Shortened
from midstream.protocol.records.run import Run
from midstream.server.graph import commands as c
from midstream.server.graph.events import Event, ItemPut, TextAppended
from midstream.server.graph.items import as_it_stands
from midstream.server.graph.texts import KEPT, RECORD_EVERY, SHOWN, GrowingText
from support.graph import Story, base, command, words

CONVERTER = make_converter()


def shown(text: str, field: str) -> tuple[str, Shortened | None]:
    """Return a finished text as a record shows it."""
    return GrowingText().appended(text).shown(field)


@pytest.fixture
def run(story: Story) -> Run:
    return story.go(story.start())


def varied(length: int) -> str:
    """A text in which every stretch is told from every other."""
    return "".join(f"{number:07d}." for number in range(length // 8 + 1))[:length]


def stream(story: Story, run: Run, item: Any, field: Any, text: str, size: int) -> None:
    story.hear(run, c.ObservedItem(item=item))
    for start in range(0, len(text), size):
        piece = c.ObservedText(item_id=item.id, field=field, text=text[start : start + size])
        story.hear(run, piece)


def bytes_of(event: Event) -> int:
    """What an event weighs in the log: a record as JSON, text as itself with an offset and a length beside it."""
    if isinstance(event, TextAppended):
        return len(event.text.encode()) + len(event.item_id) + len(event.field) + 16
    return len(orjson.dumps(CONVERTER.unstructure(event.record)))


@pytest.mark.parametrize("length", [0, 1, KEPT - 1, KEPT, KEPT + 1, SHOWN - 1, SHOWN])
def test_a_text_that_is_not_long_stands_whole(length: int) -> None:
    assert shown(varied(length), "text") == (varied(length), None)


def test_a_longer_text_stands_with_its_head_and_its_tail() -> None:
    text = varied(SHOWN + 1)
    mark = Shortened(field="text", path=None, head_length=KEPT, tail_offset=len(text) - KEPT)
    assert shown(text, "text") == (text[:KEPT] + text[-KEPT:], mark)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(min_value=0, max_value=3 * KEPT).map(varied), max_size=6))
def test_a_text_is_shown_the_same_however_it_came(pieces: list[str]) -> None:
    grown = GrowingText()
    for piece in pieces:
        grown = grown.appended(piece)
    whole = "".join(pieces)
    assert grown.shown("text") == shown(whole, "text")
    assert grown.length == len(whole)


def test_length_counts_code_points() -> None:
    text, mark = shown("🌊" * SHOWN, "text")
    assert (len(text), mark) == (SHOWN, None)


def test_a_long_message_of_the_user_is_whole_in_the_log_and_shortened_in_its_item(story: Story) -> None:
    text = varied(20_000)
    run = story.start(text)
    (item,) = story.items().values()
    assert story.run(run.id).message.text == text
    assert item.text == text[:KEPT] + text[-KEPT:]  # type: ignore[union-attr]
    assert item.shortened == (Shortened(field="text", head_length=KEPT, tail_offset=20_000 - KEPT),)
    assert story.text(item.id, "text") == text


def test_a_short_text_is_in_its_record_alone(story: Story, run: Run) -> None:
    story.hear(run, c.ObservedItem(item=words("itm_000900", run, varied(SHOWN))))
    assert story.items()["itm_000900"].shortened is None
    assert story.text("itm_000900", "text") == ""


def test_each_long_field_of_an_item_is_shortened_for_itself(story: Story, run: Run) -> None:
    long = attrs.evolve(command("itm_000900", run, varied(9_000), "completed"), command=varied(10_000))
    story.hear(run, c.ObservedItem(item=long))
    item = story.item(long)
    assert [mark.field for mark in item.shortened or ()] == ["command", "output"]
    assert (story.text(item.id, "command"), story.text(item.id, "output")) == (varied(10_000), varied(9_000))


def test_each_long_diff_of_a_change_is_shortened_for_itself(story: Story, run: Run) -> None:
    diffs = {"a": varied(9_000), "b": "short", "c": varied(10_000)}
    changes = tuple(ChangedFile(path=path, kind="modify", diff=diff) for path, diff in diffs.items())
    change = FileChangeItem(**base("itm_000900", run, "completed"), changes=changes)
    story.hear(run, c.ObservedItem(item=change))
    item = story.item(change)
    assert [(mark.field, mark.path) for mark in item.shortened or ()] == [("diff", "a"), ("diff", "c")]
    assert [file.diff for file in item.changes] == [shown(diff, "diff")[0] for diff in diffs.values()]
    assert (story.text(item.id, "diff", "a"), story.text(item.id, "diff", "c")) == (diffs["a"], diffs["c"])
    assert story.text(item.id, "diff", "b") == ""


@pytest.mark.parametrize("length", [100, 20_000])
def test_a_streamed_text_is_whole_in_the_log_and_as_ever_in_its_item(story: Story, run: Run, length: int) -> None:
    said = words("itm_000900", run, status="running")
    stream(story, run, said, "text", varied(length), 300)
    assert as_it_stands(story.state, story.state.live_items[said.id]).text == shown(varied(length), "text")[0]  # type: ignore[union-attr]
    story.close(run)
    item = story.item(said)
    text, mark = shown(varied(length), "text")
    assert (item.text, item.shortened) == (text, (mark,) if mark else None)
    assert story.text(said.id, "text") == varied(length)
    assert len(story.state.texts) == 0


def test_text_streamed_onto_an_item_that_had_some_goes_on_from_there(story: Story, run: Run) -> None:
    live = command("itm_000900", run, output="first ")
    stream(story, run, live, "output", "second third", 7)
    story.close(run)
    assert story.text(live.id, "output") == "first second third"
    assert story.item(live).output == "first second third"


def test_two_items_grow_side_by_side(story: Story, run: Run) -> None:
    one, two = words("itm_000900", run, status="running"), command("itm_000901", run)
    stream(story, run, one, "text", "abc", 1)
    stream(story, run, two, "output", "xyz", 1)
    story.hear(run, c.ObservedText(item_id=one.id, field="text", text="d"))
    assert (story.text(one.id, "text"), story.text(two.id, "output")) == ("abcd", "xyz")


def test_a_growing_text_s_record_is_put_anew_after_every_stretch(story: Story, run: Run) -> None:
    said = words("itm_000900", run, status="running")
    stream(story, run, said, "text", varied(2 * RECORD_EVERY), RECORD_EVERY // 4)
    versions = [event for event in story.events if isinstance(event, ItemPut) and event.record.id == said.id]
    assert [version.record.status for version in versions] == ["running"] * 3
    assert story.item(said).text == shown(varied(2 * RECORD_EVERY), "text")[0]


def test_text_between_two_records_has_no_sequence_of_its_own(story: Story, run: Run) -> None:
    said = words("itm_000900", run, status="running")
    story.hear(run, c.ObservedItem(item=said))
    before = story.state.sequence
    story.hear(run, c.ObservedText(item_id=said.id, field="text", text="more"))
    assert story.state.sequence == before


def test_the_log_grows_in_step_with_what_is_streamed(story: Story, run: Run) -> None:
    megabyte, piece = 1_000_000, 200
    before = len(story.events)
    stream(story, run, words("itm_000900", run, status="running"), "text", varied(megabyte), piece)
    story.close(run)
    weights = [bytes_of(event) for event in story.events[before:]]
    assert megabyte < sum(weights) < 1_500_000
    assert len(weights) < megabyte / piece * 1.01 + 10


def test_the_state_of_a_streamed_text_stays_small(story: Story, run: Run) -> None:
    said = words("itm_000900", run, status="running")
    stream(story, run, said, "text", varied(500_000), 10_000)
    (grown,) = story.state.texts.values()
    assert len(grown.head) + len(grown.tail) == 2 * KEPT
    assert len(story.state.live_items[said.id].text) <= SHOWN  # type: ignore[union-attr]


def test_a_whole_text_that_goes_on_from_the_last_one_adds_what_is_new(story: Story) -> None:
    run = story.go(story.start())
    text = varied(3 * SHOWN)
    for length in (SHOWN + 10, 2 * SHOWN, 3 * SHOWN):
        said = words("itm_000900", run, text[:length], status="running")
        story.hear(run, c.ObservedItem(item=said))
    item = story.item(said)
    assert (item.text, item.shortened) == (shown(text, "text")[0], (shown(text, "text")[1],))
    assert story.text(item.id, "text") == text


def test_a_record_comes_before_the_text_behind_it(story: Story) -> None:
    run = story.go(story.start())
    story.hear(run, c.ObservedItem(item=words("itm_000900", run, varied(2 * SHOWN))))
    place = [event for event in story.events if isinstance(event, ItemPut | TextAppended)][-2:]
    assert [type(event) for event in place] == [ItemPut, TextAppended]
    assert not story.state.texts
