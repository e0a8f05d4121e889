"""A tiny Service on the real wire, for tests to drive; run as a program it serves its stdio."""

import asyncio
import logging
import resource
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from midstream.protocol.errors import MidstreamError
from midstream.protocol.lifecycle import ConfigProblem
from midstream.protocol.methods.request import RequestRespondParams, RequestResult
from midstream.protocol.methods.run import RunIdParams
from midstream.protocol.methods.thread import (
    ItemOutputParams,
    ItemOutputResult,
    ThreadChangeParams,
    ThreadExportParams,
    ThreadExportResult,
    ThreadListParams,
    ThreadListResult,
    ThreadResult,
    ThreadSearchParams,
    ThreadSearchResult,
    ThreadSubscribeParams,
    ThreadSubscribeResult,
)
from midstream.protocol.notifications import RequestOpened
from midstream.server.wire import logs
from midstream.server.wire.client import Client
from midstream.server.wire.service import InitializeOptions, Service
from support.doorways import receive_one, serve_through
from support.wire_records import a_request, a_thread, an_event, some_output

log = logging.getLogger("midstream.echo")

SECRET = "the user's own words"


class Echo:
    """Handlers that do what a test asks for, and notes of what reached them."""

    def __init__(self) -> None:
        self.commit = asyncio.Event()
        self.exports = 0
        self.options: list[InitializeOptions] = []
        self.settings: list[object] = []
        self.responses: list[RequestRespondParams] = []
        self.closed: list[Client] = []
        self.service = Service(
            handlers={
                "thread/list": self.echo,
                "run/wait": self.wait,
                "thread/archive": self.archive,
                "thread/search": self.misbehave,
                "thread/export": self.export,
                "thread/subscribe": self.subscribe,
                "item/output": self.flood,
                "request/respond": self.respond,
            },
            version="1.2.3",
            initialize=self.initialize,
            configuration_changed=self.configuration_changed,
            close=self.close,
        )

    async def initialize(self, client: Client, options: InitializeOptions) -> Sequence[ConfigProblem]:
        """Refuse a data folder named `locked`; find one problem in any config."""
        self.options.append(options)
        if options.data_dir == "locked":
            raise MidstreamError("storeLocked", "Another daemon holds the folder.", dataDir="locked")
        return () if options.config is None else (ConfigProblem(key="handoff", message="No such thing."),)

    async def configuration_changed(self, client: Client, settings: object) -> None:
        """Take note."""
        self.settings.append(settings)

    async def close(self, client: Client) -> None:
        """Take note."""
        self.closed.append(client)

    async def echo(self, client: Client, params: ThreadListParams) -> ThreadListResult:
        """Give the query back, reporting progress where it is wanted."""
        with client.progress(params.work_done_token, "Looking") as progress:
            progress.report("half way", 50)
        return ThreadListResult(threads=(), next_cursor=params.query)

    async def wait(self, client: Client, params: RunIdParams) -> None:
        """Wait until the test lets it end, which may be never."""
        await self.commit.wait()

    async def archive(self, client: Client, params: ThreadChangeParams) -> ThreadResult:
        """Commit, which no cancellation stops, once the test lets it."""
        committing = asyncio.ensure_future(self.commit.wait())
        while not committing.done():
            try:
                await asyncio.shield(committing)
            except asyncio.CancelledError:
                continue
        return ThreadResult(thread=a_thread(params.thread_id))

    async def misbehave(self, client: Client, params: ThreadSearchParams) -> ThreadSearchResult:
        """Fail in the way that the query names."""
        match params.query:
            case "not found":
                raise MidstreamError("runNotFound", "There is no run run_9.", runId="run_9")
            case "crash":
                raise ValueError(SECRET)
            case "not JSON":
                return ThreadSearchResult(matches=({1, 2},))  # type: ignore[arg-type]
            case "print":
                print("this is no frame")
                sys.stdout.flush()
                subprocess.run([sys.executable, "-c", "print('nor this', open(0).read())"], check=True)
            case "ask":
                client.notify(RequestOpened(request=a_request("Yes", "No")))
            case _:
                pass
        return ThreadSearchResult(matches=())

    async def export(self, client: Client, params: ThreadExportParams) -> ThreadExportResult:
        """Return as many characters as the thread's id says."""
        self.exports += 1
        return ThreadExportResult(content="x" * int(params.thread_id))

    async def subscribe(self, client: Client, params: ThreadSubscribeParams) -> ThreadSubscribeResult:
        """Follow the thread."""
        after = params.after_sequence or 0
        client.subscriptions.begin(params.thread_id, after)
        return ThreadSubscribeResult(sequence=after, snapshot=None)

    async def flood(self, client: Client, params: ItemOutputParams) -> ItemOutputResult:
        """Tell `limit` events of 64 KiB each, and as much text; answer by how many KiB the memory grew."""
        text = "x" * 65536
        before = peak_memory()
        sequence = client.subscriptions.sequence("thr_1") or 0
        for number in range(params.limit or 0):
            client.notify(an_event(sequence + number + 1, title=text))
            client.notify(some_output(text, number * len(text), params.item_id))
            await asyncio.sleep(0)
        log.warning("The flood is over.")
        return ItemOutputResult(text=str(peak_memory() - before), next_offset=None)

    async def respond(self, client: Client, params: RequestRespondParams) -> RequestResult:
        """Take the first answer; a second is too late."""
        self.responses.append(params)
        if len(self.responses) > 1:
            raise MidstreamError("invalidState", "It was answered already.", status="resolved")
        return RequestResult(request=a_request("Yes", "No"))


def peak_memory() -> int:
    """Return the most memory that this process ever held, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


async def receive(listener: socket.socket, log_file: str | None) -> None:
    """Serve one visitor."""
    echo = Echo()
    logs.configure(echo.service.hub, Path(log_file) if log_file else None, lambda: False)
    await receive_one(listener, echo.service)


def main(folder: str, log_file: str | None) -> int:
    """Serve stdin and stdout through the doorway of a folder, as `midstream serve` does."""
    return serve_through(Path(folder), lambda listener: receive(listener, log_file))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None))
