"""A turn as Claude Code takes it; pure.

One message of the user with a block for each part: handoffs first, and the user's own text, last and unchanged.
`client_composed` has Claude Code hand it on as it is: no command at its start and no `@path` in it does anything.
"""

from collections.abc import AsyncIterator
from typing import Any

from midstream.protocol.base import JsonObject
from midstream.server.providers.adapter import AttachmentBlock, ImageBlock, TurnInput


def turn_message(turn: TurnInput, message_id: str) -> JsonObject:
    """Return the message of a turn; `message_id` is a fresh UUID, by which Claude Code tells that it took it."""
    blocks = [
        *(_text(block.text) for block in turn.context),
        *(_attachment(block) for block in turn.attachments),
        _text(turn.text),
    ]
    return _message(blocks, message_id)


def steer_message(text: str, message_id: str) -> JsonObject:
    """Return the message of steered words."""
    return _message([_text(text)], message_id)


async def streamed(message: JsonObject) -> AsyncIterator[dict[str, Any]]:
    """Yield a message as the SDK takes what is more than a text."""
    yield message


def _message(blocks: list[JsonObject], message_id: str) -> JsonObject:
    return {
        "type": "user",
        "message": {"role": "user", "content": blocks},
        "parent_tool_use_id": None,
        "uuid": message_id,
        "client_composed": True,
    }


def _attachment(block: AttachmentBlock | ImageBlock) -> JsonObject:
    match block:
        case AttachmentBlock(uri=uri, text=text):
            return _text(f"{uri}\n{text}")
        case ImageBlock(mime_type=mime_type, base64=base64):
            return {"type": "image", "source": {"type": "base64", "media_type": mime_type, "data": base64}}


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}
