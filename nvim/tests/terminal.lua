--- A terminal of its own (tmux), with a program in it: what a person sees, and keys as a person presses them.
local patience = require("patience")

local M = {}

local running = {}

---@class Terminal
local Terminal = {}
Terminal.__index = Terminal

--- Starts a program in a new terminal.
---@param size { [1]: integer, [2]: integer } columns and rows
---@param folder string where it runs
---@param command string[]
---@param env table<string, string>?
---@return Terminal
function M.start(size, folder, command, env)
  assert(vim.fn.executable("tmux") == 1, "tmux is needed")
  local place = vim.fn.tempname()
  vim.fn.mkdir(place, "p")
  local terminal = setmetatable({ socket = place .. "/tmux", size = size }, Terminal)
  terminal.env = vim.tbl_extend("force", { TERM = "xterm-256color", COLORTERM = "truecolor" }, env or {})
  running[#running + 1] = terminal
  local start = { "new-session", "-d", "-x", tostring(size[1]), "-y", tostring(size[2]), "-c", folder }
  terminal:tmux(unpack(vim.list_extend(start, command)))
  return terminal
end

function M.stop_all()
  for _, terminal in ipairs(running) do
    terminal:tmux("kill-server")
  end
  running = {}
end

function Terminal:tmux(...)
  local run = vim.system(
    { "tmux", "-S", self.socket, "-f", "/dev/null", "-u", ... },
    { text = true, env = self.env }
  )
  return run:wait(patience.LONGEST_MS).stdout or ""
end

--- Presses keys, each by its name or as it is.
function Terminal:keys(...)
  self:tmux("send-keys", ...)
end

--- What the screen shows, without the blanks that carry colours. Empty when the program has ended.
function Terminal:screen()
  return (self:tmux("capture-pane", "-p"):gsub("[ \t]+\n", "\n"))
end

--- The same with the codes for colours, and all blanks.
function Terminal:coloured()
  return self:tmux("capture-pane", "-p", "-e", "-N")
end

--- Waits until the screen is as wanted.
---@param wanted fun(screen: string): any
---@param what string
function Terminal:wait(wanted, what)
  local seen
  patience.wait(function()
    seen = self:screen()
    return wanted(seen)
  end, function()
    return ("%s; it shows\n%s"):format(what, seen)
  end)
end

--- Waits until the screen begins with these lines.
function Terminal:begins(lines, what)
  local start = table.concat(lines, "\n") .. "\n"
  self:wait(function(screen)
    return vim.startswith(screen, start)
  end, what)
end

--- Waits until the screen has these words.
function Terminal:has(words, what)
  self:wait(function(screen)
    return screen:find(words, 1, true)
  end, what or words)
end

--- Waits until the program has ended.
function Terminal:ends(what)
  self:wait(function()
    return self:tmux("list-sessions") == ""
  end, what)
end

return M
