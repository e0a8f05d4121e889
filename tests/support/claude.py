"""The real Claude Code for tests: a private home, the tests' own model, and no way to any other."""

from pathlib import Path
from typing import Any

import claude_agent_sdk
import psutil

from support.models.messages import HARNESS
from support.models.server import ModelServer

MODEL = "claude-sonnet-4-5"


def claude_home(folder: Path, model: ModelServer) -> dict[str, str]:
    """Make a private home for Claude Code and return the environment that leads there."""
    home = folder / "claude-home"
    home.mkdir(parents=True)
    return {
        "HOME": str(folder),
        "CLAUDE_CONFIG_DIR": str(home),
        "CLAUDE_CODE_TMPDIR": str(folder),
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "no-key",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "0",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_AUTOUPDATER": "1",
        "ENABLE_TOOL_SEARCH": "false",
    }


def claude_provider(env: dict[str, str], **more: Any) -> dict[str, Any]:
    """Return the configuration of the real Claude Code in that home."""
    return {"driver": "claude", "env": env, "model": MODEL, **more}


def user_blocks(body: dict[str, Any]) -> list[str]:
    """Return the texts that a request says in the user's role, without what Claude Code itself put there."""
    texts = [
        block["text"]
        for message in body["messages"]
        if message["role"] == "user"
        for block in _blocks(message["content"])
        if block["type"] == "text"
    ]
    return [text for text in texts if not HARNESS.match(text)]


def _blocks(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def claude_cli() -> str:
    """Return the Claude Code that the SDK brings."""
    return str(Path(claude_agent_sdk.__file__).with_name("_bundled") / "claude")


def claude_process(env: dict[str, str]) -> psutil.Process:
    """Return the one Claude Code that runs in a private home."""
    (found,) = [process for process in psutil.process_iter() if _runs_in(process, env["CLAUDE_CONFIG_DIR"])]
    return found


def _runs_in(process: psutil.Process, home: str) -> bool:
    try:
        return process.environ().get("CLAUDE_CONFIG_DIR") == home and Path(process.exe()).name == "claude"
    except (psutil.Error, OSError):
        return False
