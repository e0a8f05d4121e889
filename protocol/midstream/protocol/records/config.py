"""The configuration, in the shape of its file; every value has a default."""

from typing import Literal, TypeAlias

from attrs import Factory, frozen

from midstream.protocol.base import JsonObject, ProviderKind, optional

DriverName: TypeAlias = Literal["codex", "claude", "acp"]


@frozen(kw_only=True)
class ProviderConfig:
    """One configured provider. `command` is the agent's argv; `settings` are the driver's own."""

    driver: DriverName
    label: str | None = optional()
    command: tuple[str, ...] | None = optional()
    env: dict[str, str] | None = optional()
    model: str | None = optional()
    settings: JsonObject | None = optional()


@frozen(kw_only=True)
class HandoffConfig:
    """Budget in tokens, the summariser and its time, and the thresholds of staleness (counts)."""

    budget_tokens: int = 16_000
    summarizer: str = "deterministic"
    summary_seconds: float = 60.0
    max_missed_runs: int = 20
    max_handoffs: int = 6
    max_delta_chain: int = 3


@frozen(kw_only=True)
class CheckpointConfig:
    """Whether checkpoints are taken, the largest untracked file in bytes, and how long they are kept."""

    enabled: bool = True
    max_untracked_bytes: int = 10_485_760
    keep: int = 100
    keep_days: int = 30


@frozen(kw_only=True)
class SessionConfig:
    """Minutes after which an idle agent process is ended, and a run whose question nobody can see."""

    idle_minutes: float = 10.0
    unattended_minutes: float = 30.0


@frozen(kw_only=True)
class DaemonConfig:
    """Minutes that the daemon stays after its last client has left and its last run has ended."""

    idle_minutes: float = 0.0


@frozen(kw_only=True)
class LogConfig:
    """Whether the log file may quote what users, agents and files say."""

    bodies: bool = False


@frozen(kw_only=True)
class ReaderConfig:
    """The providers to which an agent may give work, by the reader's one writing tool; none unless it is configured."""

    delegate_to: tuple[ProviderKind, ...] = ()


@frozen(kw_only=True)
class StoreConfig:
    """Whether each commit is on the disk before it is acknowledged, so that a power cut loses none."""

    durable: bool = False


@frozen(kw_only=True)
class Config:
    """The whole configuration."""

    providers: dict[ProviderKind, ProviderConfig] = Factory(
        lambda: {"codex": ProviderConfig(driver="codex"), "claude": ProviderConfig(driver="claude")}
    )
    handoff: HandoffConfig = HandoffConfig()
    checkpoints: CheckpointConfig = CheckpointConfig()
    sessions: SessionConfig = SessionConfig()
    daemon: DaemonConfig = DaemonConfig()
    log: LogConfig = LogConfig()
    store: StoreConfig = StoreConfig()
    reader: ReaderConfig = ReaderConfig()
