"""The reader's process: MCP over stdio, for as long as its token holds."""

import asyncio
import os
import subprocess
import sys
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest

from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.item import AgentMessageItem
from midstream.server.providers.adapter import McpServer
from midstream.server.reader.access import Access, Expired
from midstream.server.runtime.delegations import Order
from midstream.server.runtime.readers import TOKEN, Readers
from midstream.server.store import StoreFailed, Write, asking
from midstream.server.store.connection import Connection
from support import records
from support.reading import PREFACE, Delegations, Folder, client_of, said

EXPIRED = "This reader's token does not hold: the agent's session that it was given to is over."


async def ended(server: McpServer, *flags: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Return how a reader ends whose stdin is at its end."""
    environment = {**os.environ, **server.env, **env}
    command = [server.command, *server.args, *flags]
    run = partial(subprocess.run, command, env=environment, input="", capture_output=True, text=True, timeout=60)
    return await asyncio.to_thread(run)


@pytest.fixture
async def server(folder: Folder) -> McpServer:
    await folder.thread(records.item(AgentMessageItem, 1, text="alpha"))
    return folder.server()


async def test_an_agent_finds_tools_that_only_read_and_is_told_what_they_are_for(
    server: McpServer, tmp_path: Path
) -> None:
    async with client_of(server, tmp_path) as session:
        tools = (await session.list_tools()).tools
        assert [tool.name for tool in tools] == ["runs", "history", "items", "item", "search", "files", "file"]
        assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in tools)
        assert all(tool.description for tool in tools)
        assert await said(session, "items") == f"{PREFACE}- r1 itm_1 agentMessage, completed: alpha"
        refused = await session.call_tool("item", {"id": "itm_9"})
        assert refused.is_error
        assert "There is no item itm_9" in await said(session, "item", id="itm_9")


async def test_work_is_given_away_by_a_tool_that_is_there_only_where_the_user_allowed_it(
    folder: Folder, server: McpServer, tmp_path: Path
) -> None:
    folder.delegations.allowed = ("helper", "other")
    async with client_of(server, tmp_path) as session:
        (tool,) = [tool for tool in (await session.list_tools()).tools if tool.name == "delegate"]
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is False
        assert "helper, other" in str(tool.input_schema)
        told = await said(session, "delegate", provider="helper", prompt="do it", title="Do")
    assert told == f"{PREFACE}# r1 itm_1 agentMessage, completed\n# text:\n> alpha"
    assert folder.delegations.orders == [("pss_1", "thr_1", Order(provider="helper", prompt="do it", title="Do"))]


async def test_an_order_that_is_refused_tells_the_agent_why(folder: Folder, server: McpServer, tmp_path: Path) -> None:
    folder.delegations.allowed = ("helper",)
    folder.delegations.answer = MidstreamError("invalidState", "Nobody is free.")
    async with client_of(server, tmp_path) as session:
        refused = await session.call_tool("delegate", {"provider": "helper", "prompt": "do it"})
        assert refused.is_error
        assert "Nobody is free." in str(refused.content)
        assert "at most 524,288 bytes" in await said(session, "delegate", provider="helper", prompt="x" * 600_000)
        folder.readers.expire("pss_1")
        assert EXPIRED in await said(session, "delegate", provider="helper", prompt="do it")
    assert len(folder.delegations.orders) == 1


async def test_an_order_is_given_up_once_its_reader_is_gone(folder: Folder, server: McpServer) -> None:
    folder.delegations.answer = None
    waiting = asyncio.ensure_future(Access(Path(), server.env[TOKEN]).delegate("helper", "do it", ""))
    await asyncio.wait_for(folder.delegations.begun.wait(), 10)
    waiting.cancel()
    await asyncio.wait_for(folder.delegations.abandoned.wait(), 10)


@pytest.mark.parametrize("order", ["{", "[]", '{"provider": 1, "prompt": "", "title": ""}', '{"provider": "helper"}'])
async def test_an_order_that_is_none_is_not_answered(folder: Folder, server: McpServer, order: str) -> None:
    incoming, outgoing = await asyncio.open_unix_connection("reader.sock")
    outgoing.write(f"{server.env[TOKEN]} {order}\n".encode())
    assert await incoming.read() == b""
    outgoing.close()
    assert folder.delegations.orders == []


async def test_no_module_of_the_workspace_is_taken_for_one_of_ours(
    folder: Folder, server: McpServer, tmp_path: Path
) -> None:
    for name in ("mcp", "midstream", "asyncio", "pydantic"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('taken')")
    async with client_of(server, tmp_path) as session:
        assert "alpha" in await said(session, "items")


async def test_a_token_ends_with_the_agents_process_for_readers_that_run_too(
    folder: Folder, server: McpServer, tmp_path: Path
) -> None:
    async with client_of(server, tmp_path) as session:
        assert "alpha" in await said(session, "items")
        folder.alive = False
        assert EXPIRED in await said(session, "items")
        folder.alive = True
        folder.readers.expire("pss_1")
        assert EXPIRED in await said(session, "items")
    assert (await ended(server)).returncode == 1


async def test_a_token_is_of_one_thread_and_one_process(folder: Folder) -> None:
    first, again = folder.server(), folder.server()
    assert first == again
    others = [folder.server("thr_2"), folder.server(session_id="pss_2")]
    assert len({one.env[TOKEN] for one in (first, *others)}) == 3
    folder.readers.expire("pss_1", "thr_2")
    granted = [await granted_by(one) for one in (first, *others)]
    assert granted == ["thr_1", None, "thr_1"]
    folder.readers.expire("pss_1")
    assert await granted_by(first) is None
    assert folder.server().env[TOKEN] != first.env[TOKEN]


async def granted_by(server: McpServer) -> str | None:
    try:
        return (await Access(Path(), server.env[TOKEN]).grant()).thread_id
    except Expired:
        return None


@pytest.mark.parametrize("token", ["", "no token", "x" * 100_000])
async def test_without_a_token_that_holds_nothing_starts(server: McpServer, token: str) -> None:
    ran = await ended(server, **{TOKEN: token})
    assert (ran.returncode, ran.stdout, ran.stderr) == (1, "", f"midstream reader: {EXPIRED}\n")


async def test_a_token_may_stand_in_a_file_that_is_its_owners_alone(server: McpServer, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(server.env[TOKEN] + "\n")
    file.chmod(0o600)
    assert (await ended(server, "--token-file", str(file), **{TOKEN: ""})).returncode == 0
    file.chmod(0o640)
    ran = await ended(server, "--token-file", str(file), **{TOKEN: ""})
    assert ran.returncode == 1
    assert f"{file} is open to others; close it with chmod 600." in ran.stderr


async def test_the_token_is_on_no_command_line_and_the_socket_is_the_owners_alone(server: McpServer) -> None:
    assert server.env[TOKEN] not in " ".join((server.command, *server.args))
    assert Path("reader.sock").stat().st_mode & 0o777 == 0o600


async def test_no_tool_changes_anything(folder: Folder, server: McpServer, tmp_path: Path) -> None:
    before = _state_of(Path())
    async with client_of(server, tmp_path) as session:
        for tool, arguments in (
            ("runs", {}),
            ("history", {"runs": "1-3"}),
            ("items", {}),
            ("item", {"id": "itm_1"}),
            ("search", {"query": "alpha"}),
            ("files", {"checkpoint": "ckp_1"}),
            ("file", {"checkpoint": "ckp_1", "path": "x"}),
        ):
            assert await said(session, tool, **arguments)
    assert _state_of(Path()) == before


def _state_of(folder: Path) -> dict[str, str]:
    """Return the files of a folder; SQLite's index of its log notes readers too, and is no data."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith("-shm"))
    return {str(path): sha256(path.read_bytes()).hexdigest() for path in files}


async def test_the_database_is_opened_for_reading_alone(folder: Folder) -> None:
    connection = Connection(Path("midstream.db"), read_only=True)
    await connection.connect()
    with pytest.raises(StoreFailed, match="readonly"):
        await connection.run(lambda plain: plain.execute("DELETE FROM items"))
    await connection.close()
    async with asking(Path("midstream.db")) as store:
        assert not hasattr(store, "commit")


async def test_a_reader_keeps_nothing_open_between_calls(folder: Folder, server: McpServer, tmp_path: Path) -> None:
    async with client_of(server, tmp_path) as session:
        assert "alpha" in await said(session, "items")
        await folder.store.commit(Write(thread_id="thr_1", first_sequence=0, forget=True))
        await folder.store.shred()
        assert "The conversation is deleted." in await said(session, "items")


async def test_where_nothing_can_listen_no_reader_is_offered(tmp_path: Path) -> None:
    readers = await Readers(tmp_path / "missing", frozenset, Delegations()).open()
    assert not readers.offered
    await readers.aclose()


def test_neither_serve_nor_the_daemon_imports_the_mcp_package() -> None:
    for module in ("midstream.server.cli.serve", "midstream.server.cli.main", "midstream.server.cli.daemon"):
        code = f"import sys, {module}; sys.exit(any(name.split('.')[0] in ('mcp', 'pydantic') for name in sys.modules))"
        assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0, module
