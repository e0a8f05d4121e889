"""The drivers of this build, each imported when a provider first needs it: a daemon should answer at once."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from midstream.protocol.base import ProviderKind
from midstream.protocol.records.config import DriverName, ProviderConfig
from midstream.server.providers.adapter import Driver
from midstream.server.providers.registry import DriverMaker


def _acp(kind: ProviderKind, config: ProviderConfig) -> Driver:
    from midstream.server.providers.acp.driver import AcpDriver

    return AcpDriver(kind, config)


def _codex(kind: ProviderKind, config: ProviderConfig) -> Driver:
    from midstream.server.providers.codex.driver import CodexDriver

    return CodexDriver(kind, config)


def _claude(kind: ProviderKind, config: ProviderConfig) -> Driver:
    from midstream.server.providers.claude.driver import ClaudeDriver

    return ClaudeDriver(kind, config)


DRIVERS: Final[Mapping[DriverName, DriverMaker]] = MappingProxyType({"acp": _acp, "claude": _claude, "codex": _codex})
