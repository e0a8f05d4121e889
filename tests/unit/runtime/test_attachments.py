"""What users attach to their messages: how it is kept, and how it is put to an agent."""

import asyncio
import base64
import hashlib
import os
import tracemalloc
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
from midstream.server.runtime.attachments import IMAGE_BYTES, MOST, AttachmentStore, check_attachments

PIXELS = b"\x89PNG not really"
NOT_A_FILE = ("is no regular file", "cannot be read: No such device or address")
HERE = Range(start=Position(line=2, character=0), end=Position(line=4, character=1))


@pytest.fixture
def store(tmp_path: Path) -> AttachmentStore:
    return AttachmentStore(tmp_path / "attachments")


def image(content: bytes = PIXELS) -> ImageAttachment:
    return ImageAttachment(mime_type="image/png", base64=base64.b64encode(content).decode())


def at(path: Path) -> ImageAttachment:
    return ImageAttachment(mime_type="image/png", uri=path.as_uri())


async def refusal(store: AttachmentStore, *images: ImageAttachment) -> str:
    """Return why the last of some images is refused."""
    with pytest.raises(InvalidParams) as refused:
        await store.stored("thr_1", "look", images, "attachments")
    assert refused.value.path == f"attachments[{len(images) - 1}]"
    return refused.value.message


async def test_an_image_is_described_in_the_record_and_whole_for_the_agent(store: AttachmentStore) -> None:
    (stored,) = (await store.stored("thr_1", "look", (image(),), "attachments")).attachments
    sha256 = hashlib.sha256(PIXELS).hexdigest()
    assert stored == StoredImage(mime_type="image/png", bytes=len(PIXELS), sha256=sha256, uri=None)
    assert await store.block("thr_1", stored) == ImageBlock(
        mime_type="image/png", base64=base64.b64encode(PIXELS).decode()
    )


async def test_an_image_is_kept_for_its_owner_alone_and_once(store: AttachmentStore, tmp_path: Path) -> None:
    await store.stored("thr_1", "look", (image(), image()), "attachments")
    (kept,) = (tmp_path / "attachments" / "thr_1").iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.parent.stat().st_mode & 0o777 == 0o700


async def test_an_image_may_be_a_file(store: AttachmentStore, tmp_path: Path) -> None:
    file = tmp_path / "a picture.png"
    file.write_bytes(PIXELS)
    (stored,) = (await store.stored("thr_1", "look", (at(file),), "attachments")).attachments
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
async def test_an_image_that_is_nowhere_is_refused_by_its_place(
    store: AttachmentStore, broken: ImageAttachment
) -> None:
    with pytest.raises(InvalidParams) as refused:
        await store.stored("thr_1", "look", (image(), broken), "message.attachments")
    assert refused.value.path == "message.attachments[1]"


def test_an_image_without_bytes_and_place_is_refused_before_anything_is_read() -> None:
    nowhere = ImageAttachment(mime_type="image/png")
    unread = ImageAttachment(mime_type="image/png", uri="file:///does/not/exist.png")
    check_attachments((image(), unread), "attachments")
    with pytest.raises(InvalidParams) as refused:
        check_attachments((unread, nowhere), "attachments")
    assert refused.value.path == "attachments[1]"


async def test_what_is_no_regular_file_is_refused_and_not_waited_for(store: AttachmentStore, tmp_path: Path) -> None:
    pipe, real, link = tmp_path / "pipe", tmp_path / "real", tmp_path / "link"
    os.mkfifo(pipe)
    real.write_bytes(PIXELS)
    link.symlink_to(real)
    for path in (pipe, tmp_path, Path("/dev/zero"), Path("/dev/tty")):
        assert await refusal(store, at(path)) in (f"{path.as_uri()} {why}" for why in NOT_A_FILE)
    assert await refusal(store, at(link)) == f"{link.as_uri()} is a symbolic link; name the file that it leads to"


@pytest.mark.parametrize(
    "uri",
    [
        *("file://elsewhere/a.png", "file:///a%00b", "file:a.png", "file://[x", "http://[x", "/a.png", "data:,x", "~"),
        *("file:///%ff%fe", "file:///" + "x" * 100_000),
    ],
)
async def test_what_names_no_file_of_this_machine_is_refused(store: AttachmentStore, uri: str) -> None:
    assert await refusal(store, ImageAttachment(mime_type="image/png", uri=uri))


async def test_an_image_of_10_gb_is_refused_and_never_held(store: AttachmentStore, tmp_path: Path) -> None:
    large = tmp_path / "large.png"
    with large.open("wb") as file:
        file.truncate(10_000_000_000)
    tracemalloc.start()
    try:
        assert str(IMAGE_BYTES) in await refusal(store, at(large))
        assert tracemalloc.get_traced_memory()[1] < 3 * IMAGE_BYTES
    finally:
        tracemalloc.stop()


async def test_the_images_of_a_message_are_bounded_together_however_they_come(
    store: AttachmentStore, tmp_path: Path
) -> None:
    half = tmp_path / "half.png"
    half.write_bytes(bytes(IMAGE_BYTES // 2))
    message = await store.stored("thr_1", "look", (at(half), image(bytes(IMAGE_BYTES // 2))), "attachments")
    assert sum(stored.bytes for stored in message.attachments if isinstance(stored, StoredImage)) == IMAGE_BYTES

    for one_more in (image(b"x"), image(b"xyz"), image(bytes(IMAGE_BYTES + 1)), at(half)):
        assert str(IMAGE_BYTES) in await refusal(store, at(half), at(half), one_more)


async def test_an_image_two_bytes_larger_than_what_is_left_is_refused(store: AttachmentStore, tmp_path: Path) -> None:
    file = tmp_path / "nearly.png"
    file.write_bytes(bytes(IMAGE_BYTES - 1))
    assert str(IMAGE_BYTES) in await refusal(store, at(file), image(b"xyz"))


def test_a_message_has_a_bounded_number_of_attachments() -> None:
    with pytest.raises(InvalidParams) as refused:
        check_attachments((image(),) * (MOST + 1), "attachments")
    assert refused.value.path == "attachments"


async def test_the_same_image_kept_by_many_at_once_is_one_file_for_its_owner(
    store: AttachmentStore, tmp_path: Path
) -> None:
    await asyncio.gather(*(store.stored("thr_1", "look", (image(),), "attachments") for _ in range(20)))
    (kept,) = (tmp_path / "attachments" / "thr_1").iterdir()
    assert (kept.read_bytes(), kept.stat().st_mode & 0o777) == (PIXELS, 0o600)


@pytest.mark.parametrize("uri", ["http://[x", "file://[x", "untitled:1", "", "file://elsewhere/a"])
async def test_a_uri_that_names_no_file_is_its_own_name(store: AttachmentStore, uri: str) -> None:
    block = await store.block("thr_1", FileAttachment(uri=uri))
    assert isinstance(block, AttachmentBlock)
    assert block.text == f"Attached file: {uri}"


async def test_files_selections_and_problems_are_put_in_words(store: AttachmentStore) -> None:
    uri = "file:///w/a%20b.py"
    blocks = [
        await store.block("thr_1", FileAttachment(uri=uri, range=HERE)),
        await store.block("thr_1", SelectionAttachment(uri=uri, range=HERE, text="x = 1")),
        await store.block("thr_1", DiagnosticsAttachment(uri=uri, items=({"message": "undefined name"},))),
    ]
    assert [block.text for block in blocks if isinstance(block, AttachmentBlock)] == [
        "Attached file: /w/a b.py, lines 3 to 5",
        "Selected in /w/a b.py, lines 3 to 5:\nx = 1",
        "Problems in /w/a b.py:\n- undefined name",
    ]
