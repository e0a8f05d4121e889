"""Native conversations on disk: one JSON-lines file a session, every record written as it happens."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import attrs
import orjson
from attrs import frozen

from midstream.server.rehearsal import history
from midstream.server.rehearsal.directives import JsonObject
from midstream.server.rehearsal.history import Record

_RECORD_TYPES: dict[str, type[Record]] = {
    record_type.__name__: record_type
    for record_type in (
        history.TurnStarted,
        history.UserBlock,
        history.AgentUpdate,
        history.Compacted,
        history.Rewound,
    )
}


class UnknownSessionError(LookupError):
    """No session of that id is on disk."""


@frozen
class Stored:
    """What a list of sessions says of one."""

    session_id: str
    cwd: str
    title: str
    updated_at: str


class Conversation:
    """One session's native conversation; ``records`` is what of it still stands after rewinds."""

    def __init__(self, path: Path, cwd: str, records: tuple[Record, ...], *, throw_away: bool = False) -> None:
        self._path = path
        self.throw_away = throw_away
        self.cwd = cwd
        self.records = records

    @property
    def session_id(self) -> str:
        return self._path.stem

    @classmethod
    def create(cls, folder: Path, cwd: str, records: Iterable[Record] = ()) -> "Conversation":
        """Begin a session's file, with the history that a fork brings along."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        conversation = cls(folder / f"{uuid4()}.jsonl", cwd, ())
        conversation._path.touch(mode=0o600)
        conversation._write({"type": "session", "cwd": cwd})
        for record in records:
            conversation.append(record)
        return conversation

    @classmethod
    def fleeting(cls, folder: Path, cwd: str) -> "Conversation":
        """Begin a conversation that is never on disk, and so in no list."""
        return cls(folder / f"{uuid4()}.jsonl", cwd, (), throw_away=True)

    @classmethod
    def open(cls, folder: Path, session_id: str) -> "Conversation":
        """Read a session's file; raises ``UnknownSessionError``."""
        path = folder / f"{session_id}.jsonl"
        if not _is_session_id(session_id) or not path.is_file():
            raise UnknownSessionError(session_id)
        header, *lines = [orjson.loads(line) for line in path.read_bytes().splitlines()]
        records: tuple[Record, ...] = ()
        for line in lines:
            records = history.with_record(records, _RECORD_TYPES[line.pop("type")](**line))
        return cls(path, header["cwd"], records)

    def append(self, record: Record) -> None:
        """Add to the history; on disk when this returns, so that a killed agent keeps it."""
        self.records = history.with_record(self.records, record)
        self._write({"type": type(record).__name__, **attrs.asdict(record, recurse=False)})

    def _write(self, line: JsonObject) -> None:
        if self.throw_away:
            return
        with self._path.open("ab", buffering=0) as file:
            file.write(orjson.dumps(line) + b"\n")

    def describe(self) -> Stored:
        """Its line in a list; the title is the first line that the user said."""
        said = (entry.text for entry in history.visible(self.records) if entry.role == "user")
        modified = datetime.fromtimestamp(self._path.stat().st_mtime, UTC)
        title = next(said, "").partition("\n")[0][:80]
        return Stored(self.session_id, self.cwd, title, modified.isoformat())


def stored_sessions(folder: Path) -> Iterator[Stored]:
    """Every session on disk, oldest change first."""
    for path in sorted(folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns):
        yield Conversation.open(folder, path.stem).describe()


def _is_session_id(session_id: str) -> bool:
    try:
        return str(UUID(session_id)) == session_id
    except ValueError:
        return False
