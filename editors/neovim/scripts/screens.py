"""Makes the pictures of README.md from a real session: `python editors/neovim/scripts/screens.py`.

Needs tmux, and Debian's aha and chromium; the daemon's agents are the rehearsal agents.
"""

import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[3]
PICTURES = ROOT / "editors" / "neovim" / "pictures"
sys.path.insert(0, str(ROOT / "tests"))

from support.neovim import arguments  # noqa: E402

SESSION = "midstream-screens"
PATIENCE = 60.0
BACKGROUND = "#14161b"
"""Neovim's own."""
STATUS = r"set statusline=%f%=%{%v:lua.require'midstream'.statusline()%}\ "


def tmux(*words: str) -> str:
    """Run tmux and return what it prints."""
    return subprocess.run(["tmux", "-L", SESSION, *words], check=True, capture_output=True, text=True).stdout


def until(text: str) -> None:
    """Wait until the screen shows a text."""
    deadline = time.monotonic() + PATIENCE
    while text not in (screen := tmux("capture-pane", "-p")):
        assert time.monotonic() < deadline, f"{text!r} was not shown, but {screen}"
        time.sleep(0.1)


def command(text: str) -> None:
    """Type a command line."""
    tmux("send-keys", "-l", f":{text}")
    tmux("send-keys", "Enter")


def clear_command_line() -> None:
    """Redraw, so that no command stands there any more."""
    tmux("send-keys", "C-l")
    deadline = time.monotonic() + PATIENCE
    while tmux("capture-pane", "-p").rstrip("\n").splitlines()[-1].startswith(":"):
        assert time.monotonic() < deadline, "the command line was not cleared"
        time.sleep(0.1)


def picture(name: str) -> None:
    """Keep the screen as a picture."""
    colours = tmux("capture-pane", "-e", "-p")
    page = subprocess.run(
        ["aha", "--black", "--title", name], input=colours, capture_output=True, text=True, check=True
    )
    with tempfile.TemporaryDirectory() as folder:
        html = Path(folder) / "screen.html"
        style = f"pre {{ font: 15px/18px 'DejaVu Sans Mono' }} body {{ background: {BACKGROUND} !important }}"
        html.write_text(page.stdout.replace("</head>", f"<style>{style}</style></head>"))
        browser = ["chromium", "--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1180,1000"]
        target = PICTURES / f"{name}.png"
        subprocess.run([*browser, f"--screenshot={target}", html.as_uri()], check=True, capture_output=True)


def main() -> None:
    """Play a session and keep its main views."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        workspace = Path(home) / "engine"
        workspace.mkdir()
        (workspace / "notes.txt").write_text("first\nsecond\n")
        subprocess.run(["git", "init", "-q"], cwd=workspace, check=True)
        config = {"open": "botright vsplit | only", "runtime_mode": "autoAcceptEdits"}
        nvim = ["env", f"MIDSTREAM_REHEARSAL_DIR={home}/agents", *arguments(Path(home) / "data", **config)]
        nvim += ["--cmd", "set termguicolors laststatus=3", "--cmd", STATUS, "--cmd", f"cd {workspace}"]
        tmux("new-session", "-d", "-x", "126", "-y", "54", shlex.join(nvim))
        try:
            play()
        finally:
            tmux("kill-server")


def play() -> None:
    """Say what the pictures show."""
    command("Midstream open new")
    until("next: rehearsal")
    command("Midstream send decide: the engine counts in SI units")
    until("Run 1 · rehearsal · completed")
    command("Midstream handoff understudy")
    until("full_thread_summary")
    clear_command_line()
    picture("handoff")
    command("quit!")
    command("Midstream switch understudy")
    until("goes on, by")
    command("Midstream send append notes.txt: third, in metres")
    until("Run 2 · understudy · completed")
    command("Midstream send run make test")
    until("▢ Reject")
    clear_command_line()
    picture("thread")
    tmux("send-keys", "gr")
    tmux("send-keys", "-l", "/Reject")
    tmux("send-keys", "Enter")
    tmux("send-keys", "Enter")
    until("Run 3 · understudy · completed")
    command("Midstream diff 2")
    until("AFTER")
    clear_command_line()
    picture("diff")


if __name__ == "__main__":
    main()
