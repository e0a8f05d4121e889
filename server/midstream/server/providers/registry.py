"""The configured providers: their drivers, and what the last probe said of each."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import TypeAlias

from midstream.protocol.base import ProviderKind
from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.config import Config, DriverName, ProviderConfig
from midstream.protocol.records.provider import Provider, ProviderProblem
from midstream.server.providers.adapter import NO_CAPABILITIES, Driver

DriverMaker: TypeAlias = Callable[[ProviderKind, ProviderConfig], Driver]


class Registry:
    """Drivers of the configured providers; each is probed when it is first needed, and again when asked."""

    def __init__(
        self,
        config: Callable[[], Config],
        makers: Mapping[DriverName, DriverMaker],
        changed: Callable[[Provider], None],
    ) -> None:
        self._config = config
        self._makers = makers
        self._changed = changed
        self._drivers: dict[ProviderKind, tuple[ProviderConfig, Driver]] = {}
        self._probed: dict[ProviderKind, tuple[ProviderConfig, Provider]] = {}
        self._probing: defaultdict[ProviderKind, asyncio.Lock] = defaultdict(asyncio.Lock)

    def default(self) -> ProviderKind | None:
        """Return the provider that a thread starts with where its user names none: the first configured."""
        return next(iter(self._config().providers), None)

    def driver(self, kind: ProviderKind) -> Driver:
        """Return the driver of a configured provider.

        Raises:
            MidstreamError: providerUnknown, or providerUnavailable where this build has no such driver.
        """
        config = self.configured(kind)
        known = self._drivers.get(kind)
        if known is not None and known[0] == config:
            return known[1]
        maker = self._makers.get(config.driver)
        if maker is None:
            raise MidstreamError("providerUnavailable", _no_driver(kind, config).message, provider=kind)
        driver = maker(kind, config)
        self._drivers[kind] = (config, driver)
        return driver

    async def usable(self, kind: ProviderKind) -> Provider:
        """Return a provider that can be used, as last probed.

        Raises:
            MidstreamError: providerUnknown, providerUnavailable, providerUnauthenticated.
        """
        provider = await self.probe(kind, refresh=False)
        if not provider.installed:
            provider = await self.probe(kind, refresh=True)
        message = provider.problem.message if provider.problem else f"{kind} cannot be used."
        if not provider.installed:
            raise MidstreamError("providerUnavailable", message, provider=kind)
        if provider.authenticated is False:
            raise MidstreamError("providerUnauthenticated", message, provider=kind)
        return provider

    async def all(self, *, refresh: bool) -> tuple[Provider, ...]:
        """Return all configured providers."""
        return tuple(await asyncio.gather(*(self.probe(kind, refresh=refresh) for kind in self._config().providers)))

    async def probe(self, kind: ProviderKind, *, refresh: bool) -> Provider:
        """Return a provider as last probed, or as it is now.

        Raises:
            MidstreamError: providerUnknown.
        """
        config = self.configured(kind)
        if not refresh and (answer := self._known(kind, config)) is not None:
            return answer
        async with self._probing[kind]:
            if not refresh and (answer := self._known(kind, config)) is not None:
                return answer
            known = self._probed.get(kind)
            if config.driver in self._makers:
                provider = await self.driver(kind).probe()
            else:
                provider = unanswered(kind, config, _no_driver(kind, config), installed=False)
            self._probed[kind] = (config, provider)
            if known is not None and known[1] != provider:
                self._changed(provider)
            return provider

    def _known(self, kind: ProviderKind, config: ProviderConfig) -> Provider | None:
        known = self._probed.get(kind)
        return known[1] if known is not None and known[0] == config else None

    def configured(self, kind: ProviderKind) -> ProviderConfig:
        """Return the configuration of a provider.

        Raises:
            MidstreamError: providerUnknown.
        """
        config = self._config().providers.get(kind)
        if config is None:
            names = ", ".join(self._config().providers) or "none"
            raise MidstreamError(
                "providerUnknown", f"No provider {kind} is configured; there are: {names}.", provider=kind
            )
        return config


def _no_driver(kind: ProviderKind, config: ProviderConfig) -> ProviderProblem:
    return ProviderProblem(
        message=f"This version of Midstream cannot drive {kind} yet (driver {config.driver}).",
        action="Use another agent: one that speaks the Agent Client Protocol can be configured under [providers].",
    )


def unanswered(kind: ProviderKind, config: ProviderConfig, problem: ProviderProblem, *, installed: bool) -> Provider:
    """Return what is known of a provider that could not be asked."""
    return Provider(
        kind=kind,
        driver=config.driver,
        label=config.label or kind,
        installed=installed,
        version=None,
        authenticated=None,
        models=(),
        capabilities=NO_CAPABILITIES,
        problem=problem,
    )
