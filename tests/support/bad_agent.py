"""An ACP agent that misbehaves as its script says: ``python bad_agent.py SCRIPT LOG``. Standard library only.

The script is JSON: ``{"capabilities": {…}, "<method>": [step, …]}``; a method without steps gets a well-behaved
answer. A method's steps may be a list of such lists: one for each time that it is asked. Every line that the
agent receives is appended to LOG. The steps:

- ``{"answer": result}``, ``{"error": error}``: answer the request;
- ``{"update": update, "times": n}``: a ``session/update``, n times; ``{"send": message}``; ``{"raw": line}``;
- ``{"wait": method}``: read on until that notification or request comes, ``"answer"``: until an answer comes;
- ``{"stderr": bytes}``, ``{"say": text}`` on stderr, ``{"exit": status}``, ``{"close": "stdout"}``;
- ``{"pause": seconds}``: do nothing for a while;
- ``{"deaf": true}``: ignore SIGTERM and the end of stdin from here on;
- ``{"child": fifo}``: a child in a session of its own that holds our pipes and the fifo open, and never ends.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

SCRIPT = json.loads(Path(sys.argv[1]).read_text())
LOG = Path(sys.argv[2])
ASKED = {}
CHILD = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
held = open(sys.argv[1], "w")
held.write("up")
held.flush()
time.sleep(600)
"""


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def receive():
    line = sys.stdin.readline()
    if not line:
        if SCRIPT.get("deaf"):
            time.sleep(600)
        sys.exit(0)
    with LOG.open("a") as log:
        log.write(line)
    return json.loads(line)


def well_behaved(method):
    match method:
        case "initialize":
            info = {"name": "bad", "version": "6.6.6"}
            return [
                {
                    "answer": {
                        "protocolVersion": 1,
                        "agentCapabilities": SCRIPT.get("capabilities", {}),
                        "agentInfo": info,
                    }
                }
            ]
        case "session/new" | "session/fork":
            return [{"answer": {"sessionId": "s1"}}]
        case "session/prompt":
            chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hello"}}
            return [{"update": chunk}, {"answer": {"stopReason": "end_turn"}}]
        case _:
            return [{"answer": {}}]


def steps_of(method):
    steps = SCRIPT.get(method)
    if steps is None:
        return well_behaved(method)
    if steps and isinstance(steps[0], list):
        turn = ASKED.get(method, 0)
        ASKED[method] = turn + 1
        return steps[min(turn, len(steps) - 1)]
    return steps


def perform(step, request):
    session = (request.get("params") or {}).get("sessionId", "s1")
    match step:
        case {"answer": result}:
            send({"id": request["id"], "result": result})
        case {"error": error}:
            send({"id": request["id"], "error": error})
        case {"update": update}:
            for _ in range(step.get("times", 1)):
                send({"method": "session/update", "params": {"sessionId": session, "update": update}})
        case {"send": message}:
            send(message)
        case {"raw": line}:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
        case {"wait": method}:
            while True:
                message = receive()
                if message.get("method", "answer") == method:
                    break
        case {"stderr": count}:
            sys.stderr.write("x" * count)
            sys.stderr.flush()
        case {"say": text}:
            sys.stderr.write(text + "\n")
            sys.stderr.flush()
        case {"pause": seconds}:
            time.sleep(seconds)
        case {"exit": status}:
            os._exit(status)
        case {"close": "stdout"}:
            os.close(1)
        case {"deaf": _}:
            SCRIPT["deaf"] = True
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        case {"child": fifo}:
            subprocess.Popen([sys.executable, "-S", "-c", CHILD, fifo], start_new_session=True)


while True:
    asked = receive()
    if "method" in asked and "id" in asked:
        for each in steps_of(asked["method"]):
            perform(each, asked)
