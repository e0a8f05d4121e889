"""What does not fit is refused, and the place of the fault is named as it is on the wire."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from midstream.protocol.converter import make_converter, structure
from midstream.protocol.errors import InvalidParams
from midstream.protocol.lifecycle import InitializationOptions
from midstream.protocol.methods.provider import ProviderListParams
from midstream.protocol.methods.run import RunStartParams
from midstream.protocol.methods.session import SyncStatusParams
from midstream.protocol.methods.table import METHODS, NOTIFICATIONS
from midstream.protocol.methods.thread import ThreadCreateParams, ThreadForkParams, ThreadItemsParams
from midstream.protocol.notifications import RECORD_CLASSES, ThreadEvent
from midstream.protocol.records.config import Config
from midstream.protocol.schema import ROOTS
from support.classes import ANYTHING, CLASSES, CONVERTER, FORBIDDING, MAP_KEY, Class, sample
from support.schemas import required, validator

EVENTS = [
    {**sample(ThreadEvent), "type": tag, "record": record}
    for tag, cls in RECORD_CLASSES.items()
    for record in sample(tuple[cls, ...])  # type: ignore[valid-type]
]
SAMPLES: list[tuple[Class, Any]] = [
    (InitializationOptions, sample(InitializationOptions)),
    *((cls, sample(cls)) for cls in dict.fromkeys(method.params for method in METHODS.values())),
    *((cls, sample(cls)) for cls in NOTIFICATIONS.values() if cls is not ThreadEvent),
    *((ThreadEvent, event) for event in EVENTS),
]
Step = str | int


def steps_into(value: object) -> Iterator[tuple[Step, ...]]:
    """Yield the way to every value inside a JSON value but those that may be anything."""
    pairs: list[tuple[Step, object]] = []
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = list(enumerate(value))
    for step, inner in pairs:
        if inner != ANYTHING:
            yield (step,)
            yield from ((step, *rest) for rest in steps_into(inner))


def path_of(steps: tuple[Step, ...]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".")


def value_at(value: Any, steps: tuple[Step, ...]) -> Any:
    for step in steps:
        value = value[step]
    return value


def with_value(value: Any, steps: tuple[Step, ...], new: object) -> Any:
    """Return a JSON value that shares all but the way to one place, where `new` stands."""
    if not steps:
        return new
    altered = value.copy()
    altered[steps[0]] = with_value(value[steps[0]] if steps[1:] else None, steps[1:], new)
    return altered


def named(case: object) -> str | None:
    return case.__name__ if isinstance(case, type) else None


@pytest.mark.parametrize(("cls", "value"), SAMPLES, ids=named)
def test_a_wrong_type_at_any_depth_is_refused_with_its_path(cls: Class, value: Any) -> None:
    structure(CONVERTER, value, cls)
    for steps in steps_into(value):
        wrong = [7] if not isinstance(value_at(value, steps), dict | list) else 7
        with pytest.raises(InvalidParams) as refusal:
            structure(CONVERTER, with_value(value, steps, wrong), cls)
        assert refusal.value.path == path_of(steps)


@pytest.mark.parametrize(("cls", "value"), SAMPLES, ids=named)
def test_an_unknown_key_at_any_depth_is_ignored_or_where_forbidden_named(cls: Class, value: Any) -> None:
    known = structure(CONVERTER, value, cls)
    for steps in [(), *steps_into(value)]:
        inner = value_at(value, steps)
        if not isinstance(inner, dict) or MAP_KEY in inner or inner == {}:
            continue
        surplus = with_value(value, (*steps, "notOfOurs"), 1)
        assert structure(CONVERTER, surplus, cls) == known
        with pytest.raises(InvalidParams, match="unknown: notOfOurs") as refusal:
            structure(FORBIDDING, surplus, cls)
        assert refusal.value.path == path_of(steps)


@pytest.mark.parametrize("name", CLASSES)
def test_converter_and_schema_agree_on_each_value_of_each_field(name: str) -> None:
    value = sample(CLASSES[name]) if name != "ThreadEvent" else EVENTS[0]
    assert validator(name).is_valid(value)
    for key in value.keys() - {"record"}:
        allowed = validator(f"{name}/properties/{key}")
        for other in ("other", 7, 1.5, True, None, ["other"], {"other": 7}):
            if other is not None or key in required(name):
                assert fits({**value, key: other}, CLASSES[name]) == allowed.is_valid(other), (key, other)


def fits(value: object, cls: Class) -> bool:
    try:
        structure(CONVERTER, value, cls)
    except InvalidParams:
        return False
    return True


@pytest.mark.parametrize("cls", [cls for cls in CLASSES.values() if cls in ROOTS], ids=named)
def test_a_field_may_be_missing_only_where_the_schema_says_so(cls: Class) -> None:
    value = sample(cls) if cls is not ThreadEvent else EVENTS[0]
    for key in value:
        without = {name: inner for name, inner in value.items() if name != key}
        if key in required(cls.__name__):
            with pytest.raises(InvalidParams, match="required, but missing") as refusal:
                structure(CONVERTER, without, cls)
            assert refusal.value.path == key
        else:
            assert structure(CONVERTER, without, cls) == structure(CONVERTER, {**value, key: None}, cls)


@pytest.mark.parametrize("cls", [SyncStatusParams, ProviderListParams, Config])
def test_an_empty_array_is_taken_for_an_empty_object(cls: Class) -> None:
    assert structure(CONVERTER, [], cls) == cls()


def test_an_empty_array_is_taken_for_an_empty_object_inside_params_too() -> None:
    params = {"workspace": "file:///w", "selection": {"provider": "codex", "model": None, "options": []}}
    created = structure(CONVERTER, params, ThreadCreateParams)
    assert created.selection is not None
    assert created.selection.options == {}
    assert structure(CONVERTER, {"providers": []}, Config).providers == {}


def test_an_array_with_something_in_it_is_not_an_object() -> None:
    with pytest.raises(InvalidParams, match="expected object, got array") as refusal:
        structure(CONVERTER, {"workspace": "file:///w", "selection": ["codex"]}, ThreadCreateParams)
    assert refusal.value.path == "selection"


@pytest.mark.parametrize("value", [None, 7, "text", True, [7]])
def test_params_that_are_no_object_are_refused_as_a_whole(value: object) -> None:
    with pytest.raises(InvalidParams, match="expected object") as refusal:
        structure(CONVERTER, value, SyncStatusParams)
    assert refusal.value.path == ""


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_json_does_not_have_is_refused(number: float) -> None:
    with pytest.raises(InvalidParams, match="expected finite number") as refusal:
        structure(CONVERTER, {"sessions": {"idleMinutes": number}}, Config)
    assert refusal.value.path == "sessions.idleMinutes"


def test_a_fault_names_what_is_allowed() -> None:
    with pytest.raises(InvalidParams, match="expected one of auto, queue, steer, restart"):
        structure(CONVERTER, {"threadId": "thr_1", "message": {"text": "x"}, "delivery": "now"}, RunStartParams)


def test_an_unknown_tag_is_a_fault_of_the_tag_and_names_the_known_ones() -> None:
    with pytest.raises(InvalidParams, match="latestStable, run, checkpoint, subagent") as refusal:
        structure(CONVERTER, {"threadId": "thr_1", "from": {"type": "yesterday"}}, ThreadForkParams)
    assert refusal.value.path == "from.type"


@pytest.mark.parametrize("last", [False, 1, "true"])
def test_a_flag_that_can_only_be_true_is_nothing_else(last: object) -> None:
    with pytest.raises(InvalidParams) as refusal:
        structure(CONVERTER, {"threadId": "thr_1", "last": last}, ThreadItemsParams)
    assert refusal.value.path == "last"


def test_an_absent_optional_field_does_not_stand_on_the_wire_and_a_null_one_does() -> None:
    thread = sample(CLASSES["Thread"])
    del thread["selection"]["options"]
    thread["archivedAt"] = None
    instance = structure(CONVERTER, thread, CLASSES["Thread"])
    assert json.loads(json.dumps(CONVERTER.unstructure(instance))) == thread


def test_a_result_that_is_null_is_null() -> None:
    assert structure(make_converter(), None, type(None)) is None
    with pytest.raises(InvalidParams):
        structure(make_converter(), {}, type(None))
