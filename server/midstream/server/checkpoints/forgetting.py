"""Forgetting a thread: its refs go, then every object that nothing else needs. Whatever is killed is done again."""

import shutil
from pathlib import Path

from midstream.server.checkpoints.git import Git
from midstream.server.checkpoints.history import thread_of

_NO_DELTAS = ("pack.window=0",)
"""Has a repack copy what it keeps as it is, since looking for better deltas takes minutes."""


async def forget(store: Path, lock: int, thread_id: str) -> None:
    """Remove a thread from the store whose lock the caller holds. Raises GitFailed, OSError."""
    git = Git(store / "shadow.git", config=_NO_DELTAS, lock=lock)
    if _is_whole(store):
        refs = (await git.run("for-each-ref", "--format=%(refname)")).decode().splitlines()
        theirs = [ref for ref in refs if thread_of(ref) == thread_id]
        if len(theirs) < len(refs):
            await _forget_refs(git, theirs)
            return
    _discard(store)


def _is_whole(store: Path) -> bool:
    return (store / "workspace.json").exists()


def _discard(store: Path) -> None:
    """Remove a repository that no thread needs; the record goes first, for without it there is none."""
    for record in ("workspace.json", "restore.json"):
        (store / record).unlink(missing_ok=True)
    shutil.rmtree(store / "shadow.git", ignore_errors=True)


async def _forget_refs(git: Git, refs: list[str]) -> None:
    unpruned = git.git_dir / "unpruned"
    if refs:
        unpruned.touch()
        await git.run("update-ref", "--stdin", stdin="".join(f"delete {ref}\n" for ref in refs).encode())
    if unpruned.exists():
        for index in git.git_dir.glob("index*"):  # one would keep the files of the last capture alive
            index.unlink()
        await git.run("repack", "-q", "-A", "-d", "-l", "--unpack-unreachable=now")
        await git.run("prune", "--expire=now")
        unpruned.unlink()
