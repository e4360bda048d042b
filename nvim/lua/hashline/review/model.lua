--- What the review shows: by agent, turn and file, the hunks that are to be decided, and those that were while it is open.
local hunks = require("hashline.hunks")
local state = require("hashline.state")

local M = {}

---@class hashline.review.Item one hunk
---@field name string EDIT:NUMBER
---@field document hashline.Document as it was last
---@field entry hashline.Entry likewise
---@field outcome "accepted"|"rejected"|nil what was decided
---@field section hashline.review.Section

---@class hashline.review.Section the hunks of one file, in one turn where turns are told apart
---@field id string
---@field group hashline.review.Group
---@field document hashline.Document
---@field items hashline.review.Item[]
---@field left integer how many are undecided

---@class hashline.review.Group what an agent did, in one turn where turns are told apart
---@field id string
---@field agent string
---@field turn string?
---@field sections hashline.review.Section[]

---@class hashline.review.Counts
---@field hunks integer
---@field files integer
---@field decided integer
---@field conflicted integer
---@field agents string[]

---@class hashline.review.Model
---@field by_turn boolean
---@field agent string? the only one that is shown
---@field items table<string, hashline.review.Item[]> by document
---@field outcomes table<string, "accepted"|"rejected"> by hunk name: what was told of them since it was opened
local Model = {}
Model.__index = Model

--- Starts with what is pending now. Turns are told apart if they are more than single calls: an agent that names no conversations has one for
--- each call, and its edits of a file would be torn apart.
---@return hashline.review.Model
function M.new()
  local model = setmetatable({ by_turn = false, items = {}, outcomes = {} }, Model)
  local edit_of = {} ---@type table<string, string> by conversation
  for _, document in ipairs(state.all()) do
    model:take(document)
    for _, edit in ipairs(document.edits) do
      local other = edit_of[edit.conversation]
      model.by_turn = model.by_turn or (other ~= nil and other ~= edit.id)
      edit_of[edit.conversation] = edit.id
    end
  end
  return model
end

--- The hunks of a list that are decided, while others of their edits are not.
---@param document hashline.Document
---@return hashline.review.Item[]
local function decided_in(document)
  local found = {}
  for _, edit in ipairs(document.edits) do
    for _, hunk in ipairs(edit.hunks) do
      local outcome = hunk.decision
      if outcome ~= "undecided" and not hunk.deciding and not hunk.partOf and hunk.state ~= "withdrawn" then
        local entry = { name = edit.id .. ":" .. hunk.number, edit = edit, hunk = hunk, lines = hunk.lines }
        found[#found + 1] = { name = entry.name, document = document, entry = entry, outcome = outcome }
      end
    end
  end
  return found
end

--- Where a hunk comes in its file.
---@param item hashline.review.Item
---@return number
local function position(item)
  local lines = item.entry.lines
  return hunks.is_of_file(item.entry.hunk) and -1 or lines and lines.start or math.huge
end

--- Takes in what is pending in a document now.
---@param document hashline.Document
function Model:take(document)
  local items, there = {}, {}
  for _, entry in ipairs(document.entries) do
    self.outcomes[entry.name] = nil -- it was reopened
    items[#items + 1] = { name = entry.name, document = document, entry = entry }
  end
  vim.list_extend(items, decided_in(document))
  for _, item in ipairs(items) do
    there[item.name] = true
  end
  -- An edit that is decided altogether is in no list any more.
  for _, item in ipairs(self.items[document.key] or {}) do
    local outcome = self.outcomes[item.name]
    if not there[item.name] and outcome then
      local entry = vim.tbl_extend("force", item.entry, {}) --[[@as hashline.Entry]]
      items[#items + 1] = { name = item.name, document = document, entry = entry, outcome = outcome }
    end
  end
  local order = {} ---@type table<hashline.review.Item, integer>
  for i, item in ipairs(items) do
    order[item] = i
  end
  table.sort(items, function(a, b)
    local from, to = position(a), position(b)
    if from ~= to then
      return from < to
    end
    return order[a] < order[b]
  end)
  self.items[document.key] = #items > 0 and items or nil
end

--- The agents that have hunks here, by name.
---@return string[]
function Model:agents()
  local found = {}
  for _, items in pairs(self.items) do
    for _, item in ipairs(items) do
      found[item.entry.edit.agent] = true
    end
  end
  return vim.fn.sort(vim.tbl_keys(found))
end

--- All that is shown, in its order.
---@return hashline.review.Group[]
function Model:groups()
  local groups, by_id = {}, {} ---@type hashline.review.Group[], table<string, hashline.review.Group>
  for key, items in vim.spairs(self.items) do
    local sections = {} ---@type table<string, hashline.review.Section>
    for _, item in ipairs(items) do
      local edit = item.entry.edit
      if not self.agent or self.agent == edit.agent then
        local id = self.by_turn and edit.agent .. "\n" .. edit.conversation or edit.agent
        local group = by_id[id]
        if not group then
          group =
            { id = id, agent = edit.agent, turn = self.by_turn and edit.conversation or nil, sections = {} }
          by_id[id], groups[#groups + 1] = group, group
        end
        local section = sections[id]
        if not section then
          section = { id = id .. "\n" .. key, group = group, document = item.document, items = {}, left = 0 }
          sections[id] = section
          table.insert(group.sections, section)
        end
        item.section = section
        section.left = section.left + (item.outcome and 0 or 1)
        table.insert(section.items, item)
      end
    end
  end
  -- The names of turns begin with the time, unless the agent chose them.
  table.sort(groups, function(a, b)
    return a.id < b.id
  end)
  return groups
end

--- How much is shown.
---@param groups hashline.review.Group[]
---@return hashline.review.Counts
function M.count(groups)
  local counts = { hunks = 0, files = 0, decided = 0, conflicted = 0, agents = {} }
  local files, agents = {}, {}
  for _, group in ipairs(groups) do
    agents[group.agent] = true
    for _, section in ipairs(group.sections) do
      files[section.document.key] = true
      counts.hunks = counts.hunks + #section.items
      counts.decided = counts.decided + #section.items - section.left
      for _, item in ipairs(section.items) do
        local is_conflict = not item.outcome and item.entry.hunk.state == "conflicted"
        counts.conflicted = counts.conflicted + (is_conflict and 1 or 0)
      end
    end
  end
  counts.files, counts.agents = vim.tbl_count(files), vim.fn.sort(vim.tbl_keys(agents))
  return counts
end

return M
