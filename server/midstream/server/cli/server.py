"""What all clients of a daemon share: the open data folder, and the configuration that holds."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen
from lsprotocol.types import MessageType

from midstream.protocol.base import JsonObject
from midstream.protocol.lifecycle import ConfigProblem
from midstream.protocol.records.config import Config
from midstream.server.cli.drivers import DRIVERS
from midstream.server.cli.folders import config_file
from midstream.server.runtime.daemon import Daemon
from midstream.server.runtime.settings import Settings, merge, read_file, with_rehearsal
from midstream.server.version import VERSION
from midstream.server.wire.client import Client
from midstream.server.wire.hub import Hub
from midstream.server.wire.requests.host import Host
from midstream.server.wire.requests.table import all_handlers
from midstream.server.wire.service import InitializeOptions, Service

CLIENT_OPTIONS: Final = "initializationOptions.config"


@frozen(kw_only=True)
class Launch:
    """The flags with which a client's `midstream serve` was started; `config` is None for the user's own file."""

    config: str | None = None
    rehearsal: bool = False


def launch_of(told: JsonObject) -> Launch:
    """Return the flags that a client's process told."""
    config = told.get("config")
    return Launch(config=config if isinstance(config, str) else None, rehearsal=told.get("rehearsal") is True)


class Server:
    """The daemon behind all clients; while only one is attached, its flags and options hold."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._launch = Launch()
        self._options: JsonObject = {}
        self._present = 0
        self._opening = asyncio.Lock()
        self._host = Host()
        self._handlers = all_handlers(self._host)
        self.hub: Final = Hub()

    def service_for(self, launch: Launch) -> Service:
        """Return what a client with these flags is given."""
        return Service(
            handlers=self._handlers,
            version=VERSION,
            initialize=lambda _, options: self._initialize(launch, options),
            configuration_changed=self._configuration_changed,
            close=self._close,
            hub=self.hub,
        )

    @property
    def busy(self) -> bool:
        """Whether any run is being carried out."""
        return self._host.opened and self._host.daemon.busy

    @property
    def logs_bodies(self) -> bool:
        """Whether the log file may quote users, agents and files."""
        return self._host.opened and self._host.daemon.config.log.bodies

    @property
    def idle_seconds(self) -> float:
        """How long this process stays when nothing needs it."""
        return self._host.daemon.config.daemon.idle_minutes * 60 if self._host.opened else 0

    async def drain(self) -> None:
        """Wait until no run is being carried out."""
        if self._host.opened:
            await self._host.daemon.drain()

    async def aclose(self) -> None:
        """Close the data folder."""
        if self._host.opened:
            await self._host.daemon.aclose()

    async def _initialize(self, launch: Launch, options: InitializeOptions) -> Sequence[ConfigProblem]:
        given = options.config or {}
        async with self._opening:
            if self._present == 0:
                self._launch, self._options = launch, given
            settings = self._settings(self._options)
            if not self._host.opened:
                self._host.open(await Daemon.open(self._data_dir, settings.config, self.hub, DRIVERS))
            elif self._present == 0:
                self._host.daemon.config = settings.config
            self._present += 1
        self._host.daemon.attendance.arrive()
        return (*self._overruled(launch, given), *settings.problems)

    def _overruled(self, launch: Launch, options: JsonObject) -> Iterator[ConfigProblem]:
        if launch != self._launch:
            flags = "--rehearsal" if launch.rehearsal != self._launch.rehearsal else "--config"
            message = f"Another client is attached, and what it was started with holds: without it, {flags} will hold."
            yield ConfigProblem(key=flags, message=message)
        if options and options != self._options:
            message = "Another client's configuration holds; change it with workspace/didChangeConfiguration."
            yield ConfigProblem(key="config", message=message)

    async def _configuration_changed(self, client: Client, settings: object) -> None:
        tables = settings if isinstance(settings, dict) else {}
        changed = merge(self._from_file().config, tables, CLIENT_OPTIONS)
        for problem in changed.problems:
            client.show_message(problem.message, MessageType.Error)
        if not changed.problems:
            self._options = tables
            self._host.daemon.config = changed.config

    async def _close(self, client: Client) -> None:
        self._present -= 1
        self._host.daemon.attendance.leave()

    def _from_file(self) -> Settings:
        base = with_rehearsal(Config(), self._data_dir / "rehearsal") if self._launch.rehearsal else Config()
        named = self._launch.config
        return read_file(Path(named) if named else config_file(), base, named=bool(named))

    def _settings(self, options: JsonObject) -> Settings:
        from_file = self._from_file()
        merged = merge(from_file.config, options, CLIENT_OPTIONS)
        return Settings(config=merged.config, problems=(*from_file.problems, *merged.problems))
