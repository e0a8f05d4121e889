"""`midstream import`: a thread from the JSON Lines of an export, taken into a data folder that no daemon has open."""

import asyncio
import sys
from pathlib import Path

from midstream.protocol.errors import MidstreamError
from midstream.server.cli.folders import data_folder
from midstream.server.handoff.importing import Exported, NoExport, parse
from midstream.server.store import Store, StoreFailed, Write


def import_thread(data_dir: Path | None, file: Path) -> int:
    """Take a thread in and print its id; return 1 where it cannot be, and then nothing changed."""
    folder = (data_dir or data_folder()).absolute()
    try:
        exported = parse(file.read_text(encoding="utf-8"))
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        asyncio.run(_take_in(folder / "midstream.db", exported))
    except (NoExport, UnicodeDecodeError) as error:
        sys.stderr.write(f"{file} is no thread that midstream export --jsonl wrote: {error}\n")
        return 1
    except (MidstreamError, StoreFailed, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{exported.thread.id}\n")
    return 0


async def _take_in(path: Path, exported: Exported) -> None:
    store = await Store.open(path)
    try:
        known = [await store.item(item.id) for item in exported.items]
        if await store.thread(exported.thread.id) is not None or any(known):
            message = f"Thread {exported.thread.id}, or a part of it, is here already; choose another data folder."
            raise MidstreamError("invalidState", message)
        await store.commit(Write(thread_id=exported.thread.id, first_sequence=1, events=exported.events()))
    finally:
        await store.aclose()
