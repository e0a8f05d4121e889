"""Strings of params that are taken in one form only: what that form is, decided here for every method."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NewType

RelativePath = NewType("RelativePath", str)
"""A file or folder of a workspace, by its path from there."""

CommandId = NewType("CommandId", str)
"""What a client calls a change, so that it is never done twice."""

LONGEST_COMMAND_ID: Final = 128


def lies_inside(path: bytes) -> bool:
    """Whether a path, by its text alone, names something below the folder that it starts from.

    What its folders are, symlinks perhaps, is for those to ask who open it.
    """
    return b"\0" not in path and {b"", b".", b".."}.isdisjoint(path.split(b"/"))


def relative_path(text: str) -> RelativePath:
    """Return a path of a workspace. Raises ValueError."""
    if not _is_text(text) or not lies_inside(text.encode()):
        raise ValueError(
            "expected the path of a file from the workspace's folder, with / between names and no . or .. among them"
        )
    return RelativePath(text)


def command_id(text: str) -> CommandId:
    """Return the id of a command. Raises ValueError."""
    if not 1 <= len(text) <= LONGEST_COMMAND_ID:
        raise ValueError(f"expected 1 to {LONGEST_COMMAND_ID} characters, such as a UUID, got {len(text)}")
    return CommandId(text)


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair
        return False
    return True


CHECKS: Final[Mapping[object, Callable[[str], str]]] = MappingProxyType(
    {RelativePath: relative_path, CommandId: command_id}
)
"""Each kind of such a string, with its check."""
