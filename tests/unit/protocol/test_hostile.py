"""Params that nobody well-behaved would send: they fit, or they are InvalidParams, and nothing else comes out."""

import tracemalloc
from contextlib import suppress
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midstream.protocol.base import Reason
from midstream.protocol.converter import structure
from midstream.protocol.errors import InvalidParams
from midstream.protocol.lifecycle import InitializationOptions
from midstream.protocol.methods.run import RunStartParams
from midstream.protocol.methods.table import METHODS
from midstream.protocol.nesting import DEEPEST, is_too_deep, may_be_too_deep
from midstream.protocol.records.config import ProviderConfig
from support.classes import CONVERTER, FORBIDDING, Class, sample
from support.hostile import JSON

PARAMS: Final[list[Class]] = [*dict.fromkeys(method.params for method in METHODS.values()), InitializationOptions]


def deep(depth: int) -> object:
    """Return arrays and objects in each other, `depth` of them."""
    value: object = None
    for level in range(depth):
        value = [value] if level % 2 else {"type": value}
    return value


HOSTILE: Final = st.one_of(
    JSON,
    st.sampled_from([10**400, -(10**400), float("nan"), float("inf"), 1e308, "\ud800", "\0", "x" * 100_000, 2**63]),
    st.sampled_from([deep(50), deep(5000), [[]] * 1000, {}, [], [None], True, -0.0]),
)


@st.composite
def mangled(draw: st.DrawFn, cls: Class) -> Any:
    """Params that fit but for some values, at any depth, that were put in the place of theirs, or left out."""

    def mangle(value: Any, chance: int) -> Any:
        match draw(st.integers(0, chance)), value:
            case 0, _:
                return draw(HOSTILE)
            case 1, dict() if value:
                return {key: inner for key, inner in value.items() if key != draw(st.sampled_from(sorted(value)))}
            case _, dict():
                return {key: mangle(inner, 8) for key, inner in value.items()}
            case _, list():
                return [mangle(inner, 8) for inner in value]
            case _:
                return value

    return mangle(sample(cls), 20)


@pytest.mark.parametrize("cls", PARAMS, ids=lambda cls: cls.__name__)
@settings(max_examples=15)
@given(data=st.data())
def test_any_params_fit_or_are_refused_by_a_field(cls: Class, data: st.DataObject) -> None:
    value = data.draw(mangled(cls) | HOSTILE)
    with suppress(InvalidParams):
        assert isinstance(structure(CONVERTER, value, cls), cls)


def test_params_nested_without_end_are_read_as_far_as_they_are_known() -> None:
    params = {"threadId": "thr_1", "message": {"text": "x"}, "unknown": deep(100_000)}
    assert structure(CONVERTER, params, RunStartParams).thread_id == "thr_1"
    with pytest.raises(InvalidParams) as refused:
        structure(CONVERTER, {**params, "message": {"text": deep(100_000)}}, RunStartParams)
    assert refused.value.path == "message.text"


@pytest.mark.parametrize(
    ("cls", "params", "path"),
    [
        (RunStartParams, {"threadId": "t", "message": {"text": "x"}, "handoffIds": [7] * 1_000_000}, "handoffIds[0]"),
        (ProviderConfig, {"driver": "acp", "env": {str(number): 7 for number in range(100_000)}}, "env.0"),
        (ProviderConfig, {"driver": "acp", **{f"{number:06}": 7 for number in range(100_000)}}, ""),
    ],
    ids=["a list", "a map", "keys"],
)
def test_of_a_million_faults_the_first_is_kept_alone(cls: Class, params: Any, path: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(InvalidParams) as refused:
            structure(FORBIDDING, params, cls)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert refused.value.path == path
    assert len(refused.value.message) < 1000


def test_a_refusal_does_not_repeat_what_was_sent() -> None:
    value = {"code": "x" * 1_000_000, "message": "x"}
    with pytest.raises(InvalidParams) as refused:
        structure(CONVERTER, value, Reason)
    assert len(refused.value.message) < 1000


@pytest.mark.parametrize(
    ("depth", "too_deep"), [(0, False), (1, False), (DEEPEST, False), (DEEPEST + 1, True), (10**4, True)]
)
def test_depth_counts_arrays_and_objects_inside_each_other(depth: int, too_deep: bool) -> None:
    assert is_too_deep(deep(depth)) is too_deep
    assert is_too_deep([1, deep(depth), "x"] if depth else 1) is (depth >= DEEPEST)


def test_no_text_that_is_too_deep_is_passed_over_by_the_cheap_look() -> None:
    assert may_be_too_deep(b'{"a":' * DEEPEST + b"[]" + b"}" * DEEPEST)
    assert may_be_too_deep(b"[" * (DEEPEST + 1))
    assert not may_be_too_deep(b'{"words": "' + b"x" * 10**6 + b'"}')
