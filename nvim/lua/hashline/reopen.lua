--- Taking decisions back: what was decided here, and how it is asked for anew.
local M = {}

--- A hunk that was decided about here, to be reopened.
---@class hashline.Made
---@field client_id integer
---@field name string

local made = {} ---@type hashline.Made[][] what was decided as one, the last one last

local MOST_MADE = 100

--- Adds hunks to what is reopened as one.
---@param batch hashline.Made[]
---@param client_id integer
---@param names string[]
function M.remember(batch, client_id, names)
  for _, name in ipairs(names) do
    if #batch == 0 then
      made[#made + 1] = batch
      if #made > MOST_MADE then
        table.remove(made, 1)
      end
    end
    batch[#batch + 1] = { client_id = client_id, name = name }
  end
end

--- Asks for a hunk to be decided again.
---@param hunk hashline.Made
---@param on_refusal fun(refusal: hashline.Refusal)?
local function ask(hunk, on_refusal)
  local decide = require("hashline.decide")
  local edit, number = hunk.name:match("^(.*):(%d+)$")
  -- In whichever file it is by now: the decision may have given it another name.
  local fields = { edit = edit, hunk = math.floor(tonumber(number) or 1) }
  local target = { client_id = hunk.client_id, fields = fields, places = {} }
  decide.send(target, { decision = "reopen" }, function(refused)
    if #refused > 0 then
      if on_refusal then
        on_refusal(refused[1])
      end
      decide.say_refused(refused)
    end
  end)
end

--- Reopens the last decision that was made here: its hunks are to be decided again. What is refused of it can be reopened later.
---@return string[] names of the hunks
function M.last()
  local last = table.remove(made)
  if not last then
    require("hashline.decide").say("no decision was made here that could be taken back")
    return {}
  end
  local left = {} ---@type hashline.Made[]
  for _, hunk in ipairs(last) do
    ask(hunk, function(refusal)
      if refusal.why ~= "gone" then
        M.remember(left, hunk.client_id, { hunk.name })
      end
    end)
  end
  return vim.tbl_map(function(hunk)
    return hunk.name
  end, last)
end

--- Reopens one hunk, whenever and by whomever it was decided.
---@param client_id integer
---@param name string
function M.hunk(client_id, name)
  for at = #made, 1, -1 do
    made[at] = vim.tbl_filter(function(hunk)
      return hunk.name ~= name
    end, made[at])
    if #made[at] == 0 then
      table.remove(made, at)
    end
  end
  ask({ client_id = client_id, name = name })
end

return M
