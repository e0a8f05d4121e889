"""The configuration: defaults, the file over them, the client's options over both. A fault costs its key only."""

import os
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

import attrs
from attrs import frozen

from midstream.protocol.base import JsonObject, ProviderKind
from midstream.protocol.converter import make_converter, structure
from midstream.protocol.errors import InvalidParams
from midstream.protocol.lifecycle import ConfigProblem
from midstream.protocol.names import camel
from midstream.protocol.nesting import DEEPEST, is_too_deep
from midstream.protocol.records.config import (
    CheckpointConfig,
    Config,
    DaemonConfig,
    HandoffConfig,
    LogConfig,
    ProviderConfig,
    ReaderConfig,
    SessionConfig,
    StoreConfig,
)
from midstream.server.runtime.files import NotRead, read_regular

CONVERTER: Final = make_converter(forbid_extra_keys=True)
FILE_BYTES: Final = 64 * 1024
PROBLEMS: Final = 50
"""How many problems are told; a configuration with more of them is something else altogether."""

KEY_SHOWN: Final = 100
TOO_DEEP: Final = f"nested more than {DEEPEST} deep"
AT_LEAST: Final[Mapping[str, float]] = MappingProxyType(
    {
        "handoff.budgetTokens": 1,
        "handoff.maxMissedRuns": 0,
        "handoff.maxHandoffs": 0,
        "handoff.maxDeltaChain": 0,
        "checkpoints.maxUntrackedBytes": 0,
        "checkpoints.keep": 1,
        "checkpoints.keepDays": 0,
        "sessions.idleMinutes": 0,
        "sessions.unattendedMinutes": 0,
        "daemon.idleMinutes": 0,
    }
)
TABLES: Final = tuple(field.name for field in attrs.fields(Config))


Table: TypeAlias = (
    HandoffConfig | CheckpointConfig | SessionConfig | DaemonConfig | LogConfig | StoreConfig | ReaderConfig
)


@frozen(kw_only=True)
class Settings:
    """A configuration, and what was wrong with what it was made from."""

    config: Config
    problems: tuple[ConfigProblem, ...] = ()


def read_file(path: Path, base: Config, *, named: bool = True) -> Settings:
    """Return the configuration file's values over `base`; /dev/null has none.

    A file that is not there has none either, which is a problem where the user `named` it.
    """
    if path == Path(os.devnull):
        return Settings(config=base)
    try:
        tables = tomllib.loads(read_regular(path, FILE_BYTES, follow=True).decode())
    except FileNotFoundError:
        return _unread(base, f"There is no configuration file {path}.") if named else Settings(config=base)
    except NotRead as error:
        return _unread(base, f"{path} {error}")
    except RecursionError:
        return _unread(base, f"{path}: {TOO_DEEP}")
    except ValueError as error:  # no UTF-8, no TOML, or a number of thousands of digits
        return _unread(base, f"{path}: {error}")
    return merge(base, _camel_tables(tables), str(path))


def _unread(base: Config, message: str) -> Settings:
    return Settings(config=base, problems=(ConfigProblem(key="", message=message),))


def with_rehearsal(config: Config, folder: Path) -> Config:
    """Return the configuration with the two rehearsal agents first, which keep their conversations in `folder`."""
    agents = {name: _rehearsal_agent(name, folder) for name in ("rehearsal", "understudy")}
    return attrs.evolve(config, providers={**agents, **config.providers})


def _rehearsal_agent(name: ProviderKind, folder: Path) -> ProviderConfig:
    command = (sys.executable, "-m", "midstream.server.rehearsal", "--name", name, "--state-dir", str(folder))
    return ProviderConfig(driver="acp", label=name.capitalize(), command=command)


class _Problems:
    """What is wrong with a source of configuration, the first `PROBLEMS` of it."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._found: list[ConfigProblem] = []

    def note(self, place: str, what: str) -> None:
        """Note what is wrong with a key, which may be as long as its author liked."""
        shown = place if len(place) <= KEY_SHOWN else f"{place[:KEY_SHOWN]}…"
        if len(self._found) < PROBLEMS:
            self._found.append(ConfigProblem(key=shown, message=f"{self._source}: {shown}: {what}"))

    def all(self) -> tuple[ConfigProblem, ...]:
        """Return them in order."""
        return tuple(self._found)


def merge(base: Config, tables: JsonObject, source: str) -> Settings:
    """Return `tables`, key by key, over `base`; `source` names them in problems."""
    problems = _Problems(source)
    values: dict[str, object] = {}
    for name, table in tables.items():
        if name not in TABLES:
            problems.note(name, f"unknown; allowed: {', '.join(TABLES)}")
        elif is_too_deep(table):
            problems.note(name, TOO_DEEP)
        elif not isinstance(table, dict):
            if table != []:
                problems.note(name, "expected a table")
        elif name == "providers":
            values[name] = _merge_providers(base.providers, table, problems)
        else:
            values[name] = _merge_table(name, getattr(base, name), table, problems)
    return Settings(config=attrs.evolve(base, **values), problems=problems.all())  # type: ignore[arg-type]


def _merge_table(name: str, base: Table, table: JsonObject, problems: _Problems) -> object:
    fields = {camel(field.name): field for field in attrs.fields(type(base))}
    values: dict[str, object] = {}
    for key, value in table.items():
        place = f"{name}.{key}"
        if key not in fields:
            problems.note(place, f"unknown; allowed: {', '.join(fields)}")
            continue
        try:
            checked = structure(CONVERTER, {key: value}, type(base))
        except InvalidParams as error:
            problems.note(place, error.message)
            continue
        least = AT_LEAST.get(place)
        if least is not None and isinstance(value, int | float) and value < least:
            problems.note(place, f"at least {least:g}")
            continue
        values[fields[key].name] = getattr(checked, fields[key].name)
    return attrs.evolve(base, **values)  # type: ignore[arg-type]


def _merge_providers(
    base: Mapping[ProviderKind, ProviderConfig], table: JsonObject, problems: _Problems
) -> dict[ProviderKind, ProviderConfig]:
    providers = dict(base)
    for kind, value in table.items():
        known = CONVERTER.unstructure(providers[kind]) if kind in providers else {}
        fields = value if isinstance(value, dict) else {}
        try:
            if not isinstance(value, dict):
                raise InvalidParams("expected a table", "")
            provider = structure(CONVERTER, {**known, **fields}, ProviderConfig)
            _check_process(provider)
            providers[kind] = provider
        except InvalidParams as error:
            problems.note(f"providers.{kind}" + (f".{error.path}" if error.path else ""), error.message)
    return providers


def _check_process(provider: ProviderConfig) -> None:
    """Refuse what no process can be started with: InvalidParams."""
    for place, word in enumerate(provider.command or ()):
        if "\0" in word or (place == 0 and not word):
            raise InvalidParams("expected text without NUL, and a program first", f"command[{place}]")
    for name, value in (provider.env or {}).items():
        if not name or "=" in name or "\0" in name + value:
            raise InvalidParams("expected names of variables without =, and text without NUL", "env")


def _camel_tables(tables: JsonObject) -> JsonObject:
    return {
        name: {kind: _camel_keys(value) for kind, value in table.items()}
        if name == "providers" and isinstance(table, dict)
        else _camel_keys(table)
        for name, table in tables.items()
    }


def _camel_keys(table: object) -> object:
    return {camel(key): value for key, value in table.items()} if isinstance(table, dict) else table
