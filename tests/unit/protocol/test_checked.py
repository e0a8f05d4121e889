"""Strings of params that are taken in one form only; which methods take them is read from the table."""

from collections.abc import Iterator
from typing import Final, get_args

import attrs
import pytest

from midstream.protocol.base import LARGEST_INTEGER
from midstream.protocol.checked import LONGEST_COMMAND_ID, CommandId, RelativePath
from midstream.protocol.converter import structure
from midstream.protocol.errors import InvalidParams
from midstream.protocol.methods.table import METHODS
from midstream.protocol.methods.thread import ThreadCreateParams, ThreadSubscribeParams
from support.classes import CONVERTER, Class, classes_within
from support.paths import INSIDE, LEAVING, PLACES, Steps, named, params_with

WORDS: Final = {
    *("allow_secrets", "base64", "cursor", "field", "label", "message", "mime_type", "model", "provider", "query"),
    *("remote", "summarizer", "summary_text", "text", "title", "uri", "values", "work_done_token", "workspace"),
    *("from_", "to", "items", "options"),
}
"""Fields whose text is no path of the workspace: words, URIs, ids, and keys of free objects."""

ELSEWHERE: Final = {
    ("ItemOutputParams", "path"),  # compared with the names of an item's changes, never opened
    ("SessionImportParams", "path"),  # of an agent's own file, which lies where that agent keeps it
}


def texts_within(type_: object) -> Iterator[object]:
    """Yield the kinds of string that a type is made of, but for those of classes inside it."""
    if type_ in (str, RelativePath, CommandId):
        yield type_
    for arm in get_args(type_):
        yield from texts_within(arm)


FIELDS: Final[set[tuple[Class, str, object]]] = {
    (cls, field.name, kind)
    for method in METHODS.values()
    for cls in classes_within(method.params)
    for field in attrs.fields(cls)
    for kind in texts_within(field.type)
}


def test_every_string_that_a_method_takes_is_checked_as_a_path_or_known_to_be_none() -> None:
    unknown = {
        (cls.__name__, name)
        for cls, name, kind in FIELDS
        if kind is str and not name.endswith(("_id", "_ids")) and name not in WORDS
    }
    assert unknown == ELSEWHERE


def test_every_command_id_is_checked() -> None:
    assert {kind for _, name, kind in FIELDS if name == "command_id"} == {CommandId}


def test_the_methods_that_take_paths_are_found_with_the_places_of_those() -> None:
    found = {(method, named(steps)) for method, steps in PLACES}
    assert found >= {
        ("checkpoint/diff", "path"),
        ("checkpoint/file", "path"),
        ("checkpoint/restore", "paths[0]"),
        ("checkpoint/restore", "hunks[0].path"),
        ("checkpoint/restore", "dirtyPaths[0]"),
        ("thread/rollback", "dirtyPaths[0]"),
    }


@pytest.mark.parametrize(("method", "steps"), PLACES)
def test_a_path_that_leaves_the_workspace_is_refused_by_its_place_in_every_method(method: str, steps: Steps) -> None:
    for path in (*LEAVING, "half a pair \ud800"):
        with pytest.raises(InvalidParams, match="from the workspace's folder") as refused:
            structure(CONVERTER, params_with(method, steps, path), METHODS[method].params)
        assert refused.value.path == named(steps), path


@pytest.mark.parametrize(("method", "steps"), PLACES)
def test_a_path_inside_the_workspace_is_taken_however_odd_in_every_method(method: str, steps: Steps) -> None:
    for path in INSIDE:
        structure(CONVERTER, params_with(method, steps, path), METHODS[method].params)


@pytest.mark.parametrize("length", [0, LONGEST_COMMAND_ID + 1, 1_000_000])
def test_a_command_id_that_no_client_makes_is_refused(length: int) -> None:
    with pytest.raises(InvalidParams, match=f"1 to {LONGEST_COMMAND_ID} characters") as refused:
        structure(CONVERTER, {"workspace": "file:///w", "commandId": "x" * length}, ThreadCreateParams)
    assert refused.value.path == "commandId"


@pytest.mark.parametrize("integer", [LARGEST_INTEGER + 1, -LARGEST_INTEGER - 1, 2**64 - 1, 10**400])
def test_an_integer_that_not_every_client_and_store_can_hold_is_refused(integer: int) -> None:
    with pytest.raises(InvalidParams, match="expected integer from") as refused:
        structure(CONVERTER, {"threadId": "thr_1", "afterSequence": integer}, ThreadSubscribeParams)
    assert refused.value.path == "afterSequence"
