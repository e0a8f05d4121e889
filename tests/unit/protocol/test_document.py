"""PROTOCOL.md says what the classes say."""

import json
from types import NoneType

import attrs
import pytest

from midstream.protocol.converter import make_converter, structure
from midstream.protocol.errors import ERROR_CODES, ErrorData
from midstream.protocol.lifecycle import InitializationOptions, MidstreamCapabilities
from midstream.protocol.methods.params import ChangeParams
from midstream.protocol.methods.table import METHODS, NOTIFICATIONS
from midstream.protocol.names import camel
from midstream.protocol.records import config
from midstream.protocol.records.item import ItemBase
from support.classes import CLASSES, CONVERTER, FORBIDDING, Class, fields_of
from support.contract import DOCUMENT, read_contract, words_of

CONTRACT = read_contract()


def test_the_document_names_the_methods_and_notifications_that_there_are() -> None:
    assert set(CONTRACT.methods) == set(METHODS)
    assert set(CONTRACT.notifications) == set(NOTIFICATIONS)


@pytest.mark.parametrize("name", METHODS)
def test_the_params_of_a_method_are_those_documented(name: str) -> None:
    text = CONTRACT.methods[name]
    common = fields_of(ChangeParams)
    if not text.changes:
        del common["commandId?"]
    assert fields_of(METHODS[name].params) == text.params | common


@pytest.mark.parametrize("name", METHODS)
def test_the_result_of_a_method_is_the_one_documented(name: str) -> None:
    text, result = CONTRACT.methods[name].result, METHODS[name].result
    if isinstance(text, str):
        assert text == ("null" if result is NoneType else result.__name__)
    else:
        assert attrs.has(result)
        assert fields_of(result) == text


def test_a_method_names_only_errors_that_there_are_and_every_kind_has_its_code() -> None:
    assert CONTRACT.errors == ERROR_CODES
    named = {kind for method in CONTRACT.methods.values() for kind in method.errors}
    general = {"commandIdConflict", "storeLocked", "storeCorrupt", "storeNewer", "providerFailed"}
    assert named | general == set(ERROR_CODES)


@pytest.mark.parametrize("name", NOTIFICATIONS)
def test_the_fields_of_a_notification_are_those_documented(name: str) -> None:
    assert fields_of(NOTIFICATIONS[name]) == CONTRACT.notifications[name]


@pytest.mark.parametrize("name", CONTRACT.records)
def test_the_fields_of_a_record_are_those_documented(name: str) -> None:
    cls: Class = {**CLASSES, "ItemBase": ItemBase}[name]
    assert fields_of(cls) == CONTRACT.records[name]


def test_every_class_is_documented_as_a_record_or_within_its_method() -> None:
    methods = {part for method in METHODS.values() for part in (method.params, method.result)}
    within = {cls.__name__ for cls in (*methods, *NOTIFICATIONS.values())}
    assert set(CLASSES) - within - set(CONTRACT.records) == set()


def test_every_name_of_a_type_is_used_where_the_document_describes_the_wire() -> None:
    assert CONTRACT.names - words_of(DOCUMENT.read_text(encoding="utf-8")) == set()


def test_the_defaults_of_the_configuration_are_those_documented() -> None:
    tables = [type(table) for table in attrs.asdict(config.Config(), recurse=False).values() if attrs.has(type(table))]
    assert config.HandoffConfig in tables
    assert CONTRACT.defaults == {
        cls.__name__: {camel(name): value for name, value in make_converter().unstructure(cls()).items()}
        for cls in tables
    }


def test_the_worked_examples_are_frames_that_fit_the_contract() -> None:
    asked: dict[object, str] = {}
    for frame in CONTRACT.frames:
        name = str(frame.get("method"))
        assert frame["jsonrpc"] == "2.0"
        if name in METHODS:
            asked[frame["id"]] = name
            structure(FORBIDDING, frame["params"], METHODS[name].params)
        elif name in NOTIFICATIONS:
            structure(FORBIDDING, frame["params"], NOTIFICATIONS[name])
        elif frame.get("id") in asked and "result" in frame:
            structure(FORBIDDING, frame["result"], METHODS[asked[frame["id"]]].result)
    assert set(asked.values()) == {
        "thread/create",
        "thread/subscribe",
        "run/start",
        "run/steer",
        "request/respond",
    }


def test_the_example_of_initialize_and_that_of_an_error_fit_the_contract() -> None:
    frames = json.loads(json.dumps(CONTRACT.frames))
    asked, answer = frames[:2]
    [error] = [frame["error"] for frame in frames if "error" in frame]
    structure(FORBIDDING, asked["params"]["initializationOptions"], InitializationOptions)
    ours = answer["result"]["capabilities"]["experimental"]["midstream"]
    shown = structure(FORBIDDING, ours, MidstreamCapabilities)
    assert set(shown.methods) < set(METHODS)
    assert set(shown.notifications) < set(NOTIFICATIONS)
    data = structure(CONVERTER, error["data"], ErrorData)
    assert error["code"] == ERROR_CODES[data.kind]


def test_the_length_of_the_framed_example_is_that_of_its_body() -> None:
    framed = DOCUMENT.read_text(encoding="utf-8").split("```text\n")[1].split("\n```")[0]
    header, empty, body = framed.split("\n")
    assert empty == "\\r\\n"
    assert header == f"Content-Length: {len(body)}\\r\\n"
