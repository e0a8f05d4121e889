"""A provider's summary: asked for in a throw-away conversation, bounded in time and size, checked, or done without."""

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import attrs

from midstream.protocol.base import ProviderKind
from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.config import Config
from midstream.protocol.records.provider import Provider
from midstream.server.graph.state import ThreadState
from midstream.server.handoff.basis import basis_of
from midstream.server.handoff.brief import pinned
from midstream.server.handoff.build import build, effective_budget
from midstream.server.handoff.material import Material
from midstream.server.handoff.summary import Written, fault, request, statements
from midstream.server.providers.adapter import ProviderError, Session, ThreadOptions, TurnInput
from midstream.server.providers.drafts import MessageDraft
from midstream.server.providers.events import ItemChanged, OutputAppended, TurnEnded
from midstream.server.providers.registry import Registry
from midstream.server.runtime.handoffs import NOT_ASKED, Summarised
from midstream.server.runtime.planning import Decided, Wish

SOURCE_TOKENS: Final = 32_000
"""The most of the history that a provider is given to summarise; its own window may allow less."""


class Unusable(Exception):
    """There is no summary, for a reason that the user is told."""


class Summarizers:
    """Has providers write summaries. Whatever goes wrong, the deterministic summary takes their place."""

    def __init__(self, registry: Registry, config: Callable[[], Config]) -> None:
        self._registry = registry
        self._config = config

    def asked(self, state: ThreadState, wish: Wish) -> str | None:
        """Return the provider that is to write the summary, None for none; `source` with nobody to leave stays."""
        wanted = wish.summarizer or self._config().handoff.summarizer
        match wanted:
            case "deterministic":
                return None
            case "target":
                return wish.selection.provider
            case "source":
                left = state.provider_threads.get(state.thread.active_provider_thread_id or "")
                return wanted if left is None else left.provider
            case _:
                return wanted

    async def summarise(self, state: ThreadState, decided: Decided, wish: Wish) -> Summarised:
        """Return a provider's summary, or why there is none."""
        provider = self.asked(state, wish)
        if provider is None or decided.material is None:
            return NOT_ASKED
        try:
            written = await self._written(provider, decided, decided.material)
            return Summarised(written=written, basis=basis_of(decided.material))
        except Unusable as error:
            return Summarised(fallback_reason=f"{provider} was asked for a summary: {error}.")
        except ProviderError as error:
            return Summarised(fallback_reason=f"{provider} was asked for a summary: {error.failure.message}")
        except MidstreamError as error:
            return Summarised(fallback_reason=f"{provider} cannot be asked for a summary: {error.message}")

    async def _written(self, kind: ProviderKind, decided: Decided, material: Material) -> Written:
        provider = await self._registry.usable(kind)
        if not provider.capabilities.summarize:
            raise Unusable("it cannot promise to run no tool and touch no file meanwhile")
        source = _source(provider, material)
        seconds = self._config().handoff.summary_seconds
        try:
            async with asyncio.timeout(seconds):
                answer = await self._answer(kind, request(source, decided.budget // 2))
        except TimeoutError:
            raise Unusable(f"it did not answer within {seconds:g} seconds") from None
        ordinals = {run.ordinal for run in material.runs if run.ordinal is not None}
        wrong = fault(answer, source, pinned(material), ordinals)
        if wrong is not None:
            raise Unusable(wrong)
        return Written(provider=kind, statements=statements(answer))

    async def _answer(self, kind: ProviderKind, text: str) -> str:
        # A folder of its own: what an agent does there in spite of all is gone with it.
        with tempfile.TemporaryDirectory(prefix="midstream-summary-") as folder:
            options = ThreadOptions(
                workspace=Path(folder), model=None, options=None, runtime_mode="readOnly", throw_away=True
            )
            session = await self._registry.driver(kind).open(Path(folder))
            try:
                return await _ask(session, text, options)
            finally:
                await session.aclose()


def _source(provider: Provider, material: Material) -> str:
    """Return the history as a provider is given it: no larger than its window allows."""
    window = provider.capabilities.handoff.context_window
    budget = effective_budget(SOURCE_TOKENS, window, None)
    # Whoever summarises is given no reader: its conversation is to run no tool.
    return build(attrs.evolve(material, readable=False), budget_tokens=budget, nonce="0" * 8).summary_text


async def _ask(session: Session, text: str, options: ThreadOptions) -> str:
    native = await session.start_thread(options)
    said: dict[str, str] = {}
    turn = TurnInput(context=(), attachments=(), text=text)
    async for event in session.run_turn(native.ref, turn, options):
        match event:
            case ItemChanged(draft=MessageDraft(type="agentMessage", text=words), ref=ref):
                said[ref] = words or said.get(ref, "")
            case ItemChanged(draft=MessageDraft()):
                pass
            case ItemChanged():
                raise Unusable("it used a tool instead of answering")
            case OutputAppended(ref=ref, field="text", text=words) if ref in said:
                said[ref] += words
            case TurnEnded(status="failed" | "interrupted", failure=failure):
                raise Unusable(failure.message if failure else "its turn was interrupted")
            case _:
                pass
    return "\n".join(said.values())
