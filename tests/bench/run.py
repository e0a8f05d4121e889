"""`run.first_token_overhead` and `run.total_overhead`: a run through the daemon beside the same prompt to the agent."""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from figures import show

from midstream.protocol.notifications import RunOutput
from midstream.protocol.records.thread import Thread
from support.editor import Editor, editor_on
from support.rehearsal import RehearsalClient, rehearsal_agent

ROUNDS = 15
PROMPT = "say: hello\nstream 200 512\nsay: done"
BAR = 3.0


async def through_daemon(editor: Editor, thread: Thread) -> tuple[float, float]:
    """Return seconds to the first output and to the run's end."""
    known = len(editor.told)
    began = time.perf_counter()
    run = await editor.begin(thread, PROMPT)
    await editor.until(lambda n: isinstance(n, RunOutput) and n.run_id == run.id, after=known)
    first = time.perf_counter() - began
    await editor.ended(run)
    return first, time.perf_counter() - began


async def directly(agent: RehearsalClient, session: str) -> tuple[float, float]:
    """Return seconds to the agent's first words and to its answer."""
    known = len(agent.updates)
    began = time.perf_counter()
    answer = agent.start_prompt(session, PROMPT)
    await agent.until(lambda: any("agent_message_chunk" in str(update) for update in agent.updates[known:]))
    first = time.perf_counter() - began
    await answer
    return first, time.perf_counter() - began


async def main() -> None:
    with tempfile.TemporaryDirectory(prefix="midstream-bench-") as folder:
        os.environ["MIDSTREAM_REHEARSAL_DIR"] = str(Path(folder) / "agents")
        workspace = Path(folder) / "workspace"
        workspace.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=workspace, check=True)
        async with (
            editor_on(Path(folder) / "data", "--rehearsal") as editor,
            rehearsal_agent(Path(folder) / "direct") as agent,
        ):
            thread = await editor.new_thread(workspace)
            await agent.initialize()
            session = await agent.new(workspace, mode="fullAccess")
            await through_daemon(editor, thread)
            pairs = [(await through_daemon(editor, thread), await directly(agent, session)) for _ in range(ROUNDS)]
    for place, name in enumerate(("first_token", "total")):
        ours, peers = (statistics.median(pair[side][place] for pair in pairs) for side in (0, 1))
        show(f"run.{name}_overhead", ours, "s", peers, BAR)


if __name__ == "__main__":
    asyncio.run(main())
