--- Taking decisions back: what was decided here, and how it is asked for anew.
local M = {}

--- A hunk that was decided about here, to be reopened.
---@class hashline.DecidedHunk
---@field client_id integer
---@field name string

--- What was decided as one. Which of its hunks can be reopened is known when all its requests are answered.
---@class hashline.Batch
---@field hunks hashline.DecidedHunk[]
---@field unanswered integer[] the clients of requests that have no answer yet
---@field when_answered fun()? the person took it back meanwhile

--- In the order in which they were asked.
local batches = {} ---@type hashline.Batch[]

local MOST_BATCHES = 100

--- Those that are reopened as soon as they are answered.
local taken_back = {} ---@type hashline.Batch[]

---@return hashline.Batch
function M.batch()
  return { hunks = {}, unanswered = {} }
end

---@param batch hashline.Batch
local function add(batch)
  batches[#batches + 1] = batch
  if #batches > MOST_BATCHES then
    table.remove(batches, 1)
  end
end

---@param batch hashline.Batch
local function forget(batch)
  batches = vim.tbl_filter(function(other)
    return other ~= batch
  end, batches)
end

--- A decision of the batch is sent to a sidecar.
---@param batch hashline.Batch
---@param client_id integer
function M.asked(batch, client_id)
  if not vim.list_contains(batches, batch) then
    add(batch)
  end
  table.insert(batch.unanswered, client_id)
end

---@param batch hashline.Batch
local function settle(batch)
  if #batch.unanswered > 0 then
    return
  elseif batch.when_answered then
    batch.when_answered()
  elseif #batch.hunks == 0 then
    forget(batch)
  end
end

--- The sidecar answered one decision of the batch: these hunks can be reopened.
---@param batch hashline.Batch
---@param client_id integer
---@param names string[]
function M.answered(batch, client_id, names)
  local known = {} ---@type table<string, boolean> by client and name
  for _, hunk in ipairs(batch.hunks) do
    known[hunk.client_id .. " " .. hunk.name] = true
  end
  for _, name in ipairs(names) do
    if not known[client_id .. " " .. name] then
      known[client_id .. " " .. name] = true
      table.insert(batch.hunks, { client_id = client_id, name = name })
    end
  end
  for at, waiting in ipairs(batch.unanswered) do
    if waiting == client_id then
      table.remove(batch.unanswered, at)
      break
    end
  end
  settle(batch)
end

--- A sidecar has ended: it answers nothing more.
---@param client_id integer
function M.ended(client_id)
  for _, batch in ipairs(vim.list_extend(vim.list_slice(batches), taken_back)) do
    if vim.list_contains(batch.unanswered, client_id) then
      batch.unanswered = vim.tbl_filter(function(waiting)
        return waiting ~= client_id
      end, batch.unanswered)
      settle(batch)
    end
  end
end

--- Asks for a hunk to be decided again.
---@param hunk hashline.DecidedHunk
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

---@param batch hashline.Batch
---@param place integer where what is refused of it goes
---@param on_hunks fun(names: string[])?
local function reopen(batch, place, on_hunks)
  local left = M.batch()
  for _, hunk in ipairs(batch.hunks) do
    ask(hunk, function(refusal)
      if refusal.why ~= "gone" then
        if #left.hunks == 0 then
          table.insert(batches, math.min(place, #batches + 1), left)
        end
        table.insert(left.hunks, hunk)
      end
    end)
  end
  if on_hunks and #batch.hunks > 0 then
    on_hunks(vim.tbl_map(function(hunk)
      return hunk.name
    end, batch.hunks))
  end
end

--- Reopens the last decision that was made here: its hunks are to be decided again. What is refused of it can be reopened later. A
--- decision that the sidecar has not answered is reopened when it is.
---@param on_hunks fun(names: string[])? is given the names of the hunks
function M.last(on_hunks)
  local last = table.remove(batches)
  local place = #batches + 1
  if not last then
    require("hashline.decide").say("no decision was made here that could be taken back")
  elseif #last.unanswered == 0 then
    reopen(last, place, on_hunks)
  else
    taken_back[#taken_back + 1] = last
    last.when_answered = function()
      taken_back = vim.tbl_filter(function(batch)
        return batch ~= last
      end, taken_back)
      reopen(last, place, on_hunks)
    end
  end
end

--- Reopens one hunk, whenever and by whomever it was decided.
---@param client_id integer
---@param name string
function M.hunk(client_id, name)
  for _, batch in ipairs(batches) do
    batch.hunks = vim.tbl_filter(function(hunk)
      return hunk.name ~= name
    end, batch.hunks)
    settle(batch)
  end
  ask({ client_id = client_id, name = name })
end

return M
