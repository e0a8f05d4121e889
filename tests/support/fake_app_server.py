"""An app-server that answers as its script says: what a Codex of another day would, or one that misbehaves.

The script maps methods to results, or to ``{"error": …}``; a list is what to send instead, message by message, in
which ``"$id"`` is the request's id and ``$client`` that of the user's message; ``"$wait"`` waits for a line and
``"$exit"`` ends. A method that is not in it is unknown, and a turn without a user's message a mistake.
"""

import json
import sys
from pathlib import Path
from typing import Any

script: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text())
log = Path(sys.argv[2])


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def receive() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit()
    with log.open("a") as file:
        file.write(line)
    message: dict[str, Any] = json.loads(line)
    return message


def play(steps: list[Any], request: dict[str, Any]) -> None:
    client = request["params"].get("clientUserMessageId", "")
    if request["method"] == "turn/start" and not client:
        send({"id": request["id"], "error": {"code": -32600, "message": "invalid type: integer `0`"}})
        return
    for step in steps:
        if step == "$wait":
            receive()
        elif step == "$exit":
            sys.exit(1)
        else:
            text = json.dumps(step).replace('"$id"', str(request["id"])).replace("$client", client)
            send(json.loads(text))


while True:
    message = receive()
    if "id" not in message or "method" not in message:
        continue
    match script.get(message["method"]):
        case None:
            error = {"code": -32600, "message": f"Invalid request: unknown variant `{message['method']}`"}
            send({"id": message["id"], "error": error})
        case list() as steps:
            play(steps, message)
        case {"error": error}:
            send({"id": message["id"], "error": error})
        case result:
            send({"id": message["id"], "result": result})
