"""An ACP agent that says as much as it is told, as fast as it is taken. Standard library only.

It obeys the lines of a prompt, and says first that it took the turn:

- ``flood COUNT SIZE [RATE]``: COUNT chunks of SIZE characters of one message, RATE characters a second at most;
- ``tools COUNT SIZE``: COUNT tool calls, each ended at once with an output of SIZE characters on one line;
- ``inputs COUNT SIZE``: the same with an input of SIZE characters;
- ``wait``: go on once the turn is cancelled.

A chunk begins with ``@SECONDS;``, the moment at which it was written on the clock that all processes share.
"""

import json
import os
import sys
import time

STARTED = {"sessionUpdate": "session_info_update", "_meta": {"midstream/turnStarted": {"turnId": "t"}}}
MARK = len("@0000000000.000000;")


class Agent:
    def __init__(self):
        self.sessions = 0
        self.calls = 0
        self.turns = 0
        self.session = ""

    def write(self, line):
        data = line.encode() + b"\n"
        while data:
            data = data[os.write(1, data) :]

    def send(self, message):
        self.write(json.dumps({"jsonrpc": "2.0", **message}))

    def update(self, update):
        self.send({"method": "session/update", "params": {"sessionId": self.session, "update": update}})

    def flood(self, count, size, rate=0):
        self.turns += 1
        text = {"type": "text", "text": "@@"}
        update = {"sessionUpdate": "agent_message_chunk", "messageId": f"m{self.turns}", "content": text}
        params = {"sessionId": self.session, "update": update}
        frame = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params})
        head, tail = frame.split("@@")
        filling = ("abcdefghij " * (size // 11 + 1))[: max(0, size - MARK)]
        began = time.monotonic()
        for number in range(count):
            if rate:
                time.sleep(max(0.0, began + number * size / rate - time.monotonic()))
            self.write(f"{head}@{time.monotonic():017.6f};{filling}{tail}")

    def tools(self, count, size, field="rawOutput"):
        for _ in range(count):
            self.calls += 1
            call = {"sessionUpdate": "tool_call", "toolCallId": f"c{self.calls}", "title": "Work", "kind": "other"}
            self.update({**call, "status": "completed", field: "x" * size})

    def obey(self, line):
        match line.split():
            case ["flood", *numbers]:
                self.flood(*map(int, numbers))
            case ["tools", *numbers]:
                self.tools(*map(int, numbers))
            case ["inputs", *numbers]:
                self.tools(*map(int, numbers), field="rawInput")
            case ["wait"]:
                while json.loads(sys.stdin.readline() or "{}").get("method", "session/cancel") != "session/cancel":
                    pass
            case _:
                self.update({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Noted."}})

    def prompt(self, params):
        self.session = params["sessionId"]
        self.update(STARTED)
        for block in params["prompt"]:
            for line in block.get("text", "").splitlines():
                self.obey(line)
        return {"stopReason": "end_turn"}

    def answer(self, method, params):
        match method:
            case "initialize":
                extensions = {"midstream": {"turnStarted": True}}
                return {"protocolVersion": 1, "agentCapabilities": {"_meta": extensions}}
            case "session/new":
                self.sessions += 1
                return {"sessionId": f"s{self.sessions}"}
            case "session/prompt":
                return self.prompt(params)
            case _:
                return {}

    def serve(self):
        for line in sys.stdin:
            message = json.loads(line)
            if "method" in message and "id" in message:
                self.send({"id": message["id"], "result": self.answer(message["method"], message.get("params") or {})})


Agent().serve()
