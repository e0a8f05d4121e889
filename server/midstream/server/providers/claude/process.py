"""A Claude Code that runs: spoken to through the SDK, and heard by one reader until it has ended."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeAlias

from attrs import frozen
from claude_agent_sdk import (
    CanUseTool,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ClaudeSDKError,
    CLIConnectionError,
    CLINotFoundError,
    Message,
    ResultError,
)

from midstream.protocol.base import JsonObject
from midstream.protocol.records.run import Failure
from midstream.server.providers.adapter import ProviderError
from midstream.server.providers.claude.input import streamed
from midstream.server.providers.claude.transport import ProcessTransport
from midstream.server.providers.failures import failure
from midstream.server.providers.requests import Patience
from midstream.server.quoting import Quoted

logger: Final = logging.getLogger(__name__)


@frozen
class Gone:
    """The process has ended: the last that is heard of it."""

    failure: Failure


Hear: TypeAlias = Callable[[Message | Gone], Awaitable[None]]


class ClaudeProcess:
    """A Claude Code that answered; made by `start`."""

    def __init__(self, ref: str, client: ClaudeSDKClient, transport: ProcessTransport, hear: Hear) -> None:
        self._ref = ref
        self._client = client
        self._transport = transport
        self._hear = hear
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(
        cls, ref: str, transport: ProcessTransport, hear: Hear, permit: CanUseTool, patience: Patience
    ) -> "ClaudeProcess":
        """Start one for a conversation; what it says goes to `hear`, what it asks to `permit`.

        Raises:
            ProviderError: it cannot be started, ended at once, or did not answer in time.
        """
        options = ClaudeAgentOptions(can_use_tool=permit, verbatim_prompts=True, forward_subagent_text=True)
        client = ClaudeSDKClient(options, transport)
        await connect(client, transport, patience)
        return cls(ref, client, transport, hear)

    @property
    def live(self) -> bool:
        """Whether it can be spoken to."""
        return self._transport.is_ready()

    async def send(self, message: JsonObject) -> None:
        """Send a message of the user's; the reader sees where it is gone."""
        with suppress(CLIConnectionError):
            await self._client.query(streamed(message), self._ref)

    async def interrupt(self) -> None:
        """Ask it to stop what it does.

        Raises:
            ProviderError: it is gone.
        """
        try:
            await self._client.interrupt()
        except Exception as error:  # the SDK raises errors of its own, and plain ones
            raise ProviderError(self._transport.gone) from error

    async def kill(self) -> None:
        """End it and all its children at once: it is not to go on with what it has."""
        await self._transport.kill()

    async def aclose(self) -> None:
        """End it and all its children for certain."""
        await self._transport.close()
        await self._reading
        await asyncio.shield(self._client.disconnect())

    async def _read(self) -> None:
        while self._transport.is_ready():
            try:
                async for message in self._client.receive_messages():
                    await self._hear(message)
            except ClaudeSDKError as error:  # its end, or a message that the SDK cannot read
                logger.info("Claude Code ended, or sent what Midstream does not know: %s", Quoted(error))
        await self._transport.close()
        await self._hear(Gone(self._transport.gone))


async def connect(client: ClaudeSDKClient, transport: ProcessTransport, patience: Patience) -> None:
    """Start a Claude Code and introduce ourselves.

    Raises:
        ProviderError: it cannot be started, ended at once, or did not answer in time.
    """
    try:
        async with asyncio.timeout(patience.answer):
            await client.connect()
    except TimeoutError as error:
        late = f"Claude Code did not answer within {patience.answer:g} s."
        raise ProviderError(failure("transport_error", late)) from error
    except Exception as error:  # the SDK raises errors of its own, and plain ones for what the other side answers
        raise ProviderError(_why(transport, error)) from error


def _why(transport: ProcessTransport, error: Exception) -> Failure:
    """Return the failure of a Claude Code that did not start."""
    if isinstance(error, CLINotFoundError):
        return failure("validation_error", f"Claude Code is not installed: {error}.")
    if isinstance(error, ResultError):
        return failure("validation_error", str(error))
    return transport.gone
