"""A small client of MCP stdio servers: each starts when a tool is first called, and ends with its session."""

import asyncio
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence

from attrs import frozen

from midstream.server.rehearsal.command import end_process_group
from midstream.server.rehearsal.directives import JsonObject
from midstream.server.rehearsal.rpc import LINE_LIMIT, METHOD_NOT_FOUND, Peer, RpcError, read_lines
from midstream.server.rehearsal.updates import ToolFailedError

PROTOCOL_VERSION = "2025-06-18"


@frozen
class McpServerConfig:
    """How to start a server, as ``session/new`` gave it."""

    name: str
    command: str
    args: tuple[str, ...]
    env: tuple[tuple[str, str], ...]


def read_configs(servers: object) -> tuple[McpServerConfig, ...]:
    """The stdio servers of a ``mcpServers`` list; the agent announces no other transport."""
    configs: list[McpServerConfig] = []
    for server in servers if isinstance(servers, list) else []:
        match server:
            case {"name": str(name), "command": str(command), "args": list(args), "env": list(env)}:
                variables = tuple((variable["name"], variable["value"]) for variable in env)
                configs.append(McpServerConfig(name, command, tuple(args), variables))
            case _:
                pass
    return tuple(configs)


class McpClient:
    """One running server; ``tools`` are the names that it offers."""

    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._peer = Peer(process.stdin, _refuse, _ignore)
        self._reading = asyncio.create_task(self._peer.serve(read_lines(process.stdout)))
        self.tools: frozenset[str] = frozenset()

    @classmethod
    async def start(cls, config: McpServerConfig) -> "McpClient":
        """Start a server and learn its tools; raises ``RpcError`` or ``OSError``."""
        process = await asyncio.create_subprocess_exec(
            config.command,
            *config.args,
            env={**os.environ, **dict(config.env)},
            stdin=PIPE,
            stdout=PIPE,
            limit=LINE_LIMIT,
            start_new_session=True,
        )
        client = cls(process)
        try:
            await client._handshake()
        except (RpcError, asyncio.CancelledError):  # no server stays behind that nobody holds
            await client.close()
            raise
        return client

    async def _handshake(self) -> None:
        client_info = {"name": "midstream-rehearsal", "version": "1"}
        await self._peer.request(
            "initialize", {"protocolVersion": PROTOCOL_VERSION, "capabilities": {}, "clientInfo": client_info}
        )
        await self._peer.notify("notifications/initialized", {})
        match await self._peer.request("tools/list", {}):
            case {"tools": list(tools)}:
                self.tools = frozenset(tool["name"] for tool in tools)
            case _:
                pass

    async def call(self, tool: str, arguments: JsonObject) -> JsonObject:
        return await self._peer.request("tools/call", {"name": tool, "arguments": arguments})

    async def close(self) -> None:
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        await end_process_group(self._process)


class McpServers:
    """The servers of one session."""

    def __init__(self, configs: Sequence[McpServerConfig]) -> None:
        self._configs = configs
        self._clients: dict[str, McpClient] = {}

    async def call(self, tool: str, arguments: JsonObject) -> JsonObject:
        """Call the tool on the first server that offers it; raises ``ToolFailedError`` when none does."""
        try:
            for config in self._configs:
                client = await self._client(config)
                if tool in client.tools:
                    return await client.call(tool, arguments)
        except RpcError as error:
            raise ToolFailedError(str(error)) from error
        raise ToolFailedError(f"No MCP server offers a tool {tool}.")

    async def _client(self, config: McpServerConfig) -> McpClient:
        if config.name not in self._clients:
            self._clients[config.name] = await McpClient.start(config)
        return self._clients[config.name]

    async def close(self) -> None:
        for client in self._clients.values():
            await client.close()


async def _refuse(method: str, params: JsonObject) -> JsonObject:
    raise RpcError(METHOD_NOT_FOUND, f"No method {method}.")


def _ignore(method: str, params: JsonObject) -> None:
    pass


def result_text(result: JsonObject) -> str:
    """The text of a tool's result."""
    match result:
        case {"content": list(content)}:
            return "\n".join(part["text"] for part in content if part.get("type") == "text")
        case _:
            return ""
