"""What users attach to their messages: how it is kept, and how it is put to an agent."""

import base64
import hashlib
from pathlib import Path

import pytest

from midstream.protocol.base import Position, Range
from midstream.protocol.errors import InvalidParams
from midstream.protocol.records.run import (
    DiagnosticsAttachment,
    FileAttachment,
    ImageAttachment,
    SelectionAttachment,
    StoredImage,
)
from midstream.server.providers.adapter import AttachmentBlock, ImageBlock
from midstream.server.runtime.attachments import AttachmentStore, check_images

PIXELS = b"\x89PNG not really"
HERE = Range(start=Position(line=2, character=0), end=Position(line=4, character=1))


@pytest.fixture
def store(tmp_path: Path) -> AttachmentStore:
    return AttachmentStore(tmp_path / "attachments")


def image(content: bytes = PIXELS) -> ImageAttachment:
    return ImageAttachment(mime_type="image/png", base64=base64.b64encode(content).decode())


def test_an_image_is_described_in_the_record_and_whole_for_the_agent(store: AttachmentStore) -> None:
    (stored,) = store.stored("look", (image(),), "attachments").attachments
    sha256 = hashlib.sha256(PIXELS).hexdigest()
    assert stored == StoredImage(mime_type="image/png", bytes=len(PIXELS), sha256=sha256, uri=None)
    assert store.block(stored) == ImageBlock(mime_type="image/png", base64=base64.b64encode(PIXELS).decode())


def test_an_image_is_kept_for_its_owner_alone_and_once(store: AttachmentStore, tmp_path: Path) -> None:
    store.stored("look", (image(), image()), "attachments")
    (kept,) = (tmp_path / "attachments").iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.parent.stat().st_mode & 0o777 == 0o700


def test_an_image_may_be_a_file(store: AttachmentStore, tmp_path: Path) -> None:
    file = tmp_path / "a picture.png"
    file.write_bytes(PIXELS)
    (stored,) = store.stored(
        "look", (ImageAttachment(mime_type="image/png", uri=file.as_uri()),), "attachments"
    ).attachments
    assert isinstance(stored, StoredImage)
    assert (stored.bytes, stored.uri) == (len(PIXELS), file.as_uri())


@pytest.mark.parametrize(
    "broken",
    [
        ImageAttachment(mime_type="image/png"),
        ImageAttachment(mime_type="image/png", base64="no base64!"),
        ImageAttachment(mime_type="image/png", uri="file:///does/not/exist.png"),
        ImageAttachment(mime_type="image/png", uri="https://example.org/a.png"),
    ],
)
def test_an_image_that_is_nowhere_is_refused_by_its_place(store: AttachmentStore, broken: ImageAttachment) -> None:
    with pytest.raises(InvalidParams) as refused:
        store.stored("look", (image(), broken), "message.attachments")
    assert refused.value.path == "message.attachments[1]"


def test_an_image_without_bytes_and_place_is_refused_before_anything_is_read() -> None:
    nowhere = ImageAttachment(mime_type="image/png")
    unread = ImageAttachment(mime_type="image/png", uri="file:///does/not/exist.png")
    check_images((image(), unread), "attachments")
    with pytest.raises(InvalidParams) as refused:
        check_images((unread, nowhere), "attachments")
    assert refused.value.path == "attachments[1]"


def test_files_selections_and_problems_are_put_in_words(store: AttachmentStore) -> None:
    uri = "file:///w/a%20b.py"
    blocks = [
        store.block(FileAttachment(uri=uri, range=HERE)),
        store.block(SelectionAttachment(uri=uri, range=HERE, text="x = 1")),
        store.block(DiagnosticsAttachment(uri=uri, items=({"message": "undefined name"},))),
    ]
    assert [block.text for block in blocks if isinstance(block, AttachmentBlock)] == [
        "Attached file: /w/a b.py, lines 3 to 5",
        "Selected in /w/a b.py, lines 3 to 5:\nx = 1",
        "Problems in /w/a b.py:\n- undefined name",
    ]
