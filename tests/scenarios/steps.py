"""What scenarios do over and over, and the agents that they do it with."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from midstream.protocol.notifications import HandoffProgress, ThreadEvent
from midstream.protocol.records.handoff import ContextHandoff, HandoffInfo
from midstream.protocol.records.item import Item
from midstream.protocol.records.provider import ProviderSession, ProviderThread
from midstream.protocol.records.read import ThreadRead
from midstream.protocol.records.request import RuntimeRequest
from midstream.protocol.records.run import Run, SwitchPlan
from midstream.protocol.records.thread import Thread
from support.editor import Editor, providers

MOODY = """
import sys
from pathlib import Path
mood = Path.cwd().with_suffix(".mood")
sys.argv += mood.read_text().split() if mood.exists() else []
from midstream.server.rehearsal.main import main
sys.exit(main(sys.argv[1:]))
"""
AGENTS: dict[str, Any] = {
    **providers("forgetful", flags=["--no-resume", "--no-load"]),
    **providers("stubborn", flags=["--refuse-resume"]),
    **providers("plain", flags=["--no-embedded-context"]),
    **providers("stillborn", flags=["--crash-on", "new"]),
    "moody": {"driver": "acp", "command": [sys.executable, "-c", MOODY, "--name", "moody"]},
}
"""Agents that lack something; `moody` takes its flags from `mood`, so that only its starts from then on have them."""


def mood(workspace: Path, *flags: str) -> None:
    """Set the flags with which `moody` starts in a workspace from now on."""
    workspace.with_suffix(".mood").write_text(" ".join(flags))


def selection(provider: str) -> dict[str, Any]:
    """Return the choice of a provider."""
    return {"provider": provider, "model": None}


def codes(plan: SwitchPlan | None) -> list[str]:
    """Return the codes of the reasons of a plan."""
    assert plan is not None
    return [reason.code for reason in plan.reasons]


def strategy(run: Run) -> str:
    """Return how a run's provider caught up."""
    assert run.plan is not None
    return run.plan.strategy


def received(entries: Iterable[dict[str, str]]) -> list[str]:
    """Return what an agent got in the user's role."""
    return [entry["text"] for entry in entries if entry["role"] == "user"]


def conversation(read: ThreadRead, provider: str) -> ProviderThread:
    """Return the only native conversation of a provider."""
    (known,) = [known for known in read.provider_threads if known.provider == provider]
    return known


def conversation_of(read: ThreadRead, run: Run) -> ProviderThread:
    """Return the native conversation that a run went to last."""
    (known,) = [known for known in read.provider_threads if known.id == run.provider_thread_id]
    return known


async def said(editor: Editor, thread: Thread, run: Run) -> list[str]:
    """Return what the agent said in a run."""
    return [item.text for item in await editor.items(thread, run) if item.type == "agentMessage"]


async def handoff_of(editor: Editor, run: Run) -> ContextHandoff:
    """Return the handoff that a run was given."""
    handoff: ContextHandoff = (await editor.call("handoff/read", handoff_id=run.context_handoff_id)).handoff
    return handoff


async def answer(editor: Editor, request: RuntimeRequest, decision: str = "accept") -> None:
    """Answer what an agent asks."""
    await editor.call("request/respond", request_id=request.id, decision=decision)


async def session_of(editor: Editor, known: ProviderThread) -> ProviderSession:
    """Wait until a native conversation's agent process is told of, and return it."""
    event = await editor.until(
        lambda n: (
            isinstance(n, ThreadEvent) and isinstance(n.record, ProviderSession) and n.record.id == known.session_id
        )
    )
    assert isinstance(event, ThreadEvent)
    assert isinstance(event.record, ProviderSession)
    return event.record


async def until_record(editor: Editor, thread: Thread, wanted: Any, after: int = 0) -> Any:
    """Wait until an event shows a record of a thread that is as wanted."""
    event = await editor.until(
        lambda n: isinstance(n, ThreadEvent) and n.thread_id == thread.id and bool(wanted(n.record)), after
    )
    assert isinstance(event, ThreadEvent)
    return event.record


async def until_on_its_way(editor: Editor, thread: Thread, after: int = 0) -> HandoffInfo:
    """Wait until a handoff is being sent that nobody has taken yet."""
    info: HandoffInfo = await until_record(
        editor,
        thread,
        lambda r: isinstance(r, HandoffInfo) and r.delivery is not None and r.delivery.status == "pending",
        after,
    )
    return info


def phases(editor: Editor, run: Run) -> list[str]:
    """Return the phases of a run's handoffs that were told, in order."""
    return [told.phase for told in editor.all_told(HandoffProgress) if told.run_id == run.id]


def of_type(items: Iterable[Item], type_: str) -> list[Any]:
    """Return the items of a type."""
    return [item for item in items if item.type == type_]
