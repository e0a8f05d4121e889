"""The configured agents, as findings."""

from collections.abc import Sequence
from pathlib import Path

from midstream.protocol.records.provider import Provider
from midstream.server.cli.doctor.finding import Finding, error, ok, warning
from midstream.server.cli.probing import usable


def look_at_agents(providers: Sequence[Provider], config: Path) -> list[Finding]:
    """Say which agents can be used; that none can is wrong, that one cannot is not."""
    findings = [_look_at(provider) for provider in providers]
    if not any(usable(provider) for provider in providers):
        action = f"Configure one in {config}, or try midstream serve --rehearsal, which needs no account."
        findings.append(error("agents", "none can be used", action))
    return findings


def _look_at(provider: Provider) -> Finding:
    subject = f"agent {provider.kind}"
    if provider.problem is None:
        return ok(subject, f"works, version {provider.version or 'unknown'}")
    return warning(subject, provider.problem.message, provider.problem.action or "Try it by itself in a terminal.")
