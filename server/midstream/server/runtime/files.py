"""Files that somebody else named: they may be pipes, devices, folders, or without an end."""

import os
import stat
from pathlib import Path
from urllib.parse import unquote, urlsplit


class NotRead(Exception):
    """A file that was not read; the message says why, after the file's name."""


class TooLarge(NotRead):
    """A file that is larger than was allowed."""


def path_of(uri: str) -> Path:
    """Return the absolute path in a `file://` URI of this machine, whether there is anything or not.

    Raises:
        ValueError: it is no such URI.
    """
    parts = urlsplit(uri)
    path = unquote(parts.path)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or "\0" in path or not path.startswith("/"):
        raise ValueError(f"{uri} is no file:// URI of this machine")
    return Path(path)


def read_regular(path: Path, limit: int, *, follow: bool) -> bytes:
    """Return what a regular file of at most `limit` bytes holds; nothing else is opened for longer than a look.

    A symbolic link at the end of the path is read only where it may be followed.

    Raises:
        FileNotFoundError: there is nothing.
        NotRead: it is no regular file, cannot be read, or is TooLarge.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        if not follow and path.is_symlink():
            raise NotRead("is a symbolic link; name the file that it leads to")
        descriptor = os.open(path, flags if follow else flags | os.O_NOFOLLOW)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise NotRead(f"cannot be read: {error.strerror}") from None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise NotRead("is no regular file")
        return _content(descriptor, limit)
    except OSError as error:
        raise NotRead(f"cannot be read: {error.strerror}") from None
    finally:
        os.close(descriptor)


def _content(descriptor: int, limit: int) -> bytes:
    """Read to the end, whatever size the file says that it has: some say 0 and go on for ever."""
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise TooLarge(f"is larger than {limit} bytes")
    return content
