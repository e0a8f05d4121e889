"""What an agent reads of what it was not told, through the MCP server that it was given."""

import asyncio
import json
import os
import re
import signal
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Thread
from midstream.server.handoff.render import render
from midstream.server.runtime.readers import TOKEN
from scenarios.steps import conversation, handoff_of, of_type, selection, session_of
from support.editor import Editor, editor_on, process_gone
from support.reading import MORE, PREFACE


async def called(editor: Editor, thread: Thread, tool: str, **arguments: Any) -> str:
    """Have the understudy call a tool, and return what it got."""
    run = await editor.say(thread, f"call {tool} {json.dumps(arguments)}", "understudy")
    return await got(editor, thread, run)


async def got(editor: Editor, thread: Thread, run: Run) -> str:
    (item,) = of_type(await editor.items(thread, run), "tool")
    return (await editor.call("item/output", item_id=item.id, field="output", limit=1_000_000)).text


async def test_an_agent_is_given_the_reader_and_calls_it(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "write a.txt: one\nsay: alpha")
    runs = await called(editor, thread, "runs")
    first, second = runs.removeprefix(PREFACE).split("\n")
    assert re.fullmatch(r"- r1 rehearsal, completed, checkpoint ckp_\w+: write a.txt: one say: alpha", first)
    assert second.startswith("- r2 understudy, running, ")


async def test_the_call_that_a_handoff_ends_with_returns_each_part_that_it_leaves_out(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(
        thread, "\n".join(f"say: statement{n} about module{n}.py and its_function_{n}" for n in range(300))
    )
    await editor.say(thread, "\n".join(f"run echo word{n}" for n in range(30)) + "\nwrite a.txt: one\ndecide: blue")
    wished = {"thread_id": thread.id, "selection": selection("understudy")}
    (whole,) = (await editor.call("handoff/preview", **wished, budget_tokens=1_000_000)).handoffs
    assert not any(section.omitted or section.shortened for section in whole.sections)
    (small,) = (await editor.call("handoff/preview", **wished, budget_tokens=900)).handoffs
    run = await editor.say(thread, "say: taken", "understudy", handoff_ids=[small.id])
    sent = (await handoff_of(editor, run)).sent_text
    *_, last, _ = sent.split("\n")
    named = re.fullmatch(r"# Left out: (.*); whole by midstream's tool (\w+) (\{.*\})", last)
    assert named is not None
    counted, tool, arguments = named.groups()
    lacking = {section.kind for section in small.sections if section.omitted or section.shortened}
    assert counted == ", ".join(f"{one.omitted} {one.kind}" for one in small.sections if one.omitted)
    assert set(json.loads(arguments)["sections"].split(",")) == lacking
    told = await pages(editor, thread, tool, json.loads(arguments))
    assert told == render("", tuple(one for one in whole.sections if one.kind in lacking)).removeprefix("# \n")
    assert "statement7 " in told
    assert "`echo word7`" in told


async def pages(editor: Editor, thread: Thread, tool: str, arguments: dict[str, Any]) -> str:
    """Return what a call returns, with all the pages that each names after itself."""
    text = await called(editor, thread, tool, **arguments)
    more = MORE.search(text)
    page = MORE.sub("", text).removeprefix(PREFACE)
    return page if more is None else "\n".join((page, await pages(editor, thread, more[1], json.loads(more[2]))))


async def test_a_token_ends_with_the_agents_process(tmp_path: Path, workspace: Path) -> None:
    async with editor_on(tmp_path / "data", "--rehearsal") as editor:
        thread = await editor.new_thread(workspace)
        assert "r1 rehearsal" in await got(editor, thread, await editor.say(thread, "call runs {}"))
        agent = (await session_of(editor, conversation(await editor.read(thread), "rehearsal"))).pid
        assert agent is not None
        (reader,) = [one for one in psutil.Process(agent).children(True) if "midstream.server.reader" in one.cmdline()]
        command, environment = reader.cmdline(), {**os.environ, TOKEN: reader.environ()[TOKEN]}
        assert (await start(command, environment)).returncode == 0
        os.kill(agent, signal.SIGKILL)
        await process_gone(reader.pid)
        await editor.say(thread, "say: with another process")
        ended = await start(command, environment)
        assert ended.returncode == 1
        assert "This reader's token does not hold" in ended.stderr


async def start(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    run = partial(subprocess.run, command, env=environment, input="", capture_output=True, text=True, timeout=60)
    return await asyncio.to_thread(run)
