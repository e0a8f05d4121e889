"""The reader's process: it starts only with a token that holds, and serves MCP on stdin and stdout."""

import argparse
import asyncio
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from midstream.server.reader.access import Access, Expired
from midstream.server.reader.library import Library
from midstream.server.runtime.readers import TOKEN

TOKEN_BYTES = 256


def main(argv: Sequence[str]) -> int:
    """Serve until stdin ends, and return the exit status: 1 where the token is none, or holds no more."""
    parser = argparse.ArgumentParser(prog="midstream reader", description="Lets an agent read what it was not told.")
    parser.add_argument("--data-dir", required=True, metavar="DIR", type=Path, help="where threads are kept")
    parser.add_argument("--token-file", metavar="FILE", type=Path, help=f"a file of mode 0600, instead of ${TOKEN}")
    options = parser.parse_args(argv)
    try:
        # A socket's path may hold about 100 bytes, so all paths are relative to the data folder.
        token = os.environ.pop(TOKEN, "") if options.token_file is None else _read(options.token_file)
        os.chdir(options.data_dir)
        access = Access(Path(), token)
        asyncio.run(_serve(access))
    except (Expired, OSError) as problem:
        sys.stderr.write(f"midstream reader: {problem}\n")
        return 1
    return 0


async def _serve(access: Access) -> None:
    granted = await access.grant()
    from midstream.server.reader.server import server_of  # after the token was found good, for it is heavy

    await server_of(Library(access), granted.delegate_to).run_stdio_async()


def _read(path: Path) -> str:
    """Return the token of a file that is this user's alone. Raises OSError."""
    with path.open("rb") as file:
        found = os.fstat(file.fileno())
        if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise PermissionError(f"{path} is open to others; close it with chmod 600.")
        return file.read(TOKEN_BYTES).decode(errors="replace").strip()
