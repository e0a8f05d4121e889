"""What users attach to messages: images are kept as files, the rest is put in words for the provider.

An image may lie anywhere that the user can read: what leaves the workspace in this way is the user's own choice,
made in an editor. That choice is of what it is seen to be: a symbolic link, which a workspace can hold under any
name, is not followed.
"""

import asyncio
import base64
import hashlib
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from midstream.protocol.base import Range, ThreadId
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
from midstream.server.runtime.files import NotRead, TooLarge, path_of, read_regular

IMAGE_BYTES: Final = 20 * 1024 * 1024
"""How large all images of one message may be together."""

MOST: Final = 1000
"""How many attachments a message may have."""

TOO_LARGE: Final = f"the images of a message have at most {IMAGE_BYTES} bytes together"
PARTIAL: Final = ".partial"
NO_IMAGE: Final = "an image needs base64, or the file:// URI of a file that can be read"


def check_attachments(attachments: tuple[Attachment, ...] | None, field: str) -> None:
    """Look at what can be said of attachments without reading them; `field` names the attachments among the params.

    Raises:
        InvalidParams: an image has neither its bytes nor a place, or they are too many.
    """
    if len(attachments or ()) > MOST:
        raise InvalidParams(f"at most {MOST} attachments", field)
    for place, attachment in enumerate(attachments or ()):
        if isinstance(attachment, ImageAttachment) and attachment.base64 is None and attachment.uri is None:
            raise InvalidParams(NO_IMAGE, f"{field}[{place}]")


class AttachmentStore:
    """Images below a folder of the daemon's own, each named by its content in the folder of its thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def tidy(self) -> None:
        """Remove what a killed daemon left half written."""
        for partial in self._folder.glob(f"**/*{PARTIAL}"):
            partial.unlink()

    async def stored(
        self, thread_id: ThreadId, text: str, attachments: tuple[Attachment, ...] | None, field: str
    ) -> Message:
        """Return a message as it is kept.

        Raises:
            InvalidParams: an image has neither base64 nor a `file://` URI that can be read, or they are too large.
        """
        kept: list[StoredAttachment] = []
        room = IMAGE_BYTES
        for place, attachment in enumerate(attachments or ()):
            if isinstance(attachment, ImageAttachment):
                image = await asyncio.to_thread(self._keep, thread_id, attachment, room, f"{field}[{place}]")
                room -= image.bytes
                kept.append(image)
            else:
                kept.append(attachment)
        return Message(text=text, attachments=tuple(kept))

    def _keep(self, thread_id: ThreadId, image: ImageAttachment, room: int, field: str) -> StoredImage:
        content = _bytes_of(image, room, field)
        sha256 = hashlib.sha256(content).hexdigest()
        path = self._folder / thread_id / sha256
        self._folder.mkdir(mode=0o700, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        if not path.exists():
            _write(path, content)
        return StoredImage(mime_type=image.mime_type, bytes=len(content), sha256=sha256, uri=image.uri)

    def remove(self, thread_id: ThreadId) -> None:
        """Remove what a deleted thread kept."""
        with suppress(FileNotFoundError):
            shutil.rmtree(self._folder / thread_id)

    async def block(self, thread_id: ThreadId, attachment: StoredAttachment) -> AttachmentBlock | ImageBlock:
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
                content = await asyncio.to_thread((self._folder / thread_id / sha256).read_bytes)
                return ImageBlock(mime_type=mime_type, base64=base64.b64encode(content).decode())


def _write(path: Path, content: bytes) -> None:
    """Make a file for its owner alone, whole or not at all, however many write it at once."""
    descriptor, partial = tempfile.mkstemp(suffix=PARTIAL, dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(partial).replace(path)
    finally:
        Path(partial).unlink(missing_ok=True)


def _bytes_of(image: ImageAttachment, room: int, field: str) -> bytes:
    if image.base64 is None:
        return _read(image.uri or "", room, field)
    return _decoded(image.base64, room, field)


def _decoded(text: str, room: int, field: str) -> bytes:
    if len(text) * 3 // 4 - 2 > room:  # the last two bytes may be padding
        raise InvalidParams(TOO_LARGE, field)
    try:
        content = base64.b64decode(text, validate=True)
    except ValueError:
        raise InvalidParams(NO_IMAGE, field) from None
    if len(content) > room:
        raise InvalidParams(TOO_LARGE, field)
    return content


def _read(uri: str, room: int, field: str) -> bytes:
    try:
        return read_regular(path_of(uri), room, follow=False)
    except TooLarge:
        raise InvalidParams(TOO_LARGE, field) from None
    except NotRead as error:
        raise InvalidParams(f"{uri} {error}", field) from None
    except (FileNotFoundError, ValueError):
        raise InvalidParams(NO_IMAGE, field) from None


def _name(uri: str) -> str:
    try:
        return str(path_of(uri))
    except ValueError:
        return uri


def _lines(range_: Range | None) -> str:
    return "" if range_ is None else f", lines {range_.start.line + 1} to {range_.end.line + 1}"
