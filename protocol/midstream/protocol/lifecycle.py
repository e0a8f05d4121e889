"""What Midstream adds to LSP's `initialize`."""

from attrs import frozen

from midstream.protocol.base import optional
from midstream.protocol.records.config import Config


@frozen(kw_only=True)
class InitializationOptions:
    """`initializationOptions` of `initialize`; `native` says that the client speaks this protocol itself."""

    data_dir: str | None = optional()
    config: Config | None = optional()
    native: bool | None = optional()


@frozen(kw_only=True)
class ConfigProblem:
    """A key of the configuration that was not taken, and why."""

    key: str
    message: str


@frozen(kw_only=True)
class MidstreamCapabilities:
    """`capabilities.experimental.midstream` of the answer: exactly what this build answers and sends."""

    protocol_version: int
    methods: tuple[str, ...]
    notifications: tuple[str, ...]
    config_problems: tuple[ConfigProblem, ...]
