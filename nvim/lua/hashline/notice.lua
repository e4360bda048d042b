--- One quiet message for what agents just did: in the file that is looked at, and in files that are not open.
local config = require("hashline.config")
local hunks = require("hashline.hunks")
local state = require("hashline.state")

local M = {}

local told = {} ---@type table<string, boolean> by connection
local seen = {} ---@type table<string, table<string, boolean>> names of hunks by document
local waiting = {} ---@type table<string, boolean> names of hunks that are not told of yet
local since ---@type number? when the first of them came, in nanoseconds
local timer ---@type uv.uv_timer_t?

local QUIET_MS = 300 -- calls that an agent makes at once come one after the other
local LONGEST_MS = 2000

--- What happened in one document.
---@param document hashline.Document
---@param fresh hashline.Entry[]
---@return string[] changes of the file itself, in words
---@return integer count of the hunks to be told of beside these
local function changes_in(document, fresh)
  local changes, count, is_new = {}, 0, false
  for _, entry in ipairs(fresh) do
    if hunks.is_of_file(entry.hunk) then
      changes[#changes + 1] = hunks.file_title(entry.hunk, document.key)
      is_new = is_new or hunks.makes_file(entry.hunk)
    else
      count = count + 1
    end
  end
  return changes, is_new and 0 or count -- what is in a new file goes without saying
end

--- The sentence, without what does not fit a line: more than that would need "Press ENTER".
---@param agents string[]
---@param parts string[]
---@param command string that shows what it speaks of
---@return string
local function sentence(agents, parts, command)
  local who = #agents > 2 and #agents .. " agents" or table.concat(agents, ", ")
  local room = math.max(vim.v.echospace, 20)
  local text = ""
  for shown = math.min(#parts, math.ceil(room / #", a in b")), 1, -1 do
    local more = shown < #parts and (" and %d more"):format(#parts - shown) or ""
    text = ("%s: %s%s. %s"):format(who, table.concat(parts, ", ", 1, shown), more, command)
    text = vim.fn.strtrans(text)
    if vim.api.nvim_strwidth(text) <= room then
      break
    end
  end
  return vim.fn.strcharpart(text, 0, room)
end

---@param count integer
---@return string
local function counted(count)
  return count == 1 and "1 hunk" or count .. " hunks"
end

local function tell()
  -- A message would disturb a command line that is being typed.
  if vim.api.nvim_get_mode().mode:find("^[cr!]") then
    vim.defer_fn(tell, 500)
    return
  end
  timer = nil
  local agents, changes, here, elsewhere, is_all_here = {}, {}, 0, {}, true
  for _, document in ipairs(state.all()) do
    local fresh = vim.tbl_filter(function(entry)
      return waiting[entry.name]
    end, document.entries)
    for _, entry in ipairs(fresh) do
      agents[entry.edit.agent] = true
    end
    local of_file, count = changes_in(document, fresh)
    vim.list_extend(changes, of_file)
    if document.buf == vim.api.nvim_get_current_buf() then
      here = count
    else
      is_all_here = is_all_here and #fresh == 0
      elsewhere[#elsewhere + 1] = count > 0 and { count, vim.fs.basename(document.key) } or nil
    end
  end
  waiting, since = {}, nil
  local parts = here > 0 and { counted(here) .. " here" } or {}
  vim.list_extend(parts, changes)
  for i, file in ipairs(elsewhere) do
    local is_first = i == 1 and here == 0
    parts[#parts + 1] = ("%s in %s"):format(is_first and counted(file[1]) or file[1], file[2])
  end
  if #parts > 0 then
    local command = is_all_here and ":Hashline next" or ":Hashline review"
    vim.notify(sentence(vim.fn.sort(vim.tbl_keys(agents)), parts, command), vim.log.levels.INFO)
  end
end

--- Tells of what is waiting when nothing more has come for a while.
local function tell_soon()
  since = since or vim.uv.hrtime()
  local left = LONGEST_MS - (vim.uv.hrtime() - since) / 1e6
  if timer then
    timer:stop()
  end
  timer = vim.defer_fn(tell, math.max(math.min(QUIET_MS, math.floor(left)), 0))
end

---@param document hashline.Document
function M.update(document)
  local before, now, sources, grew = seen[document.key] or {}, {}, {}, false
  for _, entry in ipairs(document.entries) do
    local edit = entry.edit
    -- An agent that names no conversations has one for each call. An older sidecar names no connections.
    local source = edit.connection or edit.conversation
    now[entry.name] = true
    sources[source] = true
    -- What is open is seen where it is: once for each connection is enough.
    if not before[entry.name] and not (document.buf and told[source]) then
      waiting[entry.name], grew = true, true
    end
  end
  seen[document.key] = next(now) and now or nil
  for source in pairs(sources) do
    told[source] = true
  end
  if not config.get("notify") then
    waiting = {}
  elseif grew then
    tell_soon()
  end
end

return M
