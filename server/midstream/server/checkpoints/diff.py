"""The difference of two trees: the changed files with their line counts, and the patch."""

from midstream.server.checkpoints.content import resolve_trees
from midstream.server.checkpoints.git import Git, split_z
from midstream.server.checkpoints.model import ChangeStatus, Diff, FileChange
from midstream.server.checkpoints.policy import CheckpointPolicy

_DIFF_TREE = ("diff-tree", "-r", "-M", "--no-ext-diff", "--no-textconv")
_STATUS: dict[bytes, ChangeStatus] = {
    b"A": "added",
    b"M": "modified",
    b"D": "deleted",
    b"R": "renamed",
    b"T": "typeChanged",
}


async def diff(
    git: Git,
    base: str,
    target: str,
    policy: CheckpointPolicy,
    *,
    path: bytes | None,
    context: int,
    patch: bool,
) -> Diff:
    """Compare two commits or trees; with `path`, only what lies at or below it, by its old or new name.

    `context` is in lines. Raises CheckpointMissing, GitFailed.
    """
    before, after = await resolve_trees(git, base, target)
    out = await git.run(*_DIFF_TREE, "-z", "--raw", "--numstat", before, after)
    files = [change for change in parse_changes(out) if path is None or _concerns(change, path)]
    text, cut = "" if patch else None, False
    if patch and files:
        names = {name for change in files for name in (change.path, change.old_path) if name is not None}
        spec = () if path is None else (b"--", *sorted(names))
        limit = policy.patch_bytes
        data = await git.head(*_DIFF_TREE, "-p", f"-U{context}", before, after, *spec, limit=limit + 1)
        cut = len(data) > limit
        text = (whole_hunks(data[:limit]) if cut else data).decode(errors="replace")
    return Diff(tuple(files[: policy.files]), text, cut or len(files) > policy.files)


def parse_changes(out: bytes) -> list[FileChange]:
    """Parse ``diff-tree -z --raw --numstat``: first every raw record, then every count, in the same order."""
    fields = iter(split_z(out))
    changed: list[tuple[ChangeStatus, bytes, bytes | None]] = []
    counts: list[tuple[bytes, bytes]] = []
    for record in fields:
        if record.startswith(b":"):
            letter = record.rpartition(b" ")[2][:1]
            first = next(fields)
            changed.append((_STATUS[letter], next(fields), first) if letter == b"R" else (_STATUS[letter], first, None))
        else:
            added, deleted, path = record.split(b"\t", 2)
            counts.append((added, deleted))
            if not path:  # a rename: both its names follow
                next(fields), next(fields)
    return [
        FileChange(path, old_path, status, _count(added), _count(deleted), binary=added == b"-")
        for (status, path, old_path), (added, deleted) in zip(changed, counts, strict=True)
    ]


def whole_hunks(patch: bytes) -> bytes:
    """Cut `patch`, which breaks off anywhere, after its last hunk that is certainly whole."""
    file = patch.rfind(b"\ndiff --git ")
    first_hunk = patch.find(b"\n@@ ", file + 1)
    last_hunk = patch.rfind(b"\n@@ ")
    return patch[: (last_hunk if last_hunk > first_hunk >= 0 else file) + 1]


def _count(lines: bytes) -> int | None:
    return None if lines == b"-" else int(lines)


def _concerns(change: FileChange, path: bytes) -> bool:
    names = (change.path, change.old_path)
    return any(name is not None and (name == path or name.startswith(path + b"/")) for name in names)
