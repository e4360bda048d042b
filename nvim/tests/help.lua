--- Writes what the schema of the settings says into the help page and the file of their types: nvim -l nvim/tests/help.lua
local here = vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2)))
local nvim = vim.fs.dirname(here)
vim.opt.runtimepath:prepend(nvim)
local config = require("hashline.config")
local path = nvim .. "/doc/hashline.txt"
local kept, inside = {}, false
for line in io.lines(path) do
  if inside and line:find("^=====") then
    inside = false
  end
  if not inside then
    kept[#kept + 1] = line
  end
  if line:find("the schema writes what follows", 1, true) then
    inside = true
    kept[#kept + 1] = ""
    vim.list_extend(kept, config.help())
  end
end
vim.fn.writefile(kept, path)
vim.fn.writefile(config.types(), nvim .. "/lua/hashline/settings_types.lua")
