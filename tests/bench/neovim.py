"""`neovim.open`, `neovim.jump`: a thread of 5,000 items in Neovim, beside a plain buffer of the same lines.

`open` is from the command to the last page painted; `jump` from there to item 1 painted, and back to the end. Beside
both stands how long Neovim takes to open a text file of these lines, without highlighting, and to show its end.
"""

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from figures import medians, show

from support.load import fill
from support.neovim import Neovim, neovim_on

ITEMS = 5_000
BAR = 3.0
ROUNDS = 9
OPEN = """
local id = ...
vim.cmd("silent! bwipeout!")
vim.cmd("redraw")
local began = vim.uv.hrtime()
vim.cmd("Midstream open " .. id)
assert(vim.wait(20000, function()
  return vim.b.midstream_thread == id and vim.api.nvim_buf_line_count(0) > 50
end, 1))
vim.cmd("redraw")
return (vim.uv.hrtime() - began) / 1e9
"""
PLAIN = """
local path = ...
vim.cmd("silent! bwipeout!")
vim.cmd("redraw")
local began = vim.uv.hrtime()
vim.cmd("botright vsplit " .. path)
vim.cmd("normal! G")
vim.cmd("redraw")
return (vim.uv.hrtime() - began) / 1e9
"""
JUMP = """
local view = require("midstream.view")
local buffer = vim.api.nvim_get_current_buf()
local first = ...
local began = vim.uv.hrtime()
vim.cmd("normal! gg")
vim.cmd("redraw")
view.load_near(buffer)
assert(vim.wait(20000, function()
  return vim.iter(view.get(buffer).painting.keys):find(first) ~= nil
end, 1))
vim.cmd("redraw")
vim.cmd("normal! G")
vim.cmd("redraw")
return (vim.uv.hrtime() - began) / 1e9
"""


def measure(nvim: Neovim, thread: str, plain: Path) -> None:
    """Print both figures."""
    first = nvim.lua(
        "local id = ...; local found; require('midstream.async').run(function() "
        "found = require('midstream.client').call('thread/items', {threadId = id, limit = 1}) end); "
        "vim.wait(20000, function() return found end, 5); return found.items[1].id",
        thread,
    )

    def opened() -> float:
        return seconds(nvim.lua(OPEN, thread))

    def jumped() -> float:
        opened()
        return seconds(nvim.lua(JUMP, first))

    def plain_opened() -> float:
        return seconds(nvim.lua(PLAIN, str(plain)))

    opening, jump, limit = medians(ROUNDS, opened, jumped, plain_opened)
    show("neovim.open", opening, "s", limit, BAR)
    show("neovim.jump", jump, "s", limit, BAR)


def seconds(value: Any) -> float:
    """Return a number of Neovim's."""
    return float(value)


def main() -> None:
    """Fill a store, open it, and measure."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        workspace, data = home / "workspace", home / "data"
        workspace.mkdir()
        data.mkdir(mode=0o700)
        thread = asyncio.run(fill(data, ITEMS, workspace))
        with neovim_on(data, workspace, page=500) as nvim:
            nvim.do(f"open {thread}")
            nvim.until("vim.b.midstream_thread and vim.api.nvim_buf_line_count(0) > 50")
            lines = nvim.lines()
            plain = home / "plain.txt"
            body = [line for line in lines if line.strip()]
            plain.write_text("\n".join((lines * (ITEMS * 2 // len(body) + 1))[: ITEMS * 2]) + "\n")
        with neovim_on(data, workspace) as nvim:
            nvim.do(f"open {thread}")
            nvim.until("vim.b.midstream_thread and vim.api.nvim_buf_line_count(0) > 50")
            measure(nvim, thread, plain)


if __name__ == "__main__":
    main()
