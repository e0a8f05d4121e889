"""Where a native conversation works, as agents are told it; pure."""

from midstream.protocol.base import JsonObject
from midstream.server.providers.adapter import ThreadOptions
from midstream.server.providers.requests import real_folder


def place(options: ThreadOptions) -> JsonObject:
    """Return where a conversation works, and with which MCP servers: never left out, some agents insist."""
    servers: list[JsonObject] = [
        {
            "name": server.name,
            "command": server.command,
            "args": list(server.args),
            "env": [{"name": name, "value": value} for name, value in server.env.items()],
        }
        for server in options.mcp_servers
    ]
    where: JsonObject = {"cwd": str(real_folder(options.workspace)), "mcpServers": servers}
    return {**where, "_meta": {"midstream/throwAway": True}} if options.throw_away else where
