"""`midstream doctor --rebuild`: the tables of the database made anew from its event log."""

from pathlib import Path
from typing import Final

from midstream.server.cli.doctor.daemon import RunningDaemon
from midstream.server.cli.doctor.finding import Finding, error, ok
from midstream.server.store import UNREADABLE, Store

SUBJECT: Final = "rebuild"


async def rebuild(path: Path, daemon: RunningDaemon | None) -> Finding:
    """Rebuild the database at `path`, which needs it alone. Raises MidstreamError, StoreFailed, OSError."""
    if daemon is not None:
        end = "" if daemon.pid is None else f" or end it (kill {daemon.pid}),"
        message = f"not done: {daemon}, and a rebuild needs the database alone"
        return error(SUBJECT, message, f"Close the editors that use it,{end} and try again.")
    if not path.exists():  # noqa: ASYNC240 (one stat)
        return ok(SUBJECT, "nothing to do: there is no database yet")
    store = await Store.open(path)
    try:
        await store.rebuild()
    except UNREADABLE as problem:
        message = f"not done: the log of {path} holds a record that is none ({type(problem).__name__})"
        return error(SUBJECT, message, "Bring back a copy of the database; it was left as it is.")
    finally:
        await store.aclose()
    return ok(SUBJECT, "tables made anew from the log")
