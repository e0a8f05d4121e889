"""The terminal client, typed at as a user would: in a pseudo-terminal, against a real daemon."""

import os
import pty
import select
import shlex
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

CLIENT = Path(__file__).parents[2] / "editors" / "terminal" / "midstream_terminal.py"
DAEMON = [sys.executable, "-c", "import sys; from midstream.server.cli.main import main; sys.exit(main())", "serve"]
PATIENCE = 30.0


class Screen:
    """The client in a terminal that does not echo what is typed."""

    def __init__(self, data: Path, workspace: Path) -> None:
        options = ["--stdio", "--rehearsal", "--data-dir", str(data), "--config", os.devnull]
        self.terminal, inner = pty.openpty()
        modes = termios.tcgetattr(inner)
        modes[3] &= ~termios.ECHO
        termios.tcsetattr(inner, termios.TCSANOW, modes)
        command = [sys.executable, str(CLIENT), "--server", shlex.join([*DAEMON, *options])]
        self.process = subprocess.Popen(command, cwd=workspace, stdin=inner, stdout=inner, stderr=inner)
        os.close(inner)
        self.unread = ""

    def type(self, line: str) -> None:
        """Type a line."""
        os.write(self.terminal, f"{line}\n".encode())

    def until(self, text: str) -> str:
        """Read until a text has been shown; return what was shown before it."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.unread:
            readable, _, _ = select.select([self.terminal], [], [], max(0.0, deadline - time.monotonic()))
            assert readable, f"{text!r} was not shown, but {self.unread!r}"
            self.unread += os.read(self.terminal, 65536).decode(errors="replace").replace("\r", "")
        before, _, self.unread = self.unread.partition(text)
        return before

    def quit(self) -> int:
        """Quit, and return the client's exit status."""
        self.type("/quit")
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        """End the client if it still runs; its daemon ends with it."""
        with suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        os.close(self.terminal)


@pytest.fixture
def screen(tmp_path: Path, workspace: Path) -> Iterator[Screen]:
    """The client on a new thread of the workspace."""
    screen = Screen(tmp_path / "data", workspace)
    try:
        screen.until("# A new thread (rehearsal); see /help\n")
        yield screen
    finally:
        screen.close()


def test_a_message_is_answered_and_the_thread_is_found_again(screen: Screen, tmp_path: Path, workspace: Path) -> None:
    screen.type("say: good morning")
    screen.until("rehearsal:\ngood morning\n# completed\n")
    screen.type("/new")
    screen.until("# A new thread (rehearsal); see /help\n")
    screen.type("/threads")
    listed = screen.until("say: good morning\n")
    screen.type(f"/open {listed.splitlines()[-1].split('.')[0]}")
    screen.until("# say: good morning (rehearsal); see /help\n> say: good morning\nrehearsal:\ngood morning")
    assert screen.quit() == 0
    again = Screen(tmp_path / "data", workspace)
    try:
        again.until("1. ")
        assert again.quit() == 0
    finally:
        again.close()


def test_what_the_agent_asks_is_answered_by_number_or_in_words(screen: Screen) -> None:
    screen.type("run true")
    screen.until("command: true")
    screen.until("1. Allow\n")
    screen.until("3. Reject\n")
    screen.type("7")
    screen.until("! ")
    screen.type("1")
    screen.until("# completed\n")
    screen.type("ask: Which colour?")
    screen.until("? Which colour?\n")
    screen.type("the blue one")
    screen.until("Answer: the blue one\n# completed\n")
    assert screen.quit() == 0


def test_the_diff_of_the_last_run_shows_what_it_wrote(screen: Screen) -> None:
    screen.type("write made.txt: by an agent")
    screen.until("1. Allow\n")
    screen.until("3. Reject\n")
    screen.type("1")
    screen.until("# completed\n")
    screen.type("/diff")
    screen.until("+++ b/made.txt\n")
    screen.until("+by an agent\n")
    assert screen.quit() == 0


def test_a_switch_is_previewed_and_the_next_agent_is_told(screen: Screen) -> None:
    screen.type("say: the lamp is green")
    screen.until("# completed\n")
    screen.type("/switch understudy")
    screen.until("understudy has not seen run")
    screen.type("/preview")
    screen.until("<midstream-handoff ")
    screen.until("the lamp is green")
    screen.until("</midstream-handoff ")
    screen.type("recall")
    screen.until("* handoff: full_thread_summary\n")
    assert "the lamp is green" in screen.until("# completed\n")
    assert screen.quit() == 0


def test_a_run_is_interrupted_while_the_next_message_waits(screen: Screen) -> None:
    screen.type("sleep 60000")
    screen.until("> sleep 60000\n")
    screen.type("say: afterwards")
    screen.type("/queue")
    screen.until("1. say: afterwards\n")
    screen.type("/interrupt")
    screen.until("# interrupted\n")
    screen.until("afterwards\n# completed\n")
    assert screen.quit() == 0


def test_what_cannot_be_done_is_said_and_who_answers_next_is_named(screen: Screen) -> None:
    for line in ("/open 99", "/switch", "/bogus"):
        screen.type(line)
        screen.until(f"! {line} cannot be done.")
    screen.type("/switch understudy")
    screen.until("# understudy takes the next message.")
    assert screen.quit() == 0
