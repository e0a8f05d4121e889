import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.server.wire.framing import FRAME_LIMIT, BadFrame, Decoder, Frame, encode

PING = b'{"ping":1}'


def frame(body: bytes, header: bytes = b"Content-Length: %d") -> bytes:
    return header % len(body) + b"\r\n\r\n" + body


def decoded(*pieces: bytes, limit: int = FRAME_LIMIT) -> list[Frame]:
    decoder = Decoder(limit)
    return [found for piece in pieces for found in decoder.feed(piece)]


@given(st.lists(st.binary(max_size=40), max_size=4), st.lists(st.integers(1, 60)))
def test_frames_come_out_as_they_went_in_whatever_the_pieces(bodies: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(map(frame, bodies))
    pieces = []
    for cut in cuts:
        pieces.append(stream[:cut])
        stream = stream[cut:]

    assert decoded(*pieces, stream) == bodies


@pytest.mark.parametrize(
    "header",
    [
        b"content-length: %d",
        b"CONTENT-LENGTH:%d",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length:   %d  ",
        b"Content-Length: %d\r\nContent-Type: application/json",
        b"Content-Length: %d\r\nX-Other: a: b",
    ],
)
def test_a_header_is_read_however_it_is_written(header: bytes) -> None:
    assert decoded(frame(PING, header) + frame(b"next")) == [PING, b"next"]


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: many",
        b"Content-Length: -1",
        b"Content-Length: 1e3",
        b"Content-Length: 9999999999999999",
        b"Content-Length:",
        b"Content-Length: 1\r\nContent-Length: 2",
        b"Content-Type: application/json",
        b"",
        b"x" * 9000,
    ],
)
def test_after_a_header_that_gives_no_length_nothing_more_is_read(header: bytes) -> None:
    match decoded(header + b"\r\n\r\n" + frame(PING), frame(PING)):
        case [BadFrame(code=-32700, fatal=True)]:
            pass
        case other:
            pytest.fail(str(other))


def test_a_header_that_never_ends_is_given_up_after_8_kib() -> None:
    decoder = Decoder()
    found = [bad for _ in range(20) for bad in decoder.feed(b"x" * 1000)]

    assert [type(bad) for bad in found] == [BadFrame]


def test_a_frame_over_the_limit_is_refused_and_what_follows_it_is_read() -> None:
    stream = frame(b"y" * 1000) + frame(PING)

    for size in (1, 7, 600, len(stream)):
        pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
        bad, good = decoded(*pieces, limit=100)
        assert isinstance(bad, BadFrame)
        assert (bad.code, bad.fatal) == (-32600, False)
        assert good == PING


def test_input_that_ends_inside_a_frame_is_known_to_be_midway() -> None:
    for stream in (b"Content-Le", b"Content-Length: 5\r\n\r\nab", b"Content-Length: 999\r\n\r\nab"):
        decoder = Decoder(limit=100)
        list(decoder.feed(stream))
        assert decoder.midway
    assert not Decoder().midway


@given(st.recursive(st.none() | st.text() | st.integers(-(2**53), 2**53), st.lists, max_leaves=9))
def test_what_is_encoded_is_one_frame_of_json(message: object) -> None:
    (body,) = decoded(encode(message))

    assert isinstance(body, bytes)
    assert orjson.loads(body) == message


def test_half_a_surrogate_pair_is_written_escaped() -> None:
    assert decoded(encode({"text": "\ud83d"})) == [b'{"text": "\\ud83d"}']
