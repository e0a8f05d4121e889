"""A turn as the content blocks of a prompt; pure."""

from midstream.protocol.base import JsonObject
from midstream.server.providers.acp.capabilities import Agent
from midstream.server.providers.adapter import AttachmentBlock, ContextBlock, ImageBlock, TurnInput


def prompt_blocks(turn: TurnInput, agent: Agent) -> list[JsonObject]:
    """Return handoffs, then attachments, then the user's own text, last and unchanged."""
    return [
        *(_context(block) for block in turn.context),
        *(_attachment(block, agent) for block in turn.attachments),
        _text(turn.text),
    ]


def _context(block: ContextBlock) -> JsonObject:
    if block.channel == "embeddedResource":
        return _resource(f"midstream://handoff/{block.handoff_id}", "text/markdown", block.text)
    return _text(block.text)


def _attachment(block: AttachmentBlock | ImageBlock, agent: Agent) -> JsonObject:
    match block:
        case AttachmentBlock(uri=uri, text=text):
            return _resource(uri, "text/plain", text) if agent.embedded_context else _text(f"{uri}\n{text}")
        case ImageBlock(mime_type=mime_type, base64=base64):
            if agent.images:
                return {"type": "image", "mimeType": mime_type, "data": base64}
            return _text(f"[An image of type {mime_type} that this agent cannot take]")


def _resource(uri: str, mime_type: str, text: str) -> JsonObject:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": text}}


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}
