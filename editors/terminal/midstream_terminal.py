"""A Midstream client for any terminal: one file on the standard library, written from protocol/PROTOCOL.md alone."""

import json
import os
import shlex
import sys
import threading
from contextlib import suppress
from http.client import parse_headers
from pathlib import Path
from queue import Queue
from subprocess import PIPE, Popen
from typing import Any

Json = dict[str, Any]
HELP = """A plain line is a message or, while the agent asks something, the answer: a number, or your own words.
/new  /threads  /open N  /switch PROVIDER  /preview [PROVIDER]  /diff  /interrupt (or Ctrl-C)  /queue  /help  /quit"""
HELLO = {"processId": os.getpid(), "rootUri": None, "capabilities": {}, "initializationOptions": {"native": True}}
STREAMED = {"agentMessage": "text", "plan": "markdown", "command": "output"}
HEADLINES = {"userMessage": "> {text}", "agentMessage": "{who}:", "command": "$ {command}", "notice": "! {message}"}
HEADLINES |= {"error": "! {message}", "tool": "* {name}", "handoff": "* handoff: {strategy}", "plan": "A plan:"}
UNPRINTABLE = {code: None for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


class Terminal:
    """A user, and the daemon as a child process; what either says comes into one inbox."""

    def __init__(self, command: list[str]) -> None:
        self.inbox, self.kept = Queue[Json](), list[Json]()  # kept is what came while another answer was awaited
        self.calls, self.thread, self.line_open = 0, "", False  # whether the cursor stands behind text
        self.daemon: Any = Popen(command, stdin=PIPE, stdout=PIPE, start_new_session=True)
        for read in (self.read_daemon, self.read_user):
            threading.Thread(target=read, daemon=True).start()
        self.call("initialize", HELLO)
        self.send(method="initialized", params={})

    def read_daemon(self) -> None:
        """Put each message of the daemon into the inbox."""
        while length := parse_headers(self.daemon.stdout)["Content-Length"]:
            self.inbox.put(json.loads(self.daemon.stdout.read(int(length))))
        self.inbox.put({"method": "ended"})

    def read_user(self) -> None:
        """Put each line of the user into the inbox, as if it were the answer to a call named "line"."""
        for line in filter(str.strip, os.fdopen(0, closefd=False)):  # sys.stdin must not be in use when Python ends
            self.inbox.put({"id": "line", "result": line.strip()})
        self.inbox.put({"id": "line", "result": "/quit"})

    def send(self, **message: Any) -> None:
        """Send the daemon one message."""
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        with suppress(BrokenPipeError):  # its end is heard
            self.daemon.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            self.daemon.stdin.flush()

    def call(self, method: str, params: Json) -> Any:
        """Send a request and return its result."""
        self.calls += 1
        self.send(id=self.calls, method=method, params=params)
        return self.wait(self.calls)

    def wait(self, awaited: int | str) -> Any:
        """Return the result of a call, or the next line of the user, hearing what the daemon tells meanwhile."""
        while not (found := [entry for entry in self.kept if entry["id"] == awaited]):
            entry = self.inbox.get()
            if "method" in entry:
                self.hear(entry["method"], entry.get("params", {}))
            else:
                self.kept.append(entry)
        self.kept.remove(found[0])
        if "error" in found[0]:
            raise ValueError(found[0]["error"]["message"])
        return found[0]["result"]

    def say(self, text: str, end: str = "\n") -> None:
        """Write a line, or the next piece of one where `end` is empty; nothing that would command the terminal."""
        print("\n" * bool(self.line_open and end) + text.translate(UNPRINTABLE), end=end, flush=True)  # noqa: T201
        self.line_open = not (text + end).endswith("\n")

    def open(self, thread: Json) -> None:
        """Follow a thread, holding nothing of the one before, and show its end."""
        read = self.call("thread/subscribe", {"threadId": thread["id"]})["snapshot"]
        self.thread, self.shown = thread["id"], dict[str, str]()  # the text of each item
        self.runs: dict[str, Json] = {run["id"]: run for run in read["runs"]}
        self.say(f"# {thread['title'] or 'A new thread'} ({thread['selection']['provider']}); see /help")
        for item in self.call("thread/items", {"threadId": thread["id"], "last": True, "limit": 20})["items"]:
            self.show_item(item)
        self.ask()

    def hear(self, method: str, params: Json) -> None:
        """Show a notification, if it is about the open thread."""
        if method == "ended":
            sys.exit("The daemon has ended.")
        kind = params.get("type", method) if params.get("threadId") == self.thread else None
        if kind == "run/output" and params["itemId"] in self.shown:
            self.show_text(params["itemId"], params["offset"], params["text"])
        elif kind == "item":
            self.show_item(params["record"])
        elif kind == "request":
            self.ask()
        elif kind == "run":
            run = params["record"]
            if run["completedAt"] and self.runs.get(run["id"], {}).get("status") != run["status"]:
                self.say(f"# {run['status']}" + (f": {run['failure']['message']}" if run["failure"] else ""))
            self.runs[run["id"]] = run

    def show_item(self, item: Json) -> None:
        """Show what is new of an item: its headline, then its text."""
        if item["type"] in HEADLINES and item["id"] not in self.shown:
            self.shown[item["id"]] = ""
            self.say(HEADLINES[item["type"]].format(**item, who=self.runs.get(item["runId"], {}).get("provider")))
        if field := STREAMED.get(item["type"]):
            head = min((part["headLength"] for part in item.get("shortened", [])), default=None)
            self.show_text(item["id"], 0, item[field][:head])

    def show_text(self, item: str, offset: int, text: str) -> None:
        """Show what is new of an item's text, or all of it where it is not what was shown before."""
        held, whole = self.shown[item], self.shown[item][:offset] + text
        if not held.startswith(whole):
            self.shown[item] = whole
            self.say(whole[len(held) :] if whole.startswith(held) else f"\n{whole}", end="")

    def ask(self) -> None:
        """Show the oldest thing that the agent asks, and how it can be answered."""
        self.requests = self.call("request/list", {"threadId": self.thread})["requests"]
        for request in self.requests[:1]:
            lines = [f"{key}: {value}" for key, value in request["detail"].items() if key != "changes"]
            lines += [change.get("diff", change["path"]) for change in request["detail"].get("changes", [])]
            for question in request.get("questions") or [request]:
                lines.append(question.get("text") or question["prompt"])
                lines += [f"  {number}. {option['label']}" for number, option in enumerate(question["options"], 1)]
            self.say("? " + "\n".join(lines))

    def reply(self, request: Json, line: str) -> None:
        """Answer a request: by the number of an option, or each question in turn, with semicolons between."""
        answers: list[Json] = []
        for question, words in zip(request.get("questions", []), line.split(";"), strict=False):
            chosen = [o["label"] for number, o in enumerate(question["options"], 1) if str(number) in words.split()]
            answers.append({"questionId": question["id"], "values": chosen or [words.strip()]})
        options = {str(number): option["optionId"] for number, option in enumerate(request["options"], 1)}
        reply = {"requestId": request["id"], "optionId": options.get(line), "answers": answers or None}
        self.call("request/respond", reply)

    def obey(self, line: str) -> None:
        """Do what the user typed."""
        thread, folder = {"threadId": self.thread}, {"workspace": Path.cwd().as_uri()}
        match line.split():
            case ["/new"]:
                self.open(self.call("thread/create", folder)["thread"])
            case ["/threads"]:
                self.listed = self.call("thread/list", folder)["threads"]
                self.say("\n".join(f"{n}. {listed['title']}" for n, listed in enumerate(self.listed, 1)))
            case ["/open", number] if number in map(str, range(1, len(self.listed) + 1)):
                self.open(self.listed[int(number) - 1])
            case ["/switch" | "/preview" as word, *names] if names or word == "/preview":
                selection = {"selection": {"provider": names[0], "model": None}} if names else {}
                result = self.call("provider/switch" if word == "/switch" else "handoff/preview", thread | selection)
                texts = [f"# {names[0]} takes the next message."] if word == "/switch" else []
                texts += [f"# {reason['message']}" for reason in result["plan"]["reasons"]]
                self.say("\n".join(texts + [handoff["sentText"] for handoff in result.get("handoffs", [])]))
            case ["/diff"]:
                run = [run for run in self.runs.values() if run["baselineCheckpointId"]][-1]
                span = {"from": run["baselineCheckpointId"], "to": run["checkpointId"] or "workspace", "patch": True}
                self.say(self.call("checkpoint/diff", thread | span)["patch"] or "# The last run changed no file.")
            case ["/interrupt"]:
                for run in [run for run in self.runs.values() if run["startedAt"] and not run["completedAt"]]:
                    self.call("run/interrupt", {"runId": run["id"]})
            case ["/queue"]:
                queued = [run for run in self.runs.values() if run["status"] == "queued"]
                self.say("\n".join(f"{run['queuePosition']}. {run['message']['text']}" for run in queued))
            case [word, *_] if word.startswith("/"):
                self.say(HELP if word == "/help" else f"! {line} cannot be done.\n{HELP}")
            case _ if self.requests:
                self.reply(self.requests[0], line)
            case _:
                self.call("run/start", {**thread, "message": {"text": line}})


def main() -> None:
    """Let the user talk until they quit."""
    terminal = Terminal(shlex.split(sys.argv[2] if sys.argv[1:2] == ["--server"] else "midstream serve --stdio"))
    terminal.obey("/threads")
    terminal.obey("/open 1" if terminal.listed else "/new")
    while True:
        try:
            if (line := terminal.wait("line")) == "/quit":
                break
            terminal.obey(line)
        except KeyboardInterrupt:
            terminal.inbox.put({"id": "line", "result": "/interrupt"})
        except (ValueError, IndexError) as problem:
            terminal.say(f"! {problem}")
    terminal.call("shutdown", {})
    terminal.send(method="exit")
    if all(run["completedAt"] for run in terminal.runs.values()):
        terminal.daemon.wait()  # otherwise it goes on until its runs have ended


if __name__ == "__main__":
    main()
