"""The rehearsal agent as a process: ACP over stdin and stdout until stdin ends."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator

from midstream.server.rehearsal.agent import Agent
from midstream.server.rehearsal.options import Options, parse_options
from midstream.server.rehearsal.rpc import LINE_LIMIT, read_lines


def main(argv: list[str]) -> int:
    """Serve until stdin ends or SIGTERM comes; returns 0, with every child process ended."""
    asyncio.run(_serve(parse_options(argv)))
    return 0


async def _serve(options: Options) -> None:
    await asyncio.sleep(options.start_delay)
    options.state_dir.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    options.state_dir.mkdir(mode=0o700, exist_ok=True)
    reader, writer = await _stdio()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, reader.feed_eof)
    agent = Agent(writer, options)
    try:
        await agent.peer.serve(_logged(read_lines(reader), options))
    finally:
        await agent.end()
        writer.close()


async def _stdio() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LINE_LIMIT)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    flow = asyncio.StreamReaderProtocol(asyncio.StreamReader())
    transport, _ = await loop.connect_write_pipe(lambda: flow, sys.stdout.buffer)
    transport.set_write_buffer_limits(high=0)  # a drained writer has sent all, so a crash loses no line
    return reader, asyncio.StreamWriter(transport, flow, None, loop)


async def _logged(lines: AsyncIterator[bytes], options: Options) -> AsyncIterator[bytes]:
    async for line in lines:
        if options.session_log is not None:
            with options.session_log.open("ab", buffering=0) as log:
                log.write(line)
        yield line
