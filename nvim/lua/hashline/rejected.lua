--- What was rejected in this Neovim, to be looked at again: no text has it any more, and no list.
local hunks = require("hashline.hunks")
local scratch = require("hashline.scratch")
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

--- Them as lines, the last one first.
---@param all hashline.Rejected[]
---@return hashline.ScratchLine[]
local function lines_of(all)
  local lines = {}
  for at = #all, 1, -1 do
    local known = all[at]
    lines[#lines + 1] = { text = heading(known), group = "HashlineHeader", about = known }
    vim.list_extend(lines, scratch.lines_of(known.entry.hunk, known))
  end
  return lines
end

--- Shows what was rejected in a window below. The person asked for it.
function M.open()
  local all = still_rejected()
  if #all == 0 then
    return vim.api.nvim_echo({ { "Nothing was rejected here." } }, false, {})
  end
  local window = scratch.open("Rejected", "u reopen · q close", lines_of(all))
  scratch.map(window, "u", "reopen the hunk", function()
    local known = scratch.at_cursor(window) --[[@as hashline.Rejected?]]
    if known then
      require("hashline.reopen").hunk(known.client_id, known.entry.name)
    end
    vim.cmd.close()
  end)
end

return M
