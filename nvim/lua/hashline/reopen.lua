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

local batches = {} ---@type hashline.Batch[] in the order in which they were asked, the last one last

local MOST_BATCHES = 100

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

--- A decision of the batch is said to a sidecar.
---@param batch hashline.Batch
---@param client_id integer
function M.asked(batch, client_id)
  if not vim.list_contains(batches, batch) then
    add(batch)
  end
  table.insert(batch.unanswered, client_id)
end

--- The sidecar answered one decision of the batch: these hunks can be reopened.
---@param batch hashline.Batch
---@param client_id integer
---@param names string[]
function M.answered(batch, client_id, names)
  for _, name in ipairs(names) do
    table.insert(batch.hunks, { client_id = client_id, name = name })
  end
  for at, waiting in ipairs(batch.unanswered) do
    if waiting == client_id then
      table.remove(batch.unanswered, at)
      break
    end
  end
  if #batch.unanswered > 0 then
    return
  elseif batch.when_answered then
    batch.when_answered()
  elseif #batch.hunks == 0 then
    forget(batch)
  end
end

--- Whether an answer can still come: not from a sidecar that has ended.
---@param batch hashline.Batch
local function is_answered(batch)
  return not vim.iter(batch.unanswered):any(function(client_id)
    return vim.lsp.get_client_by_id(client_id) ~= nil
  end)
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
---@param on_hunks fun(names: string[])?
local function reopen(batch, on_hunks)
  local left = M.batch()
  for _, hunk in ipairs(batch.hunks) do
    ask(hunk, function(refusal)
      if refusal.why ~= "gone" then
        if #left.hunks == 0 then
          add(left)
        end
        table.insert(left.hunks, hunk)
      end
    end)
  end
  if on_hunks then
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
  if not last then
    require("hashline.decide").say("no decision was made here that could be taken back")
  elseif not is_answered(last) then
    last.when_answered = function()
      reopen(last, on_hunks)
    end
  elseif #last.hunks == 0 then
    M.last(on_hunks) -- its sidecar ended before it answered
  else
    reopen(last, on_hunks)
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
    if #batch.hunks == 0 and is_answered(batch) then
      forget(batch)
    end
  end
  ask({ client_id = client_id, name = name })
end

return M
