"""Workspaces: from the URI that a client gave to a folder that is there."""

from pathlib import Path

from midstream.protocol.errors import MidstreamError
from midstream.server.runtime.files import path_of


def workspace_path(uri: str) -> Path:
    """Return the real folder behind a `file://` URI.

    Raises:
        MidstreamError: workspaceInvalid, where it is no such URI, missing, or no folder.
    """
    path = workspace_name(uri)
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):
        raise _invalid(uri, "does not exist; open the workspace where it is now") from None
    if not real.is_dir():
        raise _invalid(uri, "is not a folder")
    return real


def workspace_name(uri: str) -> Path:
    """Return the path in a `file://` URI, whether there is anything or not.

    Raises:
        MidstreamError: workspaceInvalid, where it is no such URI.
    """
    try:
        return path_of(uri)
    except ValueError:
        raise _invalid(uri, "is not a file:// URI of a folder on this machine") from None


def _invalid(uri: str, why: str) -> MidstreamError:
    return MidstreamError("workspaceInvalid", f"The workspace {uri} {why}.", workspace=uri)


def as_stored(uri: str) -> str:
    """Return a workspace as threads name it: the real folder, or the URI itself where the folder is gone."""
    try:
        return workspace_path(uri).as_uri()
    except MidstreamError:
        return uri
