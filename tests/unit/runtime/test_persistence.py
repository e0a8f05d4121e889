"""Commits that are tried until the disk takes them."""

import logging

import pytest

from midstream.protocol.errors import ErrorKind, MidstreamError
from midstream.server.runtime import persistence
from midstream.server.runtime.persistence import until_stored
from midstream.server.store import StoreFailed


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(persistence, "FIRST_PAUSE", 0.001)


async def test_a_commit_is_tried_until_it_is_stored_and_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    failures: list[Exception] = [StoreFailed("full"), MidstreamError("storeLocked", "in use"), StoreFailed("full")]

    async def commit() -> str:
        if failures:
            raise failures.pop(0)
        return "stored"

    with caplog.at_level(logging.ERROR):
        assert await until_stored(commit, "The end") == "stored"
    assert [record.getMessage() for record in caplog.records] == [
        "The end cannot be stored and is tried until it can; make room on the disk: (not logged)"
    ]


@pytest.mark.parametrize("kind", ["threadNotFound", "storeCorrupt"])
async def test_what_is_refused_for_another_reason_is_not_tried_again(kind: ErrorKind) -> None:
    async def commit() -> None:
        raise MidstreamError(kind, "No.")

    with pytest.raises(MidstreamError, match="No"):
        await until_stored(commit, "The end")
