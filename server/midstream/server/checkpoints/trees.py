"""Trees of the store: what differs between two of them, blob by blob, and what files are in them."""

from midstream.server.checkpoints.git import Git, join_z, split_z
from midstream.server.checkpoints.model import Step, Version

_NOTHING = "000000"


async def compare(git: Git, before: str, after: str) -> dict[bytes, Step]:
    """Return the steps from one tree to another, by path; a rename is a deletion and a new file. Raises GitFailed."""
    if before == after:
        return {}
    out = await git.run("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", before, after)
    return {step.path: step for step in parse_raw(out)}


def parse_raw(out: bytes) -> list[Step]:
    """Parse ``diff-tree -z --raw --no-renames``."""
    fields = split_z(out)
    steps = []
    for facts, path in zip(fields[::2], fields[1::2], strict=True):
        old_mode, new_mode, old_blob, new_blob, _ = facts.decode().removeprefix(":").split(" ")
        steps.append(Step(path, _version(old_mode, old_blob), _version(new_mode, new_blob)))
    return steps


async def versions(git: Git, tree: str, paths: list[bytes]) -> dict[bytes, Version]:
    """Return the files of a tree that lie at these very paths. Raises GitFailed."""
    if not paths:
        return {}
    found = {}
    for line in split_z(await git.run("ls-tree", "-r", "-z", tree, "--", *paths)):
        facts, path = line.split(b"\t", 1)
        mode, _, blob = facts.decode().split(" ")
        found[path] = Version(mode, blob)
    return {path: version for path, version in found.items() if path in set(paths)}


async def with_files(git: Git, tree: str, files: dict[bytes, Version | None]) -> str:
    """Return the tree that is `tree` but for `files`; `git` has an index of its own for it. Raises GitFailed."""
    await git.run("read-tree", tree)
    none = Version("0", "0" * len(tree))
    lines = [f"{(file or none).mode} {(file or none).blob}\t".encode() + path for path, file in files.items()]
    # Deletions first: a file may take the place of a folder.
    lines.sort(key=lambda line: not line.startswith(b"0 "))
    await git.run("update-index", "-z", "--index-info", stdin=join_z(lines))
    return (await git.run("write-tree", "--missing-ok")).decode().strip()


def _version(mode: str, blob: str) -> Version | None:
    return None if mode == _NOTHING else Version(mode, blob)
