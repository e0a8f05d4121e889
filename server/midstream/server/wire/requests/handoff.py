"""`handoff/*`."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import TypeAlias

import attrs

from midstream.protocol.base import HandoffId, ThreadId
from midstream.protocol.errors import MidstreamError
from midstream.protocol.methods.handoff import (
    HandoffChangeParams,
    HandoffEditParams,
    HandoffIdParams,
    HandoffListResult,
    HandoffPreviewParams,
    HandoffPreviewResult,
    HandoffRegenerateParams,
    HandoffResult,
)
from midstream.protocol.methods.thread import ThreadIdParams
from midstream.protocol.records.handoff import ContextHandoff
from midstream.server.graph.commands import DiscardHandoff, ReplaceHandoff, StoreHandoffs
from midstream.server.graph.decide import Answer
from midstream.server.graph.prepared import unsent_handoff
from midstream.server.runtime.engine import Prepared, Turn
from midstream.server.runtime.handoffs import NOT_ASKED, Summarised, unsupported
from midstream.server.runtime.planning import Wish
from midstream.server.runtime.progress import HandoffReport
from midstream.server.wire.client import Client
from midstream.server.wire.requests.host import Host
from midstream.server.wire.service import Handler


def handlers(host: Host) -> dict[str, Handler]:
    """Return the handlers of this family."""

    async def preview(client: Client, params: HandoffPreviewParams) -> object:
        async def prepare(turn: Turn, wish: Wish, report: HandoffReport, summarised: Summarised) -> Prepared:
            decided = await host.daemon.planner.decide(turn.state, wish)
            supported = decided.plan.strategy != "unsupported"
            handoff = host.daemon.handoffs.make(turn.state, decided, wish, summarised) if supported else None
            merged = await host.daemon.handoffs.merge_backs(turn.state, decided.plan) if supported else ()
            _ready(report, handoff)
            handoffs = merged if handoff is None else (handoff, *merged)
            result = HandoffPreviewResult(plan=decided.plan, handoffs=handoffs)
            made = tuple(one for one in handoffs if one.id not in turn.state.handoffs)
            return Prepared(StoreHandoffs(handoffs=made), lambda _: result)

        def wish_of(turn: Turn) -> Wish:
            thread = turn.state.thread
            return Wish(
                selection=params.selection or thread.selection,
                context=params.context or thread.next_context,
                strategy=params.strategy,
                budget_tokens=params.budget_tokens,
                summarizer=params.summarizer,
            )

        return await _made(host, client, "handoff/preview", params, params.thread_id, wish_of, prepare)

    async def regenerate(client: Client, params: HandoffRegenerateParams) -> object:
        old = await _handoff(host, params.handoff_id)

        async def prepare(turn: Turn, wish: Wish, report: HandoffReport, summarised: Summarised) -> Prepared:
            unsent_handoff(turn.state, old.id)
            decided = await host.daemon.planner.decide(turn.state, wish)
            handoff = host.daemon.handoffs.make(turn.state, decided, wish, summarised)
            if handoff is None:
                raise unsupported(wish.selection, decided.plan)
            _ready(report, handoff)
            command = ReplaceHandoff(handoff_id=old.id, handoff=handoff)
            return Prepared(command, lambda _: HandoffResult(handoff=handoff))

        def wish_of(turn: Turn) -> Wish:
            made_for, thread = old.made_for, turn.state.thread
            return Wish(
                selection=made_for.selection if made_for else thread.selection,
                context=made_for.context if made_for else thread.next_context,
                strategy=params.strategy,
                budget_tokens=params.budget_tokens or old.tokens.budget,
                summarizer=params.summarizer,
            )

        return await _made(host, client, "handoff/regenerate", params, old.thread_id, wish_of, prepare)

    async def edit(_: Client, params: HandoffEditParams) -> object:
        old = await _handoff(host, params.handoff_id)

        async def prepare(turn: Turn) -> Prepared:
            known = unsent_handoff(turn.state, old.id)
            new = host.daemon.handoffs.edit(turn.state, known, params.summary_text)
            command = ReplaceHandoff(handoff_id=old.id, handoff=new)
            return Prepared(command, lambda _: HandoffResult(handoff=new))

        return await host.change("handoff/edit", params, old.thread_id, prepare)

    async def discard(_: Client, params: HandoffChangeParams) -> object:
        old = await _handoff(host, params.handoff_id)

        async def prepare(_: Turn) -> Prepared:
            command = DiscardHandoff(handoff_id=old.id)
            return Prepared(command, lambda answer: HandoffResult(handoff=_as_it_stands(old, answer)))

        return await host.change("handoff/discard", params, old.thread_id, prepare)

    async def read(_: Client, params: HandoffIdParams) -> HandoffResult:
        return HandoffResult(handoff=await _handoff(host, params.handoff_id))

    async def list_(_: Client, params: ThreadIdParams) -> HandoffListResult:
        async with host.daemon.engine.thread(params.thread_id) as turn:
            handoffs = sorted(turn.state.handoffs.values(), key=lambda handoff: handoff.id)
            return HandoffListResult(handoffs=tuple(handoffs))

    return {
        "handoff/preview": preview,
        "handoff/read": read,
        "handoff/list": list_,
        "handoff/edit": edit,
        "handoff/regenerate": regenerate,
        "handoff/discard": discard,
    }


Prepare: TypeAlias = Callable[[Turn, Wish, HandoffReport, Summarised], Awaitable[Prepared]]


async def _made(
    host: Host,
    client: Client,
    method: str,
    params: HandoffPreviewParams | HandoffRegenerateParams,
    thread_id: ThreadId,
    wish_of: Callable[[Turn], Wish],
    prepare: Prepare,
) -> object:
    """Carry out a command that makes a handoff, and tell how far it is. A summary is awaited without the thread."""
    daemon = host.daemon
    with client.progress(params.work_done_token, "Making a handoff") as progress:
        report = HandoffReport(daemon.audience, thread_id, command_id=params.command_id, also=progress.report)
        try:
            async with daemon.engine.thread(thread_id) as turn:
                state, wish = turn.state, wish_of(turn)
            summarised = NOT_ASKED
            asked = daemon.summarizers.asked(state, wish)
            if asked is not None and (known := await daemon.engine.replay(method, params)) is not None:
                return known.answer
            report.say("deciding", "Deciding how the agent catches up.")
            if asked is not None:
                decided = await daemon.planner.decide(state, wish)
                report.say("summarizing", f"Waiting for the summary of {asked}.", 40)
                summary = daemon.summarizers.summarise(state, decided, wish)
                summarised = await _unless(progress.cancelled, summary, f"The summary of {asked} was not waited for.")

            async def collect(turn: Turn) -> Prepared:
                report.say("collecting", "Collecting what the agent missed.", 60)
                return await prepare(turn, wish, report, summarised)

            probe = partial(daemon.planner.probe, wish.selection)
            return await daemon.engine.change(method, params, thread_id, collect, probe)
        except asyncio.CancelledError:
            report.say("cancelled", "The handoff is not made.")
            raise
        except MidstreamError as error:
            report.say("failed", error.message)
            raise


async def _unless(cancelled: asyncio.Event, summary: Coroutine[None, None, Summarised], reason: str) -> Summarised:
    """Return the summary, or none of a provider for this reason where the user does not want to wait for it."""
    writing, stopping = asyncio.ensure_future(summary), asyncio.ensure_future(cancelled.wait())
    try:
        await asyncio.wait({writing, stopping}, return_when=asyncio.FIRST_COMPLETED)
        return writing.result() if writing.done() else Summarised(fallback_reason=reason)
    finally:
        writing.cancel()
        stopping.cancel()
        await asyncio.gather(writing, stopping, return_exceptions=True)


def _ready(report: HandoffReport, handoff: ContextHandoff | None) -> None:
    words = "There is nothing to hand over." if handoff is None else "The handoff is ready."
    report.say("ready", words, 100, handoff.id if handoff else None)


async def _handoff(host: Host, handoff_id: HandoffId) -> ContextHandoff:
    handoff = await host.daemon.store.handoff(handoff_id)
    if handoff is None:
        raise MidstreamError("handoffNotFound", f"There is no handoff {handoff_id}.", handoffId=handoff_id)
    return handoff


def _as_it_stands(old: ContextHandoff, answer: Answer) -> ContextHandoff:
    """Return a handoff with what a command changed in its record."""
    assert isinstance(answer, tuple)
    (info,) = answer
    return attrs.evolve(old, status=info.status, superseded_by=info.superseded_by, updated_at=info.updated_at)
