"""Mode, model and options of one native conversation: asserted when it is opened, and kept."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import attrs

from midstream.protocol.base import JsonObject
from midstream.protocol.records.provider import ProviderModel
from midstream.server.providers.acp.modes import (
    Choice,
    category,
    changes_nothing,
    mode_for,
    models,
    parse_choices,
)
from midstream.server.providers.adapter import ThreadOptions
from midstream.server.providers.reading import text_of

Call: TypeAlias = Callable[[str, JsonObject], Awaitable[JsonObject]]


class Settings:
    """What a conversation may be set to, and is. `call` sends a request to the agent."""

    def __init__(self, ref: str, call: Call, opened: JsonObject, default_model: str | None) -> None:
        self._ref = ref
        self._call = call
        self._choices = parse_choices(opened)
        self._default_model = default_model
        self._mode: str | None = None

    @property
    def model(self) -> str | None:
        """The model that the agent reports."""
        choice = category(self._choices, "model")
        return None if choice is None else choice.current

    @property
    def models(self) -> tuple[ProviderModel, ...]:
        """The models that the agent offers."""
        return models(self._choices)

    async def open(self, options: ThreadOptions) -> None:
        """Assert everything on a conversation that was just opened; its mode even where the agent says it has it."""
        mode = category(self._choices, "mode")
        if mode is not None and (wanted := mode_for(tuple(mode.values), options.runtime_mode)) is not None:
            await self._set(mode, wanted)
        await self.apply(options)

    async def apply(self, options: ThreadOptions) -> None:
        """Set what is not as the options have it."""
        if (mode := category(self._choices, "mode")) is not None:
            self._mode = mode_for(tuple(mode.values), options.runtime_mode)
            await self._choose(mode, self._mode)
        if (model := category(self._choices, "model")) is not None:
            await self._choose(model, options.model or self._default_model)
        for name, value in (options.options or {}).items():
            for choice in self._choices:
                if choice.id == name and choice.category not in ("mode", "model") and isinstance(value, str):
                    await self._choose(choice, value)

    def hear(self, update: JsonObject) -> bool:
        """Take note of an update; True where the agent left the asserted mode for one that may do more."""
        match update.get("sessionUpdate"):
            case "current_mode_update":
                mode = text_of(update, "currentModeId", "modeId")
                self._note("mode", mode)
            case "config_option_update":
                self._replace(parse_choices(update))
            case _:
                return False
        choice = category(self._choices, "mode")
        if choice is None or choice.current is None or self._mode is None:
            return False
        return choice.current != self._mode and not changes_nothing(choice.current)

    async def reassert_mode(self) -> None:
        """Set the asserted mode again: what an agent may do never grows by its own doing."""
        if (mode := category(self._choices, "mode")) is not None:
            await self._choose(mode, self._mode)

    async def _choose(self, choice: Choice, value: str | None) -> None:
        if value is not None and value in choice.values and value != choice.current:
            await self._set(choice, value)

    async def _set(self, choice: Choice, value: str) -> None:
        match choice.setter:
            case "mode":
                await self._call("session/set_mode", {"sessionId": self._ref, "modeId": value})
            case "model":
                await self._call("session/set_model", {"sessionId": self._ref, "modelId": value})
            case "config":
                params: JsonObject = {"sessionId": self._ref, "configId": choice.id, "value": value}
                self._replace(parse_choices(await self._call("session/set_config_option", params)))
        self._note(choice.category, value)

    def _note(self, name: str, current: str | None) -> None:
        self._choices = tuple(
            attrs.evolve(choice, current=current) if choice.category == name else choice for choice in self._choices
        )

    def _replace(self, told: tuple[Choice, ...]) -> None:
        ids = {choice.id for choice in told}
        self._choices = *told, *(choice for choice in self._choices if choice.id not in ids)
