"""Configurations of providers whose agent is `bad_agent.py` with a script."""

import json
import sys
from pathlib import Path
from typing import Any

BAD_AGENT = Path(__file__).with_name("bad_agent.py")


def provider(folder: Path, script: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration of an agent that follows a script; what it receives is in `folder`'s `log`."""
    folder.mkdir(parents=True)
    (folder / "script.json").write_text(json.dumps(script))
    command = [sys.executable, str(BAD_AGENT), str(folder / "script.json"), str(folder / "log")]
    return {"driver": "acp", "command": command}


def received(folder: Path) -> list[dict[str, Any]]:
    """Return all that the agents of a folder received so far."""
    return [json.loads(line) for line in (folder / "log").read_text().splitlines()]


def chunk(text: str) -> dict[str, Any]:
    """Return the update that brings a piece of the agent's message."""
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
