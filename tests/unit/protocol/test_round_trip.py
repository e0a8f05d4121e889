"""Every class goes to JSON and back, and what it becomes fits the schema."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from midstream.protocol.converter import structure
from support.classes import CLASSES, FORBIDDING, instances
from support.schemas import validator

STRATEGIES = {name: instances(cls) for name, cls in CLASSES.items()}


@pytest.mark.parametrize("name", CLASSES)
@settings(
    max_examples=3,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_an_instance_fits_its_schema_as_json_and_comes_back_the_same(name: str, data: st.DataObject) -> None:
    instance = data.draw(STRATEGIES[name])
    value = json.loads(json.dumps(FORBIDDING.unstructure(instance)))
    validator(name).validate(value)
    assert structure(FORBIDDING, value, CLASSES[name]) == instance
