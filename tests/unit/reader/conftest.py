"""A data folder in this process, and a reader of it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from support.reading import Folder, folder_at

SECRET = "q7W2-xK9p-L3vB8n-Zt5"
"""A value of the daemon's environment that no shape gives away."""


@pytest.fixture
async def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Folder]:
    path = tmp_path / "data"
    path.mkdir(mode=0o700)
    monkeypatch.chdir(path)
    async with folder_at(path, frozenset({SECRET})) as folder:
        yield folder
