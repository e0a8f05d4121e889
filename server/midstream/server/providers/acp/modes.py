"""What a session offers to choose from, and which of an agent's modes a runtime mode is; pure.

A mode is known by its id. Where the agent has no mode for what the user chose, a narrower one is taken,
never a wider one.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from attrs import frozen

from midstream.protocol.base import JsonObject
from midstream.protocol.records.provider import ProviderModel
from midstream.protocol.records.thread import RuntimeMode
from midstream.server.providers.reading import member, members, text_of

Setter: TypeAlias = Literal["mode", "model", "config"]

# Without case and punctuation. A mode of two meanings stands at each: what is narrower here is wider there.
_ALIASES: Mapping[RuntimeMode, tuple[str, ...]] = {
    "readOnly": ("readonly", "plan"),
    "approvalRequired": ("approvalrequired", "default", "ask", "manual", "readonly"),
    "autoAcceptEdits": ("autoacceptedits", "acceptedits", "autoedit"),
    "fullAccess": ("fullaccess", "bypasspermissions", "yolo", "autoapprove"),
}
_FALLBACKS: Mapping[RuntimeMode, tuple[RuntimeMode, ...]] = {
    "readOnly": ("readOnly", "approvalRequired"),
    "approvalRequired": ("approvalRequired", "readOnly"),
    "autoAcceptEdits": ("autoAcceptEdits", "approvalRequired", "readOnly"),
    "fullAccess": ("fullAccess", "autoAcceptEdits", "approvalRequired", "readOnly"),
}


@frozen(kw_only=True)
class Choice:
    """One thing that a session lets its client choose, and how it is set. `values` are ids with their labels."""

    setter: Setter
    id: str
    category: str
    current: str | None
    values: Mapping[str, str]


def parse_choices(opened: JsonObject) -> tuple[Choice, ...]:
    """Read the choices in the answer to ``session/new`` and its like; config options come before modes and models."""
    choices = tuple(_config_choices(opened))
    categories = {choice.category for choice in choices}
    states = (
        _state_choice("mode", member(opened, "modes"), "currentModeId", "availableModes", "id"),
        _state_choice("model", member(opened, "models"), "currentModelId", "availableModels", "modelId"),
    )
    return *choices, *(state for state in states if state.values and state.category not in categories)


def _config_choices(opened: JsonObject) -> Iterator[Choice]:
    for option in members(opened, "configOptions"):
        option_id = text_of(option, "id")
        if option_id is not None:
            entries = members(option, "options")
            grouped = [inner for entry in entries for inner in members(entry, "options")]
            yield Choice(
                setter="config",
                id=option_id,
                category=text_of(option, "category") or option_id,
                current=text_of(option, "currentValue"),
                values=_labels((*entries, *grouped), "value"),
            )


def _state_choice(
    setter: Literal["mode", "model"], state: JsonObject, current: str, available: str, id_name: str
) -> Choice:
    values = _labels(members(state, available), id_name)
    return Choice(setter=setter, id=setter, category=setter, current=text_of(state, current), values=values)


def _labels(entries: Sequence[JsonObject], id_name: str) -> Mapping[str, str]:
    ids = ((text_of(entry, id_name), entry) for entry in entries)
    return {found: text_of(entry, "name") or found for found, entry in ids if found is not None}


def category(choices: Sequence[Choice], name: str) -> Choice | None:
    """Return the choice of a category, as ``mode`` or ``model``."""
    return next((choice for choice in choices if choice.category == name), None)


def models(choices: Sequence[Choice]) -> tuple[ProviderModel, ...]:
    """Return the models that a session offers."""
    choice = category(choices, "model")
    return () if choice is None else tuple(ProviderModel(id=model, label=name) for model, name in choice.values.items())


def mode_for(modes: Sequence[str], wanted: RuntimeMode) -> str | None:
    """Return the agent's mode for a runtime mode, else a narrower one; None where none of them is known."""
    for runtime_mode in _FALLBACKS[wanted]:
        for alias in _ALIASES[runtime_mode]:
            if found := next((mode for mode in modes if _plain(mode) == alias), None):
                return found
    return None


def changes_nothing(mode: str) -> bool:
    """Whether a mode is known to be the narrowest there is."""
    return _plain(mode) in _ALIASES["readOnly"]


def _plain(mode: str) -> str:
    return "".join(letter for letter in mode.casefold() if letter.isalnum())
