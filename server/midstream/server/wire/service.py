"""What a connection is given: the handlers of this build, and who is told of its life."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

from attrs import field, frozen

from midstream.protocol.base import JsonObject, optional
from midstream.protocol.lifecycle import ConfigProblem
from midstream.server.wire.client import Client
from midstream.server.wire.hub import Hub

Handler: TypeAlias = Callable[[Client, Any], Awaitable[object]]
"""Takes the params and returns the result that METHODS names for its method.

Its answer is queued in the same step in which it returns: what it told the client before goes out before the
answer, what anybody tells it later goes out after. A cancelled handler that has committed returns its success
nevertheless; where CancelledError leaves it, the client gets -32800.
"""


@frozen(kw_only=True)
class InitializeOptions:
    """`initializationOptions` as the client gave them; the config is not checked yet."""

    data_dir: str | None = optional()
    config: JsonObject | None = optional()
    native: bool | None = optional()


@frozen(kw_only=True)
class Service:
    """Everything that connections of one daemon share.

    `initialize` may be slow and may raise MidstreamError; `configuration_changed` gets `settings.midstream`;
    `close` is called once for every client that was initialized, after its last request has ended.
    """

    handlers: Mapping[str, Handler]
    version: str
    initialize: Callable[[Client, InitializeOptions], Awaitable[Sequence[ConfigProblem]]]
    configuration_changed: Callable[[Client, object], Awaitable[None]]
    close: Callable[[Client], Awaitable[None]]
    hub: Hub = field(factory=Hub)
