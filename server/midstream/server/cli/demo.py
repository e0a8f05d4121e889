"""`midstream demo`: the founding document's example, runs 1 to 9, over the wire of a real daemon.

Runs 1 to 5 go to one agent, 6 to 8 to another, 9 back to the first. What is printed and judged is read back
from the daemon, and from the agents themselves: `recall` makes each say all that its conversation holds.
"""

import asyncio
import subprocess
import tempfile
from pathlib import Path

from midstream.protocol.methods.handoff import HandoffIdParams, HandoffResult
from midstream.protocol.methods.run import MessageInput, RunIdParams, RunResult, RunStartParams, RunStartResult
from midstream.protocol.methods.thread import (
    ThreadCreateParams,
    ThreadIdParams,
    ThreadItemsParams,
    ThreadItemsResult,
    ThreadResult,
    ThreadSubscribeParams,
    ThreadSubscribeResult,
)
from midstream.protocol.records.handoff import ContextHandoff
from midstream.protocol.records.item import AgentMessageItem
from midstream.protocol.records.read import ThreadRead
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import ModelSelection
from midstream.server.cli.client import StdioClient
from midstream.server.cli.demo_report import JsonReport, Report, TerminalReport
from midstream.server.cli.demo_verdict import Evidence, faults

FIRST, SECOND = "rehearsal", "understudy"
STORY: tuple[tuple[str, str], ...] = (
    (FIRST, "Build a small greeting tool. Never use print in library code.\nwrite greet.py: def greet(name): ..."),
    (FIRST, "todo: greeting | tests | readme\ndone: greeting\ndecide: greet() returns text, because callers print it"),
    (FIRST, "write greet.py: def greet(name): return f'Hello, {name}'"),
    (FIRST, "write test_greet.py: from greet import greet; assert greet('Ada') == 'Hello, Ada'"),
    (FIRST, "run python3 test_greet.py"),
    (SECOND, 'Check the first agent\'s work and go on.\nrun python3 -c "import greet"'),
    (SECOND, "append greet.py: # checked by a second agent\ndone: tests"),
    (SECOND, "write README.md: greet: says hello"),
    (FIRST, "Go on from where the other agent left off.\nrun python3 test_greet.py"),
)


def demo(*, as_json: bool) -> int:
    """Play the example; return 0 only if all of it held."""
    report: Report = JsonReport() if as_json else TerminalReport()
    with tempfile.TemporaryDirectory(prefix="midstream-demo-") as folder:
        return asyncio.run(_play(Path(folder), report))


async def _play(folder: Path, report: Report) -> int:
    workspace = _workspace(folder / "workspace")
    async with StdioClient.started(folder / "data", "--rehearsal") as client:
        created = await client.request(
            "thread/create",
            ThreadCreateParams(
                workspace=workspace.as_uri(),
                selection=ModelSelection(provider=FIRST, model=None),
                runtime_mode="fullAccess",
            ),
            ThreadResult,
        )
        thread_id = created.thread.id
        await client.request("thread/subscribe", ThreadSubscribeParams(thread_id=thread_id), ThreadSubscribeResult)
        showing = asyncio.ensure_future(_show(client, report))
        report.begin(workspace)
        for provider, text in STORY:
            run = await _run(client, thread_id, provider, text)
            for handoff in await _handoffs(client, run):
                report.handoff(handoff)
        report.question()
        evidence = await _evidence(client, thread_id)
        found = faults(evidence)
        report.verdict(evidence, found)
    await showing
    return 1 if found else 0


def _workspace(path: Path) -> Path:
    path.mkdir(parents=True)
    (path / ".gitignore").write_text("__pycache__/\n")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Begin"]):
        identity = ["-c", "user.name=demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *command], cwd=path, check=True)
    return path


async def _run(client: StdioClient, thread_id: str, provider: str, text: str) -> Run:
    started = await client.request(
        "run/start",
        RunStartParams(
            thread_id=thread_id,
            message=MessageInput(text=text),
            selection=ModelSelection(provider=provider, model=None),
        ),
        RunStartResult,
    )
    ended = await client.request("run/wait", RunIdParams(run_id=started.run.id), RunResult)
    return ended.run


async def _handoffs(client: StdioClient, run: Run) -> list[ContextHandoff]:
    return [
        (await client.request("handoff/read", HandoffIdParams(handoff_id=handoff_id), HandoffResult)).handoff
        for handoff_id in run.handoff_ids
    ]


async def _show(client: StdioClient, report: Report) -> None:
    while (notification := await client.notifications.get()) is not None:
        report.notification(notification)


async def _evidence(client: StdioClient, thread_id: str) -> Evidence:
    """Read the thread back, then let both agents say what they hold (the first needs no switch for it)."""
    read = await client.request("thread/read", ThreadIdParams(thread_id=thread_id), ThreadRead)
    handoffs = [handoff for run in read.runs for handoff in await _handoffs(client, run)]
    recalled = {}
    for provider in (FIRST, SECOND):
        run = await _run(client, thread_id, provider, "recall")
        page = await client.request(
            "thread/items", ThreadItemsParams(thread_id=thread_id, run_id=run.id), ThreadItemsResult
        )
        said = [item.text for item in page.items if isinstance(item, AgentMessageItem)]
        recalled[provider] = said[-1] if said else "[]"
    return Evidence(read=read, handoffs=tuple(handoffs), story=STORY, recalled=recalled)
