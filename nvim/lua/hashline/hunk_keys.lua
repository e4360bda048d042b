--- The keys for reviewing: in buffers that are brought to the sidecar, while something is pending, beside those that the person has.
local config = require("hashline.config")
local state = require("hashline.state")

local M = {}

---@class hashline.Key
---@field lhs string
---@field action string as in <Plug>(HashlineAction)
---@field modes string[]
---@field anywhere boolean? also where nothing is pending in the buffer itself
---@field in_text boolean? not in the list

---@type hashline.Key[]
M.all = {
  { lhs = "]h", action = "Next", modes = { "n" }, anywhere = true },
  { lhs = "[h", action = "Prev", modes = { "n" }, anywhere = true },
  { lhs = "<Leader>ha", action = "Accept", modes = { "n", "x" } },
  { lhs = "<Leader>hr", action = "Reject", modes = { "n", "x" } },
  { lhs = "<Leader>hR", action = "RejectReason", modes = { "n", "x" } },
  { lhs = "<Leader>hc", action = "Comment", modes = { "n", "x" } },
  { lhs = "<Leader>he", action = "Edit", modes = { "n" }, in_text = true },
  { lhs = "<Leader>hd", action = "Diff", modes = { "n" }, in_text = true },
  { lhs = "<Leader>hu", action = "Reopen", modes = { "n" }, anywhere = true },
  { lhs = "<Leader>hl", action = "List", modes = { "n" }, anywhere = true },
  { lhs = "<Leader>hv", action = "Review", modes = { "n" }, anywhere = true },
}

local set = {} ---@type table<integer, table<string, boolean>> by buffer and action: the keys that are there

---@param key hashline.Key
---@return string
local function plug(key)
  return ("<Plug>(Hashline%s)"):format(key.action)
end

--- Whether the person has a map of this key, of one that begins with it or it begins with, or another one for the same.
---@param key hashline.Key
---@param mode string
---@return boolean
local function is_taken(key, mode)
  return vim.fn.mapcheck(key.lhs, mode) ~= "" or vim.fn.hasmapto(plug(key), mode) == 1
end

---@param key hashline.Key
---@return string by which these maps are known
local function description(key)
  return "hashline: " .. key.action
end

---@param buf integer
---@param key hashline.Key
local function add(buf, key)
  for _, mode in ipairs(key.modes) do
    local is_free = vim.api.nvim_buf_call(buf, function()
      return not is_taken(key, mode)
    end)
    if is_free then
      vim.keymap.set(mode, key.lhs, plug(key), { buffer = buf, remap = true, desc = description(key) })
    end
  end
end

--- Takes a key away, unless it is somebody else's by now.
---@param buf integer
---@param key hashline.Key
local function remove(buf, key)
  for _, mode in ipairs(key.modes) do
    for _, map in ipairs(vim.api.nvim_buf_get_keymap(buf, mode)) do
      if map.desc == description(key) then
        vim.keymap.del(mode, key.lhs, { buffer = buf })
      end
    end
  end
end

--- Sets the keys that a buffer is to have, and takes the others away.
---@param buf integer
---@param is_wanted fun(key: hashline.Key): boolean?
local function apply(buf, is_wanted)
  local before, now = set[buf] or {}, {}
  for _, key in ipairs(M.all) do
    now[key.action] = config.get("keys") and is_wanted(key) or nil
  end
  set[buf] = next(now) and now or nil
  for _, key in ipairs(vim.api.nvim_buf_is_valid(buf) and M.all or {}) do
    if now[key.action] and not before[key.action] then
      add(buf, key)
    elseif before[key.action] and not now[key.action] then
      remove(buf, key)
    end
  end
end

local shown = {} ---@type table<integer, table<string, string>> by buffer and action

--- The keys for what is done to a hunk, whoever mapped them, as a person reads them.
---@param buf integer
---@return table<string, string> by action
local function read(buf)
  local found = {}
  -- One of the buffer hides one that is for all.
  for _, maps in ipairs({ vim.api.nvim_get_keymap("n"), vim.api.nvim_buf_get_keymap(buf, "n") }) do
    for _, map in ipairs(maps) do
      for _, action in ipairs({ "Accept", "Reject" }) do
        local command = ("Hashline %s<CR>"):format(action:lower())
        if map.rhs == ("<Plug>(Hashline%s)"):format(action) or vim.endswith(map.rhs or "", command) then
          found[action] = vim.fn.keytrans(map.lhsraw --[[@as string]])
        end
      end
    end
  end
  return found
end

--- The keys of a buffer for what is done to a hunk, as they were when its hunks came.
---@param buf integer
---@return table<string, string> by action
function M.shown(buf)
  return shown[buf] or {}
end

---@param buf integer
local function update_buffer(buf)
  local document = state.of_buffer(buf)
  local is_pending = document ~= nil and #document.entries > 0
  local is_anything = state.has_any()
  apply(buf, function(key)
    return is_pending or (key.anywhere and is_anything)
  end)
  shown[buf] = is_pending and read(buf) or nil
end

local was_anything = false

--- Follows what is pending.
---@param document hashline.Document
function M.update(document)
  local is_anything = state.has_any()
  if is_anything ~= was_anything then
    was_anything = is_anything
    vim.tbl_map(update_buffer, state.buffers())
  elseif document.buf then
    update_buffer(document.buf)
  end
end

--- A buffer was brought to the sidecar.
---@param buf integer
function M.attach(buf)
  if was_anything then
    update_buffer(buf)
  end
end

--- A buffer is no longer brought to the sidecar.
---@param buf integer
function M.detach(buf)
  apply(buf, function()
    return false
  end)
  shown[buf] = nil
end

--- Sets the keys in the list, or takes them away.
---@param buf integer
---@param has_entries boolean
function M.in_list(buf, has_entries)
  apply(buf, function(key)
    return has_entries and not key.in_text
  end)
end

return M
