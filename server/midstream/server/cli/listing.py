"""`midstream list`: the threads of a data folder, read beside its daemon or without one."""

import json
import sys
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from midstream.protocol.base import JsonObject
from midstream.protocol.errors import MidstreamError
from midstream.server.cli.folders import data_folder
from midstream.server.cli.printing import columns, plain, shortened, write
from midstream.server.store import StoreFailed, ThreadEntry, inspecting

TITLE: Final = 60
HEAD: Final = ("thread", "status", "runs", "providers", "updated", "workspace", "title")


def list_threads(data_dir: Path | None, workspace: Path | None, *, archived: bool, as_json: bool) -> int:
    """Print the threads, newest first; return 1 where the database cannot be read."""
    path = (data_dir or data_folder()).absolute() / "midstream.db"
    try:
        entries = _entries(path, workspace, archived=archived)
    except (MidstreamError, StoreFailed, OSError) as error:
        sys.stderr.write(f"{error}\nmidstream doctor says more.\n")
        return 1
    if as_json:
        write([json.dumps([_json(entry) for entry in entries], indent=2)])
    elif entries:
        write(columns([HEAD, *(_row(entry) for entry in entries)]))
    else:
        sys.stderr.write("There are no such threads.\n")
    return 0


def _entries(path: Path, workspace: Path | None, *, archived: bool) -> tuple[ThreadEntry, ...]:
    if not path.exists():
        return ()
    uri = None if workspace is None else workspace.resolve().as_uri()
    with inspecting(path) as inspection:
        return inspection.threads(workspace=uri, archived=archived)


def _row(entry: ThreadEntry) -> tuple[str, ...]:
    thread = entry.thread
    return (
        thread.id,
        thread.status,
        str(entry.runs),
        ", ".join(_providers(entry)),
        thread.updated_at,
        plain(unquote(urlsplit(thread.workspace).path)),
        shortened(plain(thread.title), TITLE),
    )


def _json(entry: ThreadEntry) -> JsonObject:
    thread = entry.thread
    return {
        "id": thread.id,
        "title": thread.title,
        "workspace": thread.workspace,
        "providers": list(_providers(entry)),
        "status": thread.status,
        "runs": entry.runs,
        "updatedAt": thread.updated_at,
        "archivedAt": thread.archived_at,
    }


def _providers(entry: ThreadEntry) -> tuple[str, ...]:
    """Return who took part, or who is to, where nobody did."""
    return entry.providers or (entry.thread.selection.provider,)
