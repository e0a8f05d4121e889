"""How Claude Code is started for a conversation: its arguments and its environment; pure but for what is inherited.

Everything that a conversation runs with stands in the arguments, so that a resumed one is asserted anew.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from midstream.protocol.base import JsonObject
from midstream.protocol.records.thread import RuntimeMode
from midstream.server.providers.adapter import ThreadOptions
from midstream.server.providers.process import child_environment
from midstream.server.providers.reading import text_of

_STREAMS: Final = (
    "--output-format=stream-json",
    "--input-format=stream-json",
    "--verbose",
    "--include-partial-messages",
    "--replay-user-messages",
    "--permission-prompt-tool=stdio",
)
_MODES: Final[Mapping[RuntimeMode, str]] = {
    "readOnly": "default",
    "approvalRequired": "default",
    "autoAcceptEdits": "acceptEdits",
    "fullAccess": "acceptEdits",
}
"""`bypassPermissions` is not among them: root may not have it, and nothing that it allows is told before it happens."""
SOURCES: Final = "user"
"""Whose settings count, unless configured. A workspace's own can allow commands, and run hooks, unasked."""
_PREFIXES: Final = ("CLAUDE", "ANTHROPIC", "MCP_", "AI_AGENT")
_OURS: Final = {
    "CLAUDE_CODE_ENTRYPOINT": "sdk-py",
    "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",  # without it, it waits long for hosts that it cannot reach
}


def arguments(options: ThreadOptions, model: str | None, sources: str) -> tuple[str, ...]:
    """Return what a conversation is started with; `model` and `sources` are those configured for this provider.

    Where nothing may be changed, nobody's settings count: they could allow commands that change something.
    """
    given: JsonObject = options.options or {}
    mode = "plan" if planning(options) else _MODES[options.runtime_mode]
    counted = "" if options.runtime_mode == "readOnly" else sources
    words = [*_STREAMS, f"--permission-mode={mode}", f"--setting-sources={counted}"]
    if chosen := options.model or model:
        words.append(f"--model={chosen}")
    if effort := text_of(given, "effort"):
        words.append(f"--effort={effort}")
    if options.mcp_servers:
        servers = {
            one.name: {"type": "stdio", "command": one.command, "args": list(one.args), "env": dict(one.env)}
            for one in options.mcp_servers
        }
        words.append(f"--mcp-config={json.dumps({'mcpServers': servers})}")
    if options.throw_away:
        words += ["--no-session-persistence", "--tools=", "--strict-mcp-config"]
    return tuple(words)


def planning(options: ThreadOptions) -> bool:
    """Return whether Claude is to plan, and to change nothing before its plan is accepted."""
    return (options.options or {}).get("plan") is True


def environment(configured: Mapping[str, str]) -> dict[str, str]:
    """Return the inherited environment without what steers a Claude Code, with `configured` over it."""
    inherited = {name: value for name, value in child_environment({}).items() if not name.startswith(_PREFIXES)}
    return {**inherited, **_OURS, **configured}


def config_folder(env: Mapping[str, str]) -> Path:
    """Return the folder in which a Claude Code of that environment keeps its conversations."""
    chosen = env.get("CLAUDE_CONFIG_DIR")
    return Path(chosen) if chosen else Path(env.get("HOME", "/")) / ".claude"
