"""A Neovim for each test, and a script as another client of its daemon."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.neovim import Neovim, Script, neovim_on


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


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """A script on the same daemon."""
    return Script(tmp_path / "data")
