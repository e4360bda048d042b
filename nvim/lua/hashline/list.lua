--- All undecided hunks of all documents in the quickfix list, where they can be decided, too.
local hunks = require("hashline.hunks")
local hunk_keys = require("hashline.hunk_keys")
local screens = require("hashline.screens")
local state = require("hashline.state")

local M = {}

local TITLE = "Hashline"

M.nothing = "What this line said is decided. :Hashline list shows what is left."

local STATES = { inText = "in the text, ", edited = "changed by you, ", conflicted = "conflicted, " }

--- A hunk as an entry of the list.
---@param document hashline.Document
---@param entry hashline.Entry
---@return table
function M.item(document, entry)
  local hunk = entry.hunk
  local parts = { entry.edit.agent }
  if hunks.is_of_file(hunk) then
    parts[#parts + 1] = hunks.file_line(hunk, document.key)
  else
    parts[#parts + 1] = "#" .. hunk.number
    parts[#parts + 1] = (STATES[hunk.state] or "") .. hunks.size(hunk)
    parts[#parts + 1] = hunks.sample(hunk)
  end
  parts[#parts + 1] = hunks.reason(entry.edit)
  parts[#parts + 1] = hunks.told(hunk)
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
  return vim.tbl_map(function(place)
    return M.item(place.document, place.entry)
  end, state.places())
end

--- Whether the cursor is in the list.
---@return boolean
function M.is_here()
  return vim.bo.buftype == "quickfix"
    and vim.fn.getwininfo(vim.api.nvim_get_current_win())[1].loclist == 0
    and vim.fn.getqflist({ title = 0 }).title == TITLE
end

--- The undecided hunks that lines of the list are about.
---@param first integer 1-based
---@param last integer
---@return hashline.Place[]
function M.places(first, last)
  local by_name, found = {}, {}
  for _, place in ipairs(state.places()) do
    by_name[place.entry.name] = place
  end
  for _, line in ipairs(vim.list_slice(vim.fn.getqflist(), first, last)) do
    found[#found + 1] = type(line.user_data) == "table" and by_name[line.user_data.hashline] or nil
  end
  return found
end

--- All that is undecided in the files that lines of the list are about.
---@param first integer 1-based
---@param last integer
---@return hashline.Place[]
function M.places_of_files(first, last)
  local found, seen = {}, {}
  for _, place in ipairs(M.places(first, last)) do
    local document = place.document
    for _, entry in ipairs(not seen[document.key] and document.entries or {}) do
      found[#found + 1] = { document = document, entry = entry }
    end
    seen[document.key] = true
  end
  return found
end

screens.add(M)

local id ---@type integer? of the list
local filled_with ---@type string what it says
local is_due = false

---@param items table[]
---@return string
local function what_it_says(items)
  local said = {}
  for _, line in ipairs(items) do
    vim.list_extend(said, { line.user_data.hashline, line.text })
  end
  return table.concat(said, "\n")
end

--- Brings the list to what is left to decide. Cursor and entry stay where they are.
local function renew()
  is_due = false
  local current = vim.fn.getqflist({ id = id, title = 0, idx = 0, winid = 0, qfbufnr = 0 })
  if current.title ~= TITLE then
    id = nil -- it went the way of old lists
    hunk_keys.in_list(current.qfbufnr, false)
    return
  end
  local items = M.items()
  hunk_keys.in_list(current.qfbufnr, #items > 0)
  if what_it_says(items) == filled_with then
    return -- Neovim itself moves its lines along with the typing
  end
  filled_with = what_it_says(items)
  local views = {}
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    local info = vim.fn.getwininfo(win)[1]
    if info.quickfix == 1 and info.loclist == 0 then
      views[win] = vim.api.nvim_win_call(win, vim.fn.winsaveview)
    end
  end
  vim.fn.setqflist({}, "r", { id = id, items = items, idx = math.max(math.min(current.idx, #items), 1) })
  for win, view in pairs(views) do
    vim.api.nvim_win_call(win, function()
      vim.fn.winrestview(view)
    end)
  end
end

local subscribed = false

--- Fills the quickfix list and opens it: the person asked for it.
---@param name string? of the hunk that the cursor goes to
function M.open(name)
  local items = M.items()
  if #items == 0 then
    vim.api.nvim_echo({ { "Nothing is left to review." } }, false, {})
    return
  end
  local current = vim.fn.getqflist({ title = 0 })
  local action = current.title == TITLE and "r" or " "
  vim.fn.setqflist({}, action, { title = TITLE, items = items })
  id, filled_with = vim.fn.getqflist({ id = 0 }).id, what_it_says(items)
  vim.cmd("botright copen")
  hunk_keys.in_list(vim.api.nvim_get_current_buf(), true)
  for row, item in ipairs(items) do
    if item.user_data.hashline == name then
      vim.api.nvim_win_set_cursor(0, { row, 0 })
    end
  end
  if not subscribed then
    subscribed = true
    state.subscribe(function()
      if id and not is_due then
        is_due = true
        vim.schedule(renew) -- several documents change together
      end
    end)
  end
end

return M
