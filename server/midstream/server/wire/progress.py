"""LSP's work-done progress of one request."""

import asyncio
from collections.abc import Callable
from typing import Final

from lsprotocol import types as lsp


class Progress:
    """Reports on one token; silent where the client gave none."""

    def __init__(self, tell: Callable[[str, object], None], token: str | int | None) -> None:
        self._tell = tell
        self._token = token
        self.cancelled: Final = asyncio.Event()
        """Set once the user does not want to wait for the work any longer."""

    def begin(self, title: str) -> None:
        """Say that work begins."""
        self._say(lsp.WorkDoneProgressBegin(title=title, cancellable=True))

    def report(self, message: str, percentage: int | None = None) -> None:
        """Say how far the work is; the percentage, from 0 to 100, never goes back."""
        self._say(lsp.WorkDoneProgressReport(message=message, percentage=percentage))

    def end(self) -> None:
        """Say that the work is over, well or not."""
        self._say(lsp.WorkDoneProgressEnd())

    def _say(self, value: object) -> None:
        if self._token is not None:
            self._tell(lsp.PROGRESS, lsp.ProgressParams(token=self._token, value=value))
