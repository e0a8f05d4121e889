"""The drivers of this build."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from midstream.protocol.records.config import DriverName
from midstream.server.providers.acp.driver import AcpDriver
from midstream.server.providers.registry import DriverMaker

DRIVERS: Final[Mapping[DriverName, DriverMaker]] = MappingProxyType({"acp": AcpDriver})
