"""What each commit of a store says of itself: one line of JSON, so that a store explains itself without the daemon."""

import json
import os
from typing import Literal, TypeAlias

from attrs import frozen

from midstream.server.checkpoints.model import Skipped

Kind: TypeAlias = Literal["baseline", "run", "manual", "safety", "subagent", "restored"]


@frozen(kw_only=True)
class Note:
    """What a commit is of.

    `ref` is what keeps it, and makes two commits of equal files differ. `prefix` is the workspace's folder in
    its work tree. `touched` are the paths that the run or restore before it changed. What is `skipped` the commit
    may hold as it once was, or not at all.
    """

    kind: Kind
    ref: str
    prefix: bytes
    touched: tuple[bytes, ...] = ()
    skipped: tuple[Skipped, ...] = ()

    def dump(self) -> bytes:
        """Return the commit message."""
        fields = {
            "kind": self.kind,
            "ref": self.ref,
            "prefix": os.fsdecode(self.prefix),
            "touched": [os.fsdecode(path) for path in self.touched],
            "skipped": [[os.fsdecode(skip.path), skip.reason] for skip in self.skipped],
        }
        return json.dumps(fields).encode()


def load(message: str | bytes) -> Note:
    """Return the note that a commit message holds."""
    fields = json.loads(message)
    return Note(
        kind=fields["kind"],
        ref=fields["ref"],
        prefix=os.fsencode(fields["prefix"]),
        touched=tuple(os.fsencode(path) for path in fields["touched"]),
        skipped=tuple(Skipped(os.fsencode(path), reason) for path, reason in fields["skipped"]),
    )
