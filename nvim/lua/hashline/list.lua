--- All undecided hunks of all documents in the quickfix list.
local hunks = require("hashline.hunks")
local state = require("hashline.state")

local M = {}

local STATES = { inText = "in the text, ", edited = "changed by you, ", conflicted = "conflicted, " }

--- The first line of a hunk that says something.
---@param hunk hashline.Hunk
---@return string?
local function sample(hunk)
  for _, line in ipairs(#hunk.proposed > 0 and hunk.proposed or hunk.removed) do
    if line:find("%S") then
      return vim.trim(line)
    end
  end
end

---@param document hashline.Document
---@param entry hashline.Entry
---@return table
local function item(document, entry)
  local hunk = entry.hunk
  local parts = { entry.edit.agent, ("hunk %d of %d"):format(hunk.number, #entry.edit.hunks) }
  if hunks.is_of_file(hunk) then
    parts[#parts + 1] = hunk.file
  else
    parts[#parts + 1] = (STATES[hunk.state] or "") .. hunks.size(hunk)
    parts[#parts + 1] = sample(hunk)
  end
  return {
    bufnr = document.buf,
    filename = not document.buf and vim.startswith(document.uri, "file:") and vim.uri_to_fname(document.uri)
      or nil,
    lnum = entry.lines and hunks.row(entry.lines) + 1 or 1,
    type = hunk.state == "conflicted" and "W" or "I",
    text = table.concat(parts, " · "),
    user_data = { hashline = entry.name },
  }
end

---@return table[]
function M.items()
  local items = {}
  for _, document in ipairs(state.all()) do
    for _, entry in ipairs(document.entries) do
      items[#items + 1] = item(document, entry)
    end
  end
  return items
end

--- Fills the quickfix list and opens it: the person asked for it.
function M.open()
  local items = M.items()
  if #items == 0 then
    vim.api.nvim_echo({ { "hashline: nothing to decide" } }, false, {})
    return
  end
  local current = vim.fn.getqflist({ title = 0 })
  local action = current.title == "Hashline" and "r" or " "
  vim.fn.setqflist({}, action, { title = "Hashline", items = items })
  vim.cmd("botright copen")
end

return M
