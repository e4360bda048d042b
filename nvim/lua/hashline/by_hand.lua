--- An agent's lines in a window of their own, to take from while a conflict is solved by hand.
local navigation = require("hashline.navigation")
local state = require("hashline.state")

local M = {}

local WHEN_RIGHT = ":Hashline accept, Keep mine"

local shown = {} ---@type table<string, integer> scratch buffer by hunk name

--- Closes the windows of hunks that are no longer conflicted.
local function close_settled()
  local open = {}
  for _, document in ipairs(state.all()) do
    for _, entry in ipairs(document.entries) do
      open[entry.name] = entry.hunk.state == "conflicted"
    end
  end
  for name, scratch in pairs(shown) do
    if not open[name] then
      shown[name] = nil
      if vim.api.nvim_buf_is_valid(scratch) then
        vim.api.nvim_buf_delete(scratch, { force = true })
      end
    end
  end
end

local subscribed = false

---@param entry hashline.Entry
---@param filetype string
local function show(entry, filetype)
  local lines = entry.hunk.proposed
  local height = math.max(1, math.min(#lines, math.floor(vim.api.nvim_win_get_height(0) / 3)))
  local scratch = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(scratch, 0, -1, false, lines)
  vim.bo[scratch].bufhidden = "wipe"
  vim.bo[scratch].filetype = filetype
  vim.bo[scratch].modifiable = false
  local title = ("hashline://%s/%s:%d"):format(entry.edit.agent, entry.edit.id:sub(1, 8), entry.hunk.number)
  pcall(vim.api.nvim_buf_set_name, scratch, title)
  local ok, win =
    pcall(vim.api.nvim_open_win, scratch, false, { split = "below", win = 0, height = height + 1 })
  if not ok then
    vim.api.nvim_buf_delete(scratch, { force = true })
    vim.notify("hashline: no room for a window with the agent's lines", vim.log.levels.WARN)
    return
  end
  local heading = ("▎ from %s · when yours is right: %s"):format(
    vim.fn.strtrans(entry.edit.agent),
    WHEN_RIGHT
  )
  vim.wo[win][0].winbar = "%#HashlineHeader#" .. heading:gsub("%%", "%%%%") .. "%<"
  shown[entry.name] = scratch
  if not subscribed then
    subscribed = true
    state.subscribe(function()
      vim.schedule(close_settled) -- not while a list is being taken in
    end)
  end
end

--- Goes to the hunk, with the agent's lines below. The person asked for it.
---@param buf integer
---@param entry hashline.Entry
function M.open(buf, entry)
  if vim.api.nvim_get_current_buf() ~= buf or not entry.lines then
    return
  end
  local scratch = shown[entry.name]
  local is_shown = scratch and vim.api.nvim_buf_is_valid(scratch)
  if not is_shown and #entry.hunk.proposed > 0 then
    show(entry, vim.bo[buf].filetype)
  end
  navigation.go(entry)
  if #entry.hunk.proposed == 0 then
    local said = "hashline: the agent takes these lines away; edit them, then " .. WHEN_RIGHT
    vim.api.nvim_echo({ { vim.fn.strcharpart(said, 0, math.max(vim.o.columns - 12, 10)) } }, false, {})
  end
end

return M
