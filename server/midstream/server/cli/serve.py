"""`midstream serve`: the daemon on stdio."""

import asyncio
import logging
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

from lsprotocol.types import MessageType

from midstream.protocol.base import JsonObject
from midstream.protocol.lifecycle import ConfigProblem
from midstream.protocol.records.config import Config
from midstream.server.cli.drivers import DRIVERS
from midstream.server.cli.folders import config_file, data_folder
from midstream.server.runtime.daemon import Daemon
from midstream.server.runtime.settings import Settings, merge, read_file, with_rehearsal
from midstream.server.wire.client import Client
from midstream.server.wire.hub import Hub
from midstream.server.wire.logs import configure
from midstream.server.wire.requests.host import Host
from midstream.server.wire.requests.table import all_handlers
from midstream.server.wire.service import InitializeOptions, Service
from midstream.server.wire.stdio import serve_stdio

LOG: Final = logging.getLogger(__name__)
CLIENT_OPTIONS: Final = "initializationOptions.config"


def serve(data_dir: Path | None, config: Path | None, *, rehearsal: bool) -> int:
    """Serve until the client is gone and no run is active; return the exit status."""
    return asyncio.run(_serve(data_dir, config, rehearsal=rehearsal))


async def _serve(data_dir: Path | None, config: Path | None, *, rehearsal: bool) -> int:
    server = Server(data_dir, config or config_file(), rehearsal=rehearsal)
    try:
        status = await serve_stdio(server.service)
        if server.host.opened:
            await server.host.daemon.drain()
        return status
    finally:
        if server.host.opened:
            await server.host.daemon.aclose()


class Server:
    """One daemon for all clients of this process; the first client's options hold."""

    def __init__(self, data_dir: Path | None, config: Path, *, rehearsal: bool) -> None:
        self._data_dir = data_dir
        self._config = config
        self._rehearsal = rehearsal
        self._hub = Hub()
        self._options: JsonObject = {}
        self._opening = asyncio.Lock()
        self.host = Host()
        self.service = Service(
            handlers=all_handlers(self.host),
            version=version("midstream"),
            initialize=self._initialize,
            configuration_changed=self._configuration_changed,
            close=self._close,
            hub=self._hub,
        )

    async def _initialize(self, client: Client, options: InitializeOptions) -> Sequence[ConfigProblem]:
        given = options.config or {}
        async with self._opening:
            if not self.host.opened:
                await self._open(options)
        self.host.daemon.attendance.arrive()
        if given and given != self._options:
            message = "Another client's configuration holds; change it with workspace/didChangeConfiguration."
            return (ConfigProblem(key="config", message=message),)
        return self._settings(given).problems

    async def _open(self, options: InitializeOptions) -> None:
        if self._data_dir is None:
            self._data_dir = Path(options.data_dir) if options.data_dir else data_folder()
        configure(self._hub, self._data_dir / "log" / "midstream.log")
        self._options = options.config or {}
        settings = self._settings(self._options)
        self.host.open(await Daemon.open(self._data_dir, settings.config, self._hub, DRIVERS))

    async def _configuration_changed(self, client: Client, settings: object) -> None:
        tables = settings if isinstance(settings, dict) else {}
        changed = merge(self._from_file().config, tables, CLIENT_OPTIONS)
        for problem in changed.problems:
            client.show_message(problem.message, MessageType.Error)
        if not changed.problems:
            self._options = tables
            self.host.daemon.config = changed.config

    async def _close(self, client: Client) -> None:
        self.host.daemon.attendance.leave()

    def _from_file(self) -> Settings:
        folder = self._data_dir or data_folder()
        base = with_rehearsal(Config(), folder / "rehearsal") if self._rehearsal else Config()
        return read_file(self._config, base)

    def _settings(self, options: JsonObject) -> Settings:
        from_file = self._from_file()
        merged = merge(from_file.config, options, CLIENT_OPTIONS)
        return Settings(config=merged.config, problems=(*from_file.problems, *merged.problems))
