--- The review as tests have it: what it is about, and what it shows.
local messages = require("messages")
local at, edit, list = messages.at, messages.edit, messages.list

local M = {}

M.LINES = {}
for i = 1, 40 do
  M.LINES[i] = "line " .. i
end

--- A hunk that replaces one of these lines.
function M.replacing(line, proposed, more)
  local hunk = { lines = at(line - 1, line), removed = { M.LINES[line] }, proposed = proposed }
  return vim.tbl_extend("force", hunk, more or {})
end

--- An open file with three hunks, and one that is not open with a hunk of another agent. What is pushed is kept, to be changed.
---@param t table the runner
---@return Child
---@return { open: table, other: table } pending
---@return fun(which: "open"|"other", edits: table[]?) push
function M.start(t)
  local child = t.start(nil, { 40, 100 })
  local uri = child:open("a.txt", M.LINES)
  local other = vim.uri_from_fname(vim.fs.joinpath(child.folder, "lib/not open.txt"))
  vim.fn.mkdir(child.folder .. "/lib")
  vim.fn.writefile({ "x", "y", "z" }, vim.uri_to_fname(other))
  local pending = {
    open = list(uri, 0, {
      edit({
        M.replacing(5, { "five" }),
        { lines = at(20, 20), proposed = { "new" } },
        M.replacing(30, { "thirty" }, { state = "conflicted", conflict = "you changed line 30" }),
      }),
    }),
    other = list(other, vim.NIL, {
      edit(
        { { lines = at(1, 2), removed = { "y" }, proposed = { "why" }, state = "inText" } },
        { id = "other", agent = "codex", conversation = "conv_2" }
      ),
    }),
  }
  local function push(which, edits)
    pending[which].edits = edits or pending[which].edits
    child:push("hashline/pendingEdits", pending[which])
  end
  push("open")
  push("other")
  return child, pending, push
end

--- The lines of the hunks, or of the files.
---@param child Child
---@param of_files boolean?
---@return string[]
function M.lines(child, of_files)
  return child:lua(
    [[
      local buf = vim.fn.bufnr(... and "hashline://review/files$" or "hashline://review$")
      return buf > 0 and vim.api.nvim_buf_get_lines(buf, 0, -1, true) or {}
    ]],
    of_files
  )
end

--- The totals at the top.
---@param child Child
function M.totals(child)
  return child:lua([[
    local win = vim.fn.win_findbuf(vim.fn.bufnr("hashline://review$"))[1]
    local bar = win and vim.wo[win].winbar or ""
    return vim.trim(bar:match("#HashlineHeader#(.-)%%=") or "")
  ]])
end

--- The line that the cursor is in.
---@param child Child
function M.line(child)
  return child:lua("return vim.api.nvim_get_current_line()")
end

--- Waits until one of the lines of the hunks begins so.
---@param t table the runner
---@param child Child
---@param start string
---@param of_files boolean?
function M.waits_for(t, child, start, of_files)
  local found
  t.wait(function()
    found = M.lines(child, of_files)
    for _, line in ipairs(found) do
      if vim.startswith(line, start) then
        return true
      end
    end
  end, function()
    return ("no line begins with %q:\n%s"):format(start, table.concat(found, "\n"))
  end)
end

return M
