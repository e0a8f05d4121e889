"""Attachments in words: an image's bytes never cross providers."""

from midstream.protocol.records.run import (
    DiagnosticsAttachment,
    FileAttachment,
    SelectionAttachment,
    StoredAttachment,
    StoredImage,
)
from midstream.server.handoff.text import one_line


def describe(attachment: StoredAttachment) -> str:
    """Return an attachment in words."""
    match attachment:
        case FileAttachment():
            return f"[file {attachment.uri}{_lines(attachment)}]"
        case SelectionAttachment():
            return f"[selection of {attachment.uri}{_lines(attachment)}]\n{attachment.text}"
        case DiagnosticsAttachment():
            messages = "; ".join(one_line(str(item.get("message", ""))) for item in attachment.items)
            return f"[{len(attachment.items)} diagnostics of {attachment.uri}: {messages}]"
        case StoredImage():
            place = f" at {attachment.uri}" if attachment.uri else ""
            return f"[image, {attachment.mime_type}, {attachment.bytes} bytes, sha256 {attachment.sha256}{place}]"


def _lines(attachment: FileAttachment | SelectionAttachment) -> str:
    if attachment.range is None:
        return ""
    return f", lines {attachment.range.start.line + 1}-{attachment.range.end.line + 1}"
