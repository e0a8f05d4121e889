"""A turn as Codex takes it; pure.

A handoff on the channel `nativeData` goes as untrusted context: the model gets it as the output of a tool
before the user's message. Codex cuts every piece of context above 1000 tokens in its middle, so a handoff goes
in parts that are smaller, under names that keep their order.
"""

from collections.abc import Iterator
from typing import Final

from midstream.protocol.base import JsonObject
from midstream.server.providers.adapter import AttachmentBlock, ContextBlock, ImageBlock, TurnInput

PART_BYTES: Final = 3600
LABEL: Final = "midstream_handoff"


def turn_input(turn: TurnInput) -> list[JsonObject]:
    """Return handoffs that go as blocks, then attachments, then the user's own text, last and unchanged."""
    return [
        *(_text(block.text) for block in turn.context if block.channel != "nativeData"),
        *(_attachment(block) for block in turn.attachments),
        _text(turn.text),
    ]


def additional_context(turn: TurnInput) -> JsonObject:
    """Return the handoffs of the channel `nativeData`, part by part in the order to read them."""
    return {
        f"{LABEL}_{place:02}_{block.handoff_id}_{number:04}": {"kind": "untrusted", "value": part, "name": LABEL}
        for place, block in enumerate(turn.context)
        for number, part in enumerate(parts(block))
    }


def parts(block: ContextBlock) -> Iterator[str]:
    """Yield the text in pieces of at most `PART_BYTES` bytes, cut after a line where there is one."""
    if block.channel != "nativeData":
        return
    piece, size = "", 0
    for line in block.text.splitlines(keepends=True):
        for chunk in _chunks(line):
            length = len(chunk.encode())
            if piece and size + length > PART_BYTES:
                yield piece
                piece, size = "", 0
            piece, size = piece + chunk, size + length
    if piece:
        yield piece


def _chunks(line: str) -> Iterator[str]:
    """Yield a line in pieces of whole characters, none over the limit whatever its characters take."""
    widest = PART_BYTES // 4
    if len(line.encode()) <= PART_BYTES:
        yield line
    else:
        yield from (line[start : start + widest] for start in range(0, len(line), widest))


def _attachment(block: AttachmentBlock | ImageBlock) -> JsonObject:
    match block:
        case AttachmentBlock(uri=uri, text=text):
            return _text(f"{uri}\n{text}")
        case ImageBlock(mime_type=mime_type, base64=base64):
            return {"type": "image", "url": f"data:{mime_type};base64,{base64}"}


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text, "text_elements": []}
