std = "luajit"
read_globals = { "vim" }
globals = { "vim.g", "vim.b", "vim.bo", "vim.wo", "vim.opt_local", "vim.t" }
max_line_length = 120
exclude_files = { "lua/midstream/types.lua" }
