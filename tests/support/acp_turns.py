"""Driving ACP agents in tests: the scripted bad agent as a driver, and turns as lists of events."""

import json
import sys
from pathlib import Path
from typing import Any

from attrs import frozen

from midstream.protocol.records.config import ProviderConfig
from midstream.server.providers.acp.driver import AcpDriver
from midstream.server.providers.requests import Patience

BRIEF = Patience(grace=0.05)
AGENT = Path(__file__).with_name("bad_agent.py")


def chunk(text: str, **more: object) -> dict[str, object]:
    """A message chunk, as an update of a script or as params of ``session/update``."""
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}, **more}


@frozen
class BadAgent:
    """A bad agent that is to be started, and the log of what it received."""

    driver: AcpDriver
    log: Path

    def received(self, method: str) -> list[dict[str, Any]]:
        """The params of every message of a method that the agent received."""
        return [line.get("params", {}) for line in self.lines() if line.get("method") == method]

    def answers(self) -> list[dict[str, Any]]:
        """Every answer that the agent received."""
        return [line for line in self.lines() if "method" not in line]

    def methods(self) -> list[str]:
        """The methods that the agent received, in order."""
        return [line["method"] for line in self.lines() if "method" in line]

    def lines(self) -> list[dict[str, Any]]:
        """Every message that the agent received, in order."""
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []


def bad_agent(folder: Path, patience: Patience = BRIEF, **script: object) -> BadAgent:
    """A bad agent; methods of the script are named with ``_`` for ``/``: ``session_prompt``."""
    file, log = folder / "script.json", folder / "received.jsonl"
    named = {name.replace("session_", "session/", 1): steps for name, steps in script.items()}
    file.write_text(json.dumps(named))
    command = (sys.executable, "-S", str(AGENT), str(file), str(log))
    return BadAgent(AcpDriver("bad", ProviderConfig(driver="acp", command=command), patience), log)
