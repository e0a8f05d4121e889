"""Asking the configured agents whether they work, without a daemon, and within a bounded time."""

import asyncio
from typing import Final

from midstream.protocol.base import ProviderKind
from midstream.protocol.records.config import Config
from midstream.protocol.records.provider import Provider, ProviderProblem
from midstream.server.cli.drivers import DRIVERS
from midstream.server.providers.registry import Registry, unanswered

PROBE_SECONDS: Final = 30.0
"""How long an agent may take to start and to open a conversation; some are downloaded when first started."""


async def probed(config: Config, seconds: float = PROBE_SECONDS) -> tuple[Provider, ...]:
    """Start every configured agent once, all at the same time, and return what came of it."""
    registry = Registry(lambda: config, DRIVERS, lambda _: None)
    return tuple(await asyncio.gather(*(_probe(registry, kind, seconds) for kind in config.providers)))


def usable(provider: Provider) -> bool:
    """Whether a provider can be used as it stands."""
    return provider.problem is None


async def _probe(registry: Registry, kind: ProviderKind, seconds: float) -> Provider:
    try:
        async with asyncio.timeout(seconds):
            return await registry.probe(kind, refresh=True)
    except TimeoutError:
        message = f"{kind} did not answer within {seconds:g} s."
    except Exception as error:  # whatever it was, the others must still be told of
        message = f"{kind} could not be asked: {type(error).__name__}: {error}."
    action = f"Start the command of providers.{kind} in a terminal to see what it waits for."
    return unanswered(kind, registry.configured(kind), ProviderProblem(message=message, action=action), installed=True)
