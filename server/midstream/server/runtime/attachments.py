"""What users attach to messages: images are kept as files, the rest is put in words for the provider."""

import base64
import binascii
import hashlib
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from midstream.protocol.base import Range
from midstream.protocol.errors import InvalidParams
from midstream.protocol.records.run import (
    Attachment,
    DiagnosticsAttachment,
    FileAttachment,
    ImageAttachment,
    Message,
    SelectionAttachment,
    StoredAttachment,
    StoredImage,
)
from midstream.server.providers.adapter import AttachmentBlock, ImageBlock

NO_IMAGE: Final = "an image needs base64, or the file:// URI of a file that can be read"


def check_images(attachments: tuple[Attachment, ...] | None, field: str) -> None:
    """Look at what can be said of images without reading them; `field` names the attachments among the params.

    Raises:
        InvalidParams: an image has neither its bytes nor a place.
    """
    for place, attachment in enumerate(attachments or ()):
        if isinstance(attachment, ImageAttachment) and attachment.base64 is None and attachment.uri is None:
            raise InvalidParams(NO_IMAGE, f"{field}[{place}]")


class AttachmentStore:
    """Images below a folder of the daemon's own, each named by its content."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def stored(self, text: str, attachments: tuple[Attachment, ...] | None, field: str) -> Message:
        """Return a message as it is kept.

        Raises:
            InvalidParams: an image has neither base64 nor a `file://` URI that can be read.
        """
        kept = tuple(
            self._keep(attachment, f"{field}[{place}]") if isinstance(attachment, ImageAttachment) else attachment
            for place, attachment in enumerate(attachments or ())
        )
        return Message(text=text, attachments=kept)

    def _keep(self, image: ImageAttachment, field: str) -> StoredImage:
        content = _bytes_of(image, field)
        sha256 = hashlib.sha256(content).hexdigest()
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / sha256
        if not path.exists():
            partial = path.with_suffix(".partial")
            partial.touch(mode=0o600)
            partial.write_bytes(content)
            partial.replace(path)
        return StoredImage(mime_type=image.mime_type, bytes=len(content), sha256=sha256, uri=image.uri)

    def block(self, attachment: StoredAttachment) -> AttachmentBlock | ImageBlock:
        """Return an attachment as it is sent to a provider."""
        match attachment:
            case FileAttachment(uri=uri, range=range_):
                return AttachmentBlock(uri=uri, text=f"Attached file: {_name(uri)}{_lines(range_)}")
            case SelectionAttachment(uri=uri, range=range_, text=text):
                return AttachmentBlock(uri=uri, text=f"Selected in {_name(uri)}{_lines(range_)}:\n{text}")
            case DiagnosticsAttachment(uri=uri, items=items):
                lines = [f"- {item.get('message', '')}" for item in items]
                return AttachmentBlock(uri=uri, text="\n".join([f"Problems in {_name(uri)}:", *lines]))
            case StoredImage(mime_type=mime_type, sha256=sha256):
                content = (self._folder / sha256).read_bytes()
                return ImageBlock(mime_type=mime_type, base64=base64.b64encode(content).decode())


def _bytes_of(image: ImageAttachment, field: str) -> bytes:
    try:
        if image.base64 is not None:
            return base64.b64decode(image.base64, validate=True)
        parts = urlsplit(image.uri or "")
        if parts.scheme == "file":
            return Path(unquote(parts.path)).read_bytes()
    except (binascii.Error, OSError, ValueError):
        pass
    raise InvalidParams(NO_IMAGE, field)


def _name(uri: str) -> str:
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" else uri


def _lines(range_: Range | None) -> str:
    return "" if range_ is None else f", lines {range_.start.line + 1} to {range_.end.line + 1}"
