"""`provider/*`: params and results."""

from attrs import frozen

from midstream.protocol.base import ThreadId, optional
from midstream.protocol.methods.params import ChangeParams, Params
from midstream.protocol.records.provider import Provider
from midstream.protocol.records.run import SwitchPlan
from midstream.protocol.records.thread import ModelSelection, NextContext, Thread


@frozen(kw_only=True)
class ProviderListParams(Params):
    """The configured providers; `refresh` probes them anew."""

    workspace: str | None = optional()
    refresh: bool | None = optional()


@frozen(kw_only=True)
class ProviderListResult:
    """The configured providers."""

    providers: tuple[Provider, ...]


@frozen(kw_only=True)
class ProviderSwitchParams(ChangeParams):
    """Choose the provider of the next run; starts no provider."""

    thread_id: ThreadId
    selection: ModelSelection
    context: NextContext | None = optional()


@frozen(kw_only=True)
class ProviderSwitchResult:
    """The thread, and how the next run would catch up."""

    thread: Thread
    plan: SwitchPlan
