"""`midstream export`: one thread as a document on stdout."""

import asyncio
import sys
from pathlib import Path
from typing import Literal

from midstream.protocol.methods.thread import ThreadExportParams, ThreadExportResult
from midstream.server.cli.client import ServerError, StdioClient
from midstream.server.cli.folders import data_folder


def export(data_dir: Path | None, thread_id: str, *, as_jsonl: bool, secrets: bool) -> int:
    """Print a thread; return 1 where there is no such thread."""
    try:
        content = asyncio.run(
            _content(data_dir or data_folder(), thread_id, "jsonl" if as_jsonl else "markdown", secrets)
        )
    except ServerError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(content)
    return 0


async def _content(data_dir: Path, thread_id: str, form: Literal["markdown", "jsonl"], secrets: bool) -> str:
    params = ThreadExportParams(thread_id=thread_id, format=form, secrets=secrets or None)
    async with StdioClient.started(data_dir) as client:
        return (await client.request("thread/export", params, ThreadExportResult)).content
