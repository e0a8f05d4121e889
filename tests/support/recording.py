"""Records what a driver and an agent that speaks JSON by line say to each other, and plays the agent's part again.

``record FOLDER COMMAND…`` runs the command in between; ``replay FOLDER`` needs none. Each process has a file of
its own in the folder, by its turn. A line of it is what the driver said (`expect`) or what the agent said (`emit`).
In a replay the driver must say the same in the same order; where a text in it differs (an id that it drew, a
path), that text is put in place of the recorded one in all that follows. What it said is written into the folder
that ``$REPLAYED`` names.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]

HOMES = ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "HOME")
SHORTEST = 6
"""Shorter texts are words, not ids."""


def record(folder: Path, command: list[str]) -> int:
    """Run the command and write down what passes; paths of this machine are left out."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{len(list(folder.iterdir())) + 1}.jsonl"
    homes = {os.environ[name]: f"${name}" for name in HOMES if name in os.environ}
    places = {str(Path.cwd()): "$WORKSPACE", **homes}
    agent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert agent.stdin is not None
    assert agent.stdout is not None
    lock = threading.Lock()
    with file.open("a", encoding="utf-8") as log:

        def write(kind: str, line: bytes) -> None:
            text = line.decode()
            for place, name in places.items():
                text = text.replace(place, name)
            with lock:
                log.write(json.dumps({kind: json.loads(text)}) + "\n")
                log.flush()

        def listen() -> None:
            for line in sys.stdin.buffer:
                write("expect", line)
                agent.stdin.write(line)  # type: ignore[union-attr]
                agent.stdin.flush()  # type: ignore[union-attr]
            agent.stdin.close()  # type: ignore[union-attr]

        threading.Thread(target=listen, daemon=True).start()
        for line in agent.stdout:
            write("emit", line)
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
        return agent.wait()


def replay(folder: Path) -> int:
    """Play the agent's part of this process's file."""
    file, log = _mine(folder)
    steps = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    texts: dict[str, str] = {}
    ids: dict[Any, Any] = {}
    for step in steps:
        match step:
            case {"expect": recorded}:
                line = sys.stdin.readline()
                if not line:
                    return 0
                with log.open("a", encoding="utf-8") as lines:
                    lines.write(line)
                said = json.loads(line)
                if _kind(said) != _kind(recorded):
                    sys.stderr.write(f"expected {_kind(recorded)}, and was told {_kind(said)}\n")
                    return 1
                ids[recorded.get("id")] = said.get("id")
                texts.update(_differing(recorded, said))
            case {"emit": message}:
                text = json.dumps(message)
                for recorded_text, actual in texts.items():
                    text = text.replace(json.dumps(recorded_text)[1:-1], json.dumps(actual)[1:-1])
                message = json.loads(text)
                if "method" not in message and "id" in message:
                    message["id"] = ids[message["id"]]
                sys.stdout.write(json.dumps(message) + "\n")
                sys.stdout.flush()
    sys.stdin.read()
    return 0


def _kind(message: Json) -> tuple[Any, ...]:
    """Return what a message is: its method, or its type and that of the request in it."""
    return message.get("method"), message.get("type"), message.get("request", {}).get("subtype")


def _mine(folder: Path) -> tuple[Path, Path]:
    """Return the file of this process, the first that no other took, and the log of what the driver says to it."""
    for file in sorted(folder.iterdir()):
        log = Path(os.environ["REPLAYED"]) / f"{folder.name}-{file.name}"
        try:
            log.touch(exist_ok=False)
        except FileExistsError:
            continue
        return file, log
    raise SystemExit(f"no more processes were recorded in {folder}")


def _differing(recorded: object, said: object) -> Iterator[tuple[str, str]]:
    match recorded, said:
        case str(one), str(other) if one != other and len(one) >= SHORTEST:
            yield one, other
        case dict(), dict():
            for name in recorded.keys() & said.keys():
                yield from _differing(recorded[name], said[name])
        case list(), list():
            for one, other in zip(recorded, said, strict=False):
                yield from _differing(one, other)


if __name__ == "__main__":
    mode, where, *rest = sys.argv[1:]
    sys.exit(record(Path(where), rest) if mode == "record" else replay(Path(where)))
