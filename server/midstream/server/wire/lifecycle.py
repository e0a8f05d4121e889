"""LSP's lifecycle messages, as far as a daemon that is no language server reads them.

A client's capabilities are not read: a new one, or a wrong one, is no reason to refuse the client.
"""

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from midstream.protocol.base import JsonObject, optional
from midstream.protocol.lifecycle import ConfigProblem
from midstream.protocol.methods.table import NOTIFICATIONS
from midstream.server.wire.execute_command import command_of
from midstream.server.wire.service import InitializeOptions, Service

PROTOCOL_VERSION: Final = 1
TEXT_DOCUMENT_SYNC_NONE: Final = 0


@frozen(kw_only=True)
class ClientInfo:
    """What a client calls itself."""

    name: str


@frozen(kw_only=True)
class InitializeParams:
    """What `initialize` brings."""

    process_id: int | None = optional()
    client_info: ClientInfo | None = optional()
    initialization_options: InitializeOptions | None = optional()


@frozen(kw_only=True)
class Settings:
    """The settings of all tools; ours are not checked yet, but for being a table."""

    midstream: JsonObject | None = optional()


@frozen(kw_only=True)
class DidChangeConfigurationParams:
    """All settings of the client, or nothing where it expects to be asked."""

    settings: Settings | None = optional()


@frozen(kw_only=True)
class WorkDoneProgressCancelParams:
    """The `workDoneToken` whose work is not to be waited for."""

    token: str | int | None = optional()


def initialize_result(service: Service, problems: Sequence[ConfigProblem], *, native: bool) -> JsonObject:
    """Return what `initialize` answers."""
    methods = sorted(service.handlers)
    capabilities: JsonObject = {
        "textDocumentSync": TEXT_DOCUMENT_SYNC_NONE,
        "experimental": {
            "midstream": {
                "protocolVersion": PROTOCOL_VERSION,
                "methods": methods,
                "notifications": sorted(NOTIFICATIONS),
                "configProblems": tuple(problems),
            }
        },
    }
    if not native:
        capabilities["executeCommandProvider"] = {"commands": [command_of(method) for method in methods]}
    return {
        "capabilities": capabilities,
        "serverInfo": {"name": "midstream", "version": service.version},
    }
