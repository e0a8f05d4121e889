"""How large a value is, for what may wait or be kept."""

from midstream.server.providers.drafts import ToolDraft
from midstream.server.providers.events import ItemChanged, OutputAppended, merged
from midstream.server.providers.weight import weight


def text(of: str, ref: str = "m") -> OutputAppended:
    return OutputAppended(ref=ref, field="text", text=of)


def test_every_string_in_a_value_weighs_however_deep_it_lies() -> None:
    draft = ToolDraft(name="n", input={"a" * 1_000: [{"b": ("c" * 2_000,)}]}, output="d" * 4_000)
    event = ItemChanged(ref="r", parent_ref=None, draft=draft, status="completed")
    assert 7_000 < weight(event) < 7_300


def test_a_value_nested_deeper_than_calls_can_be_is_weighed() -> None:
    deep: object = "x" * 100
    for _ in range(5_000):
        deep = [deep]
    assert weight(deep) >= 100


def test_nothing_weighs_nothing() -> None:
    assert min(map(weight, (None, 0, True, "", 1.5))) > 0


def test_text_of_one_field_that_adjoins_is_joined_and_nothing_else() -> None:
    other = ItemChanged(ref="m", parent_ref=None, draft=ToolDraft(name="n", input=None), status="running")
    events = [text("a"), text("b"), text("c", "n"), other, other, text("d"), text("e")]
    assert list(merged(events)) == [text("ab"), text("c", "n"), other, other, text("de")]
