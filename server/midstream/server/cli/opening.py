"""A client's first message, read by the process that the client started: only that far does it look."""

import json
import os
import sys
from typing import Any

CHUNK_BYTES = 64 * 1024
LARGEST_BYTES = 4 * 1024 * 1024
"""What of a first message is looked at; a longer one names no data folder."""
STORE_ERROR = 4010


class FirstMessage:
    """What came on stdin so far; nothing is read before it is asked for."""

    def __init__(self) -> None:
        self.begun = b""

    def data_dir(self) -> str | None:
        """Return `initializationOptions.dataDir`, as an absolute path."""
        options = self._params().get("initializationOptions")
        folder = options.get("dataDir") if isinstance(options, dict) else None
        return os.path.abspath(folder) if isinstance(folder, str) and folder else None  # noqa: PTH100

    def refuse(self, kind: str, message: str) -> None:
        """Say on stderr and to the client that no daemon serves it."""
        sys.stderr.write(f"midstream: {message}\n")
        error = {"code": STORE_ERROR, "message": message, "data": {"kind": kind}}
        body = json.dumps({"jsonrpc": "2.0", "id": self._message().get("id"), "error": error}).encode()
        os.write(1, b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def _params(self) -> dict[str, Any]:
        message = self._message()
        params = message.get("params")
        return params if message.get("method") == "initialize" and isinstance(params, dict) else {}

    def _message(self) -> dict[str, Any]:
        while (body := self._body()) is None and len(self.begun) < LARGEST_BYTES:
            more = os.read(0, CHUNK_BYTES)
            if not more:
                break
            self.begun += more
        try:
            message = json.loads(body or b"{}")
        except (ValueError, RecursionError):
            return {}
        return message if isinstance(message, dict) else {}

    def _body(self) -> bytes | None:
        """Return the first frame's body once it is there; what is no frame is for the daemon to refuse."""
        head, separator, rest = self.begun.partition(b"\r\n\r\n")
        if not separator:
            return None
        for line in head.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length" and value.strip().isdigit():
                length = int(value)
                return rest[:length] if len(rest) >= length else None
        return b""
