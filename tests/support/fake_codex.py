"""Starting the scripted app-server as a driver."""

import json
import sys
from pathlib import Path
from typing import Any

from attrs import frozen

from midstream.protocol.records.config import ProviderConfig
from midstream.server.providers.codex.driver import CodexDriver
from midstream.server.providers.requests import Patience

PROGRAM = Path(__file__).with_name("fake_app_server.py")
THREAD = "thread-1"
LOG = "codex.log"
INCOMPLETE = {"error": {"code": -32600, "message": "Invalid request: missing field `threadId`"}}
OPENED = {
    "thread": {"id": THREAD},
    "model": "a-model",
    "approvalPolicy": "untrusted",
    "approvalsReviewer": "user",
    "sandbox": {"type": "workspaceWrite", "networkAccess": True},
}
SOUND: dict[str, Any] = {
    "initialize": {"userAgent": "midstream/9.8.7 (Linux)"},
    "thread/start": OPENED,
    "thread/resume": INCOMPLETE,
    "thread/fork": {"error": {"code": -32600, "message": "Invalid request: invalid type: integer `0`"}},
    "thread/revert": INCOMPLETE,
    "thread/turns/list": INCOMPLETE,
    "thread/unsubscribe": INCOMPLETE,
    "turn/start": {"error": {"code": -32600, "message": "Invalid request: invalid type: integer `0`"}},
    "turn/steer": INCOMPLETE,
    "turn/interrupt": INCOMPLETE,
    "model/list": {"data": []},
    "account/read": {"account": {"type": "apiKey"}, "requiresOpenaiAuth": True},
}
"""The answers of a Codex that has all we use."""


@frozen
class FakeCodex:
    """A scripted app-server that is to be started, and the log of what it received."""

    driver: CodexDriver
    log: Path

    def received(self, method: str) -> list[dict[str, Any]]:
        """Return the params of all requests of a method."""
        return [line.get("params", {}) for line in self._lines() if line.get("method") == method]

    def answers(self) -> dict[int, dict[str, Any]]:
        """Return what it was answered to requests of its own."""
        return {line["id"]: line for line in self._lines() if "method" not in line}

    def _lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]


def fake_codex(folder: Path, without: tuple[str, ...] = (), **answers: Any) -> FakeCodex:
    """Return a Codex that lacks some methods and answers others as given, with ``_`` for ``/`` in their names."""
    command = fake_codex_command(folder, without, **answers)
    patience = Patience(cancel=0.5)
    return FakeCodex(CodexDriver("codex", ProviderConfig(driver="codex", command=command), patience), folder / LOG)


def fake_codex_command(folder: Path, without: tuple[str, ...] = (), **answers: Any) -> tuple[str, ...]:
    """Return what starts such a Codex."""
    script = {name: answer for name, answer in SOUND.items() if name not in without}
    script.update({name.replace("_", "/"): answer for name, answer in answers.items()})
    file = folder / "codex.json"
    file.write_text(json.dumps(script))
    return sys.executable, "-S", str(PROGRAM), str(file), str(folder / LOG)
