"""A Neovim for each test, and a script as another client of its daemon."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from support.editor import PATIENCE, Editor, editor_on
from support.neovim import Neovim, neovim_on

T = TypeVar("T")


@pytest.fixture
def nvim(tmp_path: Path, workspace: Path) -> Iterator[Neovim]:
    """A Neovim in the workspace, whose agents may do everything unasked."""
    with neovim_on(tmp_path / "data", workspace, runtime_mode="fullAccess") as nvim:
        yield nvim


@pytest.fixture
def asking(tmp_path: Path, workspace: Path) -> Iterator[Neovim]:
    """A Neovim in the workspace, whose agents ask."""
    with neovim_on(tmp_path / "data", workspace) as nvim:
        yield nvim


class Script:
    """Another client, in a thread of its own: pynvim and it would not share a loop."""

    def __init__(self, data: Path) -> None:
        self.data = data

    def __call__(self, work: Callable[[Editor], Coroutine[Any, Any, T]]) -> T:
        """Connect, do some work, and leave."""
        results: list[T] = []

        async def connected() -> None:
            async with editor_on(self.data, "--rehearsal") as editor:
                results.append(await work(editor))

        thread = threading.Thread(target=lambda: asyncio.run(connected()), daemon=True)
        thread.start()
        thread.join(PATIENCE)
        assert results, "the script did not finish"
        return results[0]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """A script on the same daemon."""
    return Script(tmp_path / "data")
