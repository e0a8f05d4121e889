"""What agents write, read line by line: anything at all, and the reader goes on."""

import asyncio
import json
import tracemalloc
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from midstream.protocol.nesting import DEEPEST
from midstream.protocol.records.run import Usage
from midstream.server.graph.commands import ObservedItem, ObservedRequest, ObservedUsage
from midstream.server.providers.acp.capabilities import parse_agent
from midstream.server.providers.acp.failures import rpc_failure
from midstream.server.providers.acp.messages import parse_update
from midstream.server.providers.acp.modes import models, parse_choices
from midstream.server.providers.acp.permissions import parse_permission, request_asked
from midstream.server.providers.acp.updates import Translator
from midstream.server.providers.connection import parse_line, read_lines
from midstream.server.providers.reading import count_of
from midstream.server.runtime.transcript import Setting, Transcript
from midstream.server.store.codec import decode, encode
from support.hostile import JSON, nested

WORKSPACE: Final = Path("/w")
CHUNK: Final = 65_536


class Pieces:
    """A stream that brings given pieces."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = list(pieces)

    async def read(self, _: int) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""


def lines_of(pieces: Sequence[bytes], limit: int) -> list[bytes]:
    async def collect() -> list[bytes]:
        return [line async for line in read_lines(Pieces([piece for piece in pieces if piece]), limit)]  # type: ignore[arg-type]

    return asyncio.run(collect())


@given(st.lists(st.binary(max_size=30) | st.text("a\n", max_size=30).map(str.encode), max_size=8))
def test_lines_are_those_of_the_whole_whatever_the_pieces_and_long_ones_are_left_out(pieces: list[bytes]) -> None:
    whole = b"".join(pieces).split(b"\n")[:-1]
    assert lines_of(pieces, 8) == [line for line in whole if 0 < len(line) <= 8]


def test_a_line_that_never_ends_is_never_held() -> None:
    limit = 1_000_000
    endless = [b"x" * CHUNK] * 640  # 40 MiB
    tracemalloc.start()
    try:
        assert lines_of([*endless, b"\n{}\n"], limit) == [b"{}"]
        assert tracemalloc.get_traced_memory()[1] < 4 * limit
    finally:
        tracemalloc.stop()


@given(st.binary(max_size=60) | JSON.map(json.dumps).map(str.encode))
@example(b'{"id": 1, "result": {"n": NaN}}')
@example(b'{"n": Infinity}')
@example(b'{"n": 1e999, "half": "\\ud800"}')
@example(b'{"n": 1' + b"0" * 400 + b"}")
@example(b'{"n": 1' + b"0" * 5000 + b"}")
@example(b'{"half": "\\ud800", "n": 1' + b"0" * 400 + b"}")
@example(b'{"\\ud800": 1}')
@example(b'{"a": 1, "a": 2}')
@example(b"\xef\xbb\xbf{}")
@example(b"\0")
@example(nested(900).encode())
@example(nested(1000, inside='"\\ud800"').encode())
@example(nested(100_000).encode())
@example(b"[" * 100_000)
@example(b'{"a":' * 100_000)
def test_any_line_is_an_object_that_can_be_written_again_or_nothing(line: bytes) -> None:
    message = parse_line(line)
    assert json.loads(json.dumps(message, allow_nan=False)) == message


def test_a_number_that_json_does_not_have_costs_itself_and_not_the_message() -> None:
    assert parse_line(b'{"id": 1, "result": {"n": NaN, "m": -Infinity, "k": 2}}') == {
        "id": 1,
        "result": {"n": None, "m": None, "k": 2},
    }


def test_a_line_nested_deeper_than_can_be_stored_is_no_message() -> None:
    assert parse_line(f'{{"a": {nested(DEEPEST - 1)}}}'.encode()) != {}
    assert parse_line(f'{{"a": {nested(DEEPEST)}}}'.encode()) == {}


@pytest.mark.parametrize(("told", "read"), [(2**53, 2**53), (2**53 + 1, None), (2**64 - 1, None), (-1, None)])
def test_a_count_that_a_record_cannot_hold_is_taken_as_absent(told: int, read: int | None) -> None:
    assert count_of({"used": told}, "used") == read


KEYS: Final = [
    *("sessionUpdate", "content", "messageId", "_meta", "toolCallId", "title", "kind", "status", "rawInput"),
    *("rawOutput", "locations", "entries", "used", "size", "currentModeId", "type", "text", "path", "oldText"),
    *("newText", "uri", "resource", "mimeType", "options", "optionId", "name", "toolCall", "exitCode", "command"),
    *("midstream/turnStarted", "midstream/subagent", "midstream/question", "midstream/compaction", "data", "message"),
    *("modes", "availableModes", "models", "configOptions", "id", "value", "agentCapabilities", "promptCapabilities"),
]
WORDS: Final = [
    *("agent_message_chunk", "tool_call", "tool_call_update", "plan", "usage_update", "current_mode_update", "edit"),
    *("session_info_update", "text", "diff", "content", "resource_link", "execute", "fetch", "completed", "allow_once"),
]
VALUE: Final = st.recursive(
    st.sampled_from([None, True, -1, 0, 7, 2**53 + 1, 2**64 - 1, 0.5, "", "x", "../..", *WORDS]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=8,
)
OBJECT: Final = st.dictionaries(st.sampled_from(KEYS), VALUE, max_size=6)
UPDATE: Final = st.builds(
    lambda kind, call, rest: {"sessionUpdate": kind, "toolCallId": call, **rest},
    st.sampled_from(WORDS),
    st.sampled_from("ab"),
    OBJECT,
)


@given(st.lists(UPDATE, max_size=4), OBJECT)
def test_whatever_an_agent_tells_becomes_records_that_can_be_stored_and_read(updates: list[Any], asked: Any) -> None:
    translator, numbers = Translator("turn", WORKSPACE), count()
    setting = Setting(thread_id="thr_1", run_id="run_1", provider="bad", provider_thread_id="pth_1")
    transcript = Transcript(setting, lambda prefix: f"{prefix}_{next(numbers)}")
    told = [news for update in updates if (news := parse_update({"update": update})) is not None]
    events = [event for news in told for event in translator.translate(news)]
    asking = request_asked("ref", parse_permission(asked), None, WORKSPACE)
    for observation in transcript.take([*events, asking, *translator.finish("completed")]):
        match observation:
            case ObservedItem(item=record) | ObservedRequest(request=record):
                assert decode(encode(record), type(record)) == record
            case ObservedUsage(usage=record):
                assert decode(encode(record), Usage) == record
            case _:
                pass


@given(OBJECT)
def test_whatever_an_agent_answers_is_read(answer: Any) -> None:
    models(parse_choices(answer))
    parse_agent(answer)
    assert rpc_failure(answer).message
