--- A file of forty lines with three undecided hunks: lines replaced, lines inserted, and a conflict.
local messages = require("messages")
local at, edit, list = messages.at, messages.edit, messages.list

local M = {}

M.LINES = {}
for i = 1, 40 do
  M.LINES[i] = "  line " .. i
end

--- The hunks, anew each time, to be changed as a test wants them.
function M.hunks()
  return {
    { lines = at(4, 6), removed = { "  line 5", "  line 6" }, proposed = { "  five and six" } },
    { lines = at(20, 20), proposed = { "", "  new" } },
    {
      lines = at(39, 40),
      removed = { "  line 40" },
      proposed = { "a", "b", "c", "d" },
      state = "conflicted",
      conflict = "you changed line 40",
    },
  }
end

---@param t table the runner
---@return Child
function M.start(t)
  local child = t.start()
  local uri = child:open("a.txt", M.LINES)
  child:push("hashline/pendingEdits", list(uri, 0, { edit(M.hunks()) }))
  return child
end

return M
