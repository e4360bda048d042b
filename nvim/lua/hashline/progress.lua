--- What is left to review, in a line: after each decision, and where there is nothing to decide.
local hunks = require("hashline.hunks")
local navigation = require("hashline.navigation")
local state = require("hashline.state")

local M = {}

--- A count with its noun.
---@param count integer
---@param noun string
---@return string
function M.counted(count, noun)
  return ("%d %s%s"):format(count, noun, count == 1 and "" or "s")
end

--- How many hunks in how many files.
---@param places hashline.Place[]
---@return string
function M.extent(places)
  local files = {}
  for _, place in ipairs(places) do
    files[place.document.key] = true
  end
  return ("%s in %s"):format(M.counted(#places, "hunk"), M.counted(vim.tbl_count(files), "file"))
end

--- Counts the undecided hunks in the current buffer and elsewhere.
---@param gone table<string, boolean> names of hunks that do not count
---@return integer here
---@return integer elsewhere
---@return integer files elsewhere that have some
local function count(gone)
  local own = state.of_buffer(vim.api.nvim_get_current_buf())
  local here, elsewhere, files = 0, 0, 0
  for _, document in ipairs(state.all()) do
    local found = 0
    for _, entry in ipairs(document.entries) do
      found = found + ((gone[entry.name] or entry.hunk.deciding) and 0 or 1)
    end
    if document == own then
      here = found
    elseif found > 0 then
      elsewhere, files = elsewhere + found, files + 1
    end
  end
  return here, elsewhere, files
end

---@param gone table<string, boolean>
---@return string
local function left(gone)
  local here, elsewhere, files = count(gone)
  if here + elsewhere == 0 then
    return "Nothing is left to review."
  elseif elsewhere == 0 then
    return here .. " left here"
  end
  local other = vim.bo.buftype == "" and "other file" or "file"
  if here == 0 then
    return ("%d left in %s"):format(elsewhere, M.counted(files, other))
  end
  return ("%d left here, %d in %s"):format(here, elsewhere, M.counted(files, other))
end

--- What there is to review, where the person meant something that is not there.
---@param what string sentence
---@return string
function M.instead(what)
  local here, elsewhere, files = count({})
  if here > 0 then
    return ("%s %d in this file: :Hashline next"):format(what, here)
  elseif elsewhere > 0 then
    return ("%s %d in %s: :Hashline next"):format(what, elsewhere, M.counted(files, "other file"))
  end
  return what
end

local DONE = {
  accept = "Accepted",
  reject = "Rejected",
  keepMine = "Kept yours",
  takeTheirs = "Took the agent's",
  keepBoth = "Kept both",
  comment = "Commented",
}
local DONE_IN_TEXT = { accept = "Kept", reject = "Undone" }

--- Which agents are told why.
---@param reason string?
---@param places hashline.Place[]
---@return string? sentence without its end
function M.told(reason, places)
  local agents = {}
  for _, place in ipairs(places) do
    agents[place.entry.edit.agent] = true
  end
  if reason and next(agents) then
    return ('Told %s: "%s"'):format(table.concat(vim.fn.sort(vim.tbl_keys(agents)), ", "), reason)
  end
end

local decided = {} ---@type table<string, boolean> names of hunks that are not told of yet
local with_reason = {} ---@type hashline.Place[] those among them whose agents are told why
local done ---@type string? what became of them, once that is to be told
local why ---@type string?

local SOON_MS = 30 -- what is decided at once is answered one after the other

local function tell()
  local told = M.told(why, with_reason)
  local said = ("%s. %s%s"):format(done, told and told .. ". " or "", left(decided))
  decided, with_reason, done, why = {}, {}, nil, nil
  -- A message would disturb a command line that is being typed, and a question that is being asked.
  if not vim.api.nvim_get_mode().mode:find("^[cr!]") then
    navigation.echo(said)
  end
end

--- Says what was decided, and what is left.
---@param decision hashline.Decision
---@param places hashline.Place[] what was meant
---@param queued string[]
function M.decided(decision, places, queued)
  local in_text, is_left = #places > 0, decision.decision == "comment"
  for _, place in ipairs(places) do
    in_text = in_text and hunks.in_text(place.entry.hunk)
    decided[place.entry.name] = decided[place.entry.name] or not is_left
  end
  for _, name in ipairs(queued) do
    decided[name] = decided[name] or not is_left
  end
  if not done then
    vim.defer_fn(tell, SOON_MS)
  end
  done = in_text and DONE_IN_TEXT[decision.decision] or DONE[decision.decision]
  if decision.reason then
    why = decision.reason
    vim.list_extend(with_reason, places)
  end
end

return M
