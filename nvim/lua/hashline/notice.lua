--- One quiet message for each connection of an agent that proposes edits.
local config = require("hashline.config")

local M = {}

local told = {} ---@type table<string, boolean> by connection
local waiting = {} ---@type table<string, integer> hunks by agent, not told of yet
local scheduled = false

local WAIT_MS = 100 -- several documents of one call come one after the other

local function tell()
  -- A message would disturb a command line that is being typed.
  if vim.api.nvim_get_mode().mode:find("^[cr!]") then
    vim.defer_fn(tell, 500)
    return
  end
  scheduled = false
  local total, agents = 0, {}
  for agent, count in vim.spairs(waiting) do
    total = total + count
    agents[#agents + 1] = agent
  end
  waiting = {}
  -- Cut so that it never needs "Press ENTER".
  local message = ("hashline: %d hunk%s to decide (%s)"):format(
    total,
    total == 1 and "" or "s",
    vim.fn.strtrans(table.concat(agents, ", "))
  )
  vim.notify(vim.fn.strcharpart(message, 0, math.max(vim.o.columns - 13, 20)), vim.log.levels.INFO)
end

---@param document hashline.Document
function M.update(document)
  local fresh = {}
  for _, entry in ipairs(document.entries) do
    local edit = entry.edit
    -- An agent that names no conversations has one for each call. An older sidecar names no connections.
    local source = edit.connection or edit.conversation
    if not told[source] then
      fresh[source] = true
      waiting[edit.agent] = (waiting[edit.agent] or 0) + 1
    end
  end
  for source in pairs(fresh) do
    told[source] = true
  end
  if not config.get("notify") then
    waiting = {}
  elseif next(waiting) and not scheduled then
    scheduled = true
    vim.defer_fn(tell, WAIT_MS)
  end
end

return M
