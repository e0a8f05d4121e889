"""`midstream agents`: the configured agents, and whether they work."""

import asyncio
import json
import sys
from pathlib import Path

from midstream.protocol.converter import make_converter
from midstream.protocol.records.config import Config
from midstream.protocol.records.provider import Provider
from midstream.server.cli.folders import config_file
from midstream.server.cli.printing import plain, write
from midstream.server.cli.probing import probed, usable
from midstream.server.runtime.settings import read_file


def agents(config: Path | None, *, as_json: bool) -> int:
    """Start every configured agent once and print what came of it; return 1 where none can be used."""
    settings = read_file(config or config_file(), Config(), named=config is not None)
    for problem in settings.problems:
        sys.stderr.write(f"{plain(problem.message)}\n")
    providers = asyncio.run(probed(settings.config))
    if as_json:
        write([json.dumps([make_converter().unstructure(provider) for provider in providers], indent=2)])
    else:
        write(line for provider in providers for line in _lines(provider))
    return 0 if any(usable(provider) for provider in providers) else 1


def _lines(provider: Provider) -> list[str]:
    name = f"{provider.kind} (driver {provider.driver})"
    if provider.problem is not None:
        action = [f"  → {plain(provider.problem.action)}"] if provider.problem.action else []
        return [f"{name}: cannot be used", f"  {plain(provider.problem.message)}", *action]
    models = [f"  models: {plain(', '.join(model.id for model in provider.models))}"] if provider.models else []
    return [f"{name}: works, version {plain(provider.version or 'unknown')}", *models]
