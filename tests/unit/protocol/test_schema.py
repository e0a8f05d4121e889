"""schema.json."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from midstream.protocol import schema
from midstream.protocol.methods.table import METHODS
from midstream.protocol.notifications import RECORD_CLASSES
from support.classes import sample
from support.contract import read_contract
from support.schemas import validator


def test_the_committed_schema_is_the_generated_one() -> None:
    committed = schema.SCHEMA_FILE.read_text(encoding="utf-8")
    assert committed == schema.rendered(), "run: python -m midstream.protocol.schema --write"


def test_the_schema_is_a_valid_one_and_all_its_references_lead_somewhere() -> None:
    document = schema.protocol_schema()
    Draft202012Validator.check_schema(document)
    text = schema.rendered()
    targets = {line.split('"')[3] for line in text.splitlines() if '"$ref"' in line}
    definitions = document["$defs"]
    assert isinstance(definitions, dict)
    assert targets <= {f"#/$defs/{name}" for name in definitions}


def test_the_tables_name_every_method_notification_and_error() -> None:
    document, contract = json.loads(schema.rendered()), read_contract()
    assert {name: entry["changes"] for name, entry in document["x-methods"].items()} == {
        name: method.changes for name, method in contract.methods.items()
    }
    assert document["x-methods"]["run/start"]["params"] == {"$ref": "#/$defs/RunStartParams"}
    assert document["x-methods"]["thread/delete"]["result"] == {"type": "null"}
    assert set(document["x-methods"]) == set(METHODS)
    assert set(document["x-notifications"]) == set(contract.notifications)
    assert document["x-errors"] == contract.errors


def test_a_thread_event_carries_the_record_that_its_type_names() -> None:
    event_schema = validator("ThreadEvent")
    records = {
        tag: sample(tuple[cls, ...])[0]  # type: ignore[valid-type]
        for tag, cls in RECORD_CLASSES.items()
    }
    for tag, record in records.items():
        event = {"threadId": "thr_1", "sequence": 1, "commandId": None, "type": tag, "record": record}
        assert event_schema.is_valid(event)
        for other in records.keys() - {tag}:
            assert not event_schema.is_valid({**event, "type": other})


def test_the_command_prints_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    schema.main([])
    assert capsys.readouterr().out == schema.rendered()


def test_the_command_rewrites_the_file_when_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "schema.json"
    monkeypatch.setattr(schema, "SCHEMA_FILE", target)
    schema.main(["--write"])
    assert target.read_text(encoding="utf-8") == schema.rendered()


def test_the_command_refuses_what_it_does_not_know() -> None:
    with pytest.raises(SystemExit, match="usage"):
        schema.main(["--wrte"])
