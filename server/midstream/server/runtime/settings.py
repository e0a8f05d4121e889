"""The configuration: defaults, the file over them, the client's options over both. A fault costs its key only."""

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
from midstream.protocol.records.config import (
    CheckpointConfig,
    Config,
    DaemonConfig,
    HandoffConfig,
    ProviderConfig,
    SessionConfig,
)

CONVERTER: Final = make_converter(forbid_extra_keys=True)
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


Table: TypeAlias = HandoffConfig | CheckpointConfig | SessionConfig | DaemonConfig


@frozen(kw_only=True)
class Settings:
    """A configuration, and what was wrong with what it was made from."""

    config: Config
    problems: tuple[ConfigProblem, ...] = ()


def read_file(path: Path, base: Config) -> Settings:
    """Return the configuration file's values over `base`; a file that is not there has none."""
    try:
        with path.open("rb") as file:
            tables = tomllib.load(file)
    except FileNotFoundError:
        return Settings(config=base)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        return Settings(config=base, problems=(ConfigProblem(key="", message=f"{path}: {error}"),))
    return merge(base, _camel_tables(tables), str(path))


def with_rehearsal(config: Config, folder: Path) -> Config:
    """Return the configuration with the two rehearsal agents first, which keep their conversations in `folder`."""
    agents = {name: _rehearsal_agent(name, folder) for name in ("rehearsal", "understudy")}
    return attrs.evolve(config, providers={**agents, **config.providers})


def _rehearsal_agent(name: ProviderKind, folder: Path) -> ProviderConfig:
    command = (sys.executable, "-m", "midstream.server.rehearsal", "--name", name, "--state-dir", str(folder))
    return ProviderConfig(driver="acp", label=name.capitalize(), command=command)


def merge(base: Config, tables: JsonObject, source: str) -> Settings:
    """Return `tables`, key by key, over `base`; `source` names them in problems."""
    problems: list[ConfigProblem] = []
    values: dict[str, object] = {}
    for name, table in tables.items():
        if name not in TABLES:
            message = f"{source}: {name}: unknown; allowed: {', '.join(TABLES)}"
            problems.append(ConfigProblem(key=name, message=message))
        elif not isinstance(table, dict):
            if table != []:
                problems.append(ConfigProblem(key=name, message=f"{source}: {name}: expected a table"))
        elif name == "providers":
            values[name] = _merge_providers(base.providers, table, source, problems)
        else:
            values[name] = _merge_table(name, getattr(base, name), table, source, problems)
    return Settings(config=attrs.evolve(base, **values), problems=tuple(problems))  # type: ignore[arg-type]


def _merge_table(name: str, base: Table, table: JsonObject, source: str, problems: list[ConfigProblem]) -> object:
    fields = {camel(field.name): field for field in attrs.fields(type(base))}
    values: dict[str, object] = {}
    for key, value in table.items():
        place = f"{name}.{key}"
        if key not in fields:
            message = f"{source}: {place}: unknown; allowed: {', '.join(fields)}"
            problems.append(ConfigProblem(key=place, message=message))
            continue
        try:
            checked = structure(CONVERTER, {key: value}, type(base))
        except InvalidParams as error:
            problems.append(ConfigProblem(key=place, message=f"{source}: {place}: {error.message}"))
            continue
        least = AT_LEAST.get(place)
        if least is not None and isinstance(value, int | float) and value < least:
            problems.append(ConfigProblem(key=place, message=f"{source}: {place}: at least {least:g}"))
            continue
        values[fields[key].name] = getattr(checked, fields[key].name)
    return attrs.evolve(base, **values)  # type: ignore[arg-type]


def _merge_providers(
    base: Mapping[ProviderKind, ProviderConfig], table: JsonObject, source: str, problems: list[ConfigProblem]
) -> dict[ProviderKind, ProviderConfig]:
    providers = dict(base)
    for kind, value in table.items():
        known = CONVERTER.unstructure(providers[kind]) if kind in providers else {}
        fields = value if isinstance(value, dict) else {}
        try:
            if not isinstance(value, dict):
                raise InvalidParams("expected a table", "")
            providers[kind] = structure(CONVERTER, {**known, **fields}, ProviderConfig)
        except InvalidParams as error:
            place = f"providers.{kind}" + (f".{error.path}" if error.path else "")
            problems.append(ConfigProblem(key=place, message=f"{source}: {place}: {error.message}"))
    return providers


def _camel_tables(tables: JsonObject) -> JsonObject:
    return {
        name: {kind: _camel_keys(value) for kind, value in table.items()}
        if name == "providers" and isinstance(table, dict)
        else _camel_keys(table)
        for name, table in tables.items()
    }


def _camel_keys(table: object) -> object:
    return {camel(key): value for key, value in table.items()} if isinstance(table, dict) else table
