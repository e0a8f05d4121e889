"""Reading what a checkpoint holds."""

import re
from collections.abc import Iterable

from midstream.protocol.checked import lies_inside
from midstream.server.checkpoints.errors import BadPath, CheckpointMissing, GitFailed, PathNotInCheckpoint
from midstream.server.checkpoints.git import Git, split_z
from midstream.server.checkpoints.model import FileContent

_OBJECT_NAME = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


async def resolve_trees(git: Git, *refs: str) -> list[str]:
    """Return the tree of each commit or tree. Raises CheckpointMissing, GitFailed."""
    for ref in refs:
        if not _OBJECT_NAME.fullmatch(ref):
            raise CheckpointMissing(f"{ref!r} is not the ref of a checkpoint")
    trees = []
    for ref, tree in zip(refs, await names_of(git, *(f"{ref}^{{tree}}" for ref in refs)), strict=True):
        if tree is None:
            raise CheckpointMissing(f"the checkpoint {ref} is not in the store")
        trees.append(tree)
    return trees


async def names_of(git: Git, *objects: str) -> list[str | None]:
    """Return the full name of each object, None where there is none. Raises GitFailed."""
    asked = "".join(f"{one}\n" for one in objects).encode()
    found = (await git.run("cat-file", "--batch-check=%(objectname)", stdin=asked)).decode().splitlines()
    return [name if _OBJECT_NAME.fullmatch(name) else None for name in found]


async def read_file(git: Git, ref: str, path: bytes) -> FileContent:
    """Return the file at `path` of a checkpoint. Raises CheckpointMissing, PathNotInCheckpoint, GitFailed."""
    (tree,) = await resolve_trees(git, ref)
    listed = await git.run("ls-tree", "-z", tree, "--", path)
    facts, _, name = listed.rstrip(b"\0").partition(b"\t")
    if name != path or b" blob " not in facts:
        raise PathNotInCheckpoint(f"the checkpoint holds no file {path.decode(errors='replace')}")
    mode, _, blob = facts.split(b" ")
    return FileContent(await git.run("cat-file", "blob", blob), mode.decode())


async def list_files(git: Git, ref: str) -> list[bytes]:
    """Return the paths of a checkpoint's files, sorted. Raises CheckpointMissing, GitFailed."""
    (tree,) = await resolve_trees(git, ref)
    listed = (line.partition(b"\t") for line in split_z(await git.run("ls-tree", "-r", "-z", tree)))
    return [path for facts, _, path in listed if b" blob " in facts]


async def read_blobs(git: Git, names: Iterable[str]) -> dict[str, bytes]:
    """Return the contents of blobs. Raises GitFailed."""
    wanted = dict.fromkeys(names)
    out = await git.run("cat-file", "--batch", stdin="".join(f"{name}\n" for name in wanted).encode())
    contents, at = {}, 0
    for name in wanted:
        end = out.index(b"\n", at)
        facts = out[at:end].split(b" ")
        if facts[1] != b"blob":
            raise GitFailed(f"the store lost the blob {name}")
        at = end + 1 + int(facts[2])
        contents[name] = out[end + 1 : at]
        at += 1
    return contents


def checked_path(path: bytes) -> bytes:
    """Return `path` if it names something below the workspace; otherwise raise BadPath."""
    if not lies_inside(path):
        raise BadPath(f"not a path below the workspace: {path.decode(errors='replace')!r}")
    return path
