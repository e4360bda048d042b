--- What was rejected in this Neovim, to be looked at again: no text has it any more, and no list.
local hunks = require("hashline.hunks")
local state = require("hashline.state")

local M = {}

---@class hashline.Rejected
---@field client_id integer
---@field path string
---@field entry hashline.Entry
---@field reason string? that its agent was told

local MOST = 100

local rejected = {} ---@type hashline.Rejected[] the last one last

--- Forgets hunks: they were decided otherwise since.
---@param names string[]
function M.forget(names)
  rejected = vim.tbl_filter(function(known)
    return not vim.list_contains(names, known.entry.name)
  end, rejected)
end

--- Keeps the hunks that were rejected.
---@param places hashline.Place[] what was meant
---@param names string[] of the hunks whose rejection is under way
---@param reason string?
function M.remember(places, names, reason)
  M.forget(names)
  for _, place in ipairs(places) do
    if vim.list_contains(names, place.entry.name) then
      rejected[#rejected + 1] = {
        client_id = place.document.client_id,
        path = place.document.key,
        entry = place.entry,
        reason = reason,
      }
    end
  end
  rejected = vim.list_slice(rejected, math.max(#rejected - MOST, 0) + 1)
end

--- Those that are not to be decided again.
---@return hashline.Rejected[]
local function still_rejected()
  return vim.tbl_filter(function(known)
    local place = state.named(known.entry.name)
    return not place or place.entry.hunk.deciding
  end, rejected)
end

---@param known hashline.Rejected
---@return string
local function heading(known)
  local edit, hunk = known.entry.edit, known.entry.hunk
  local parts = { vim.fn.fnamemodify(known.path, ":~:."), edit.agent }
  if hunks.is_of_file(hunk) then
    parts[1] = hunks.file_title(hunk, known.path)
  else
    vim.list_extend(parts, { "#" .. hunk.number, hunks.size(hunk) })
  end
  parts[#parts + 1] = hunks.reason(edit)
  parts[#parts + 1] = known.reason and ('told "%s"'):format(known.reason)
  return vim.fn.strtrans(table.concat(parts, " · "))
end

local ns = vim.api.nvim_create_namespace("hashline.rejected")

--- Fills a buffer with them, the last one first.
---@param buf integer
---@param all hashline.Rejected[]
---@return string[] names of the hunks by line
local function fill(buf, all)
  local lines, groups, names = {}, {}, {}
  for at = #all, 1, -1 do
    local known = all[at]
    local function put(line, group)
      lines[#lines + 1] = (line:gsub("\n", "\0")) -- a NUL of the text, as in a buffer
      groups[#lines], names[#lines] = group, known.entry.name
    end
    put(heading(known), "HashlineHeader")
    for _, line in ipairs(known.entry.hunk.removed) do
      put("- " .. line, "HashlineRemoved")
    end
    for _, line in ipairs(known.entry.hunk.proposed) do
      put("+ " .. line, "HashlineAdded")
    end
  end
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  for row, group in ipairs(groups) do
    vim.api.nvim_buf_set_extmark(
      buf,
      ns,
      row - 1,
      0,
      { end_row = row, end_col = 0, hl_group = group, hl_eol = true, strict = false }
    )
  end
  return names
end

--- Shows what was rejected in a window below. The person asked for it.
function M.open()
  local all = still_rejected()
  if #all == 0 then
    return vim.api.nvim_echo({ { "Nothing was rejected here." } }, false, {})
  end
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].filetype = "hashline"
  local names = fill(buf, all)
  local height = math.min(#names + 1, math.floor(vim.o.lines / 2))
  vim.cmd(("botright %dsplit"):format(math.max(height, 2)))
  local win = vim.api.nvim_get_current_win()
  vim.wo[win].winfixbuf = false -- as a window that it was split from may have it
  vim.api.nvim_win_set_buf(win, buf)
  vim.wo[win][0].winbar = "%#HashlineHeader#Rejected%=%#HashlineHint#u reopen · q close "
  vim.wo[win][0].number, vim.wo[win][0].relativenumber = false, false
  local function map(lhs, does, words)
    vim.keymap.set("n", lhs, does, { buffer = buf, nowait = true, desc = "hashline: " .. words })
  end
  map("q", "<Cmd>close<CR>", "close")
  map("u", function()
    local name = names[vim.api.nvim_win_get_cursor(0)[1]]
    for _, known in ipairs(all) do
      if known.entry.name == name then
        require("hashline.reopen").hunk(known.client_id, name)
      end
    end
    vim.cmd.close()
  end, "reopen the hunk")
end

return M
