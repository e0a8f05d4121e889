"""What a handoff was made from, as a digest: while it stays the same, the thread has not moved on."""

import hashlib

import orjson

from midstream.server.handoff.material import Material


def basis_of(material: Material) -> str:
    """Return the digest of a material: its items, its runs and how they ended, and what waits for the user."""
    parts = [
        material.thread.id,
        [item.id for item in material.told],
        [[run.id, run.status] for run in material.runs],
        sorted(request.id for request in material.open_requests),
    ]
    return hashlib.sha256(orjson.dumps(parts)).hexdigest()
