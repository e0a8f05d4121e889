"""What the params of all requests share."""

from attrs import frozen

from midstream.protocol.base import optional
from midstream.protocol.checked import CommandId


@frozen(kw_only=True)
class Params:
    """Params of any request."""

    work_done_token: str | int | None = optional()


@frozen(kw_only=True)
class ChangeParams(Params):
    """Params of a request that changes something; the same `command_id` again gives the first answer."""

    command_id: CommandId | None = optional()
