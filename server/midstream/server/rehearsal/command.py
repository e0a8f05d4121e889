"""The ``run`` directive: a shell command in its own process group, its output streamed."""

import asyncio
import codecs
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from contextlib import suppress
from pathlib import Path

from midstream.server.rehearsal import messages
from midstream.server.rehearsal.permissions import Permissions
from midstream.server.rehearsal.updates import ToolCall, Updates

OUTPUT_LIMIT = 1_000_000
STREAMED_TAIL = 8_000
READ_SIZE = 65_536


async def run_command(command: str, cwd: Path, updates: Updates, permissions: Permissions) -> None:
    """Run the command, once allowed; ``rawOutput`` is ``{exitCode, output}``, a failure any code but 0."""
    async with updates.tool_call(command, "execute", {"command": command}) as call:
        await permissions.require("execute", call)
        process = await asyncio.create_subprocess_shell(
            command, cwd=cwd, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, start_new_session=True
        )
        try:
            output = await _stream_output(process, call)
            exit_code = await process.wait()
        finally:
            await end_process_group(process)
        await call.finish(
            "completed" if exit_code == 0 else "failed",
            [messages.text_content(output)],
            {"exitCode": exit_code, "output": output},
        )


async def _stream_output(process: Process, call: ToolCall) -> str:
    assert process.stdout is not None
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    output = ""
    while data := await process.stdout.read(READ_SIZE):
        output = (output + decoder.decode(data))[-OUTPUT_LIMIT:]
        await call.progress([messages.text_content(output[-STREAMED_TAIL:])])
    return output


async def end_process_group(process: Process) -> None:
    """Kill a process that still runs, with its children, and wait for it."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
