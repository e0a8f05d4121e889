"""`midstream doctor`: what is there, what is wrong with it, and what to do."""

import asyncio
import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TextIO

import attrs

from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.config import Config
from midstream.protocol.records.provider import Provider
from midstream.server.cli.drivers import DRIVERS
from midstream.server.cli.folders import config_file, data_folder
from midstream.server.providers.registry import Registry
from midstream.server.runtime.settings import Settings, read_file
from midstream.server.store import Store


@attrs.frozen(kw_only=True)
class Finding:
    """One thing that was looked at; `problem` says what is wrong and what to do."""

    subject: str
    state: str
    problem: str | None = None


def doctor(data_dir: Path | None, config: Path | None, *, rebuild: bool, as_json: bool) -> int:
    """Print what was found; return 1 where anything is wrong with the store, else 0."""
    folder = data_dir or data_folder()
    settings = read_file(config or config_file(), Config())
    store = asyncio.run(_store(folder, rebuild=rebuild))
    findings = [Finding(subject="midstream", state=version("midstream")), store]
    findings += [Finding(subject="configuration", state="wrong", problem=p.message) for p in settings.problems]
    findings += asyncio.run(_providers(settings))
    if not any(finding.subject.startswith("provider") and finding.problem is None for finding in findings):
        advice = f"Configure one in {config or config_file()}, or try midstream serve --rehearsal."
        findings.append(Finding(subject="agents", state="none can be used", problem=advice))
    _print(findings, sys.stdout, as_json=as_json)
    return 1 if store.problem else 0


async def _store(folder: Path, *, rebuild: bool) -> Finding:
    path = folder / "midstream.db"
    if not path.exists():
        return Finding(subject=f"store {path}", state="not there yet")
    try:
        store = await Store.open(path)
    except MidstreamError as error:
        return Finding(subject=f"store {path}", state=error.kind, problem=error.message)
    try:
        if rebuild:
            await store.rebuild()
    finally:
        await store.aclose()
    return Finding(subject=f"store {path}", state="tables made anew from the log" if rebuild else "well")


async def _providers(settings: Settings) -> list[Finding]:
    registry = Registry(lambda: settings.config, DRIVERS, lambda _: None)
    return [_provider_finding(provider) for provider in await registry.all(refresh=True)]


def _provider_finding(provider: Provider) -> Finding:
    problem = provider.problem
    advice = None if problem is None else " ".join(filter(None, (problem.message, problem.action)))
    state = f"works, version {provider.version}" if problem is None else "cannot be used"
    return Finding(subject=f"provider {provider.kind}", state=state, problem=advice)


def _print(findings: list[Finding], out: TextIO, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps([attrs.asdict(finding) for finding in findings], indent=2), file=out)
        return
    for finding in findings:
        print(f"{finding.subject}: {finding.state}", file=out)
        if finding.problem:
            print(f"  {finding.problem}", file=out)
