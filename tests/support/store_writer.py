"""Commit to the store named by the argument until killed, and print what each commit acknowledged."""

import asyncio
import sys
from pathlib import Path

from midstream.server.graph.events import RunPut, ThreadPut
from midstream.server.store import Receipt, Store
from support import records
from support.stores import ThreadLog


async def main() -> None:
    store = await Store.open(Path(sys.argv[1]))

    async def produce(log: ThreadLog) -> None:
        await log.commit(ThreadPut(records.thread(id=log.thread_id)))
        ordinal = 0
        while True:
            ordinal += 1
            command_id = f"{log.thread_id}-{ordinal}"
            await log.commit(
                RunPut(records.run(ordinal, id=f"run_{command_id}", thread_id=log.thread_id)),
                log.text(f"itm_{log.thread_id}", f"{ordinal} "),
                receipt=Receipt(command_id=command_id, method="run/start", params_sha256="", answer=b"{}"),
            )
            print(log.thread_id, ordinal, flush=True)

    await asyncio.gather(*(produce(ThreadLog(store, f"thr_{number}")) for number in range(4)))


asyncio.run(main())
