--- The extmarks of undecided hunks: the text that is not in the buffer, and signs. They lie where the hunks were when they were drawn, and move
--- along with the typing.
local config = require("hashline.config")
local hunks = require("hashline.hunks")
local virtual = require("hashline.virtual")

local M = {}

local ns = vim.api.nvim_create_namespace("hashline")

--- Hunks whose virtual lines hang on the same side of the same line.
---@class hashline.Bunch
---@field row integer
---@field above boolean
---@field entries hashline.Entry[] ordered as the text is

---@class hashline.Drawn
---@field id integer extmark
---@field size integer how many virtual lines it has
---@field signs integer[] extmarks
---@field look hashline.Look what it was made for
---@field above boolean
---@field decided_by string?
---@field hunks hashline.DrawnHunk[]
---@field depth table<string, integer> by hunk name: its last virtual line among those of its bunch

local drawn = {} ---@type table<integer, table<string, hashline.Drawn>> by buffer and names of the hunks

--- Where the virtual lines of a hunk hang: on a line of the hunk, or on the line before its place.
---@param entry hashline.Entry
---@param line_count integer
---@return integer row
---@return boolean above
local function hook(entry, line_count)
  local from, to = entry.lines.start, math.min(entry.lines["end"], line_count)
  local last = line_count - 1
  if from >= to then
    return math.max(math.min(from - 1, last), 0), from == 0
  elseif hunks.in_text(entry.hunk) then
    return math.min(from, last), true
  end
  return math.min(to - 1, last), false
end

--- The bunches of a document's hunks. Neovim draws the virtual lines of several marks on one line in an order of its own,
--- so a bunch has one mark.
---@param entries hashline.Entry[] ordered as the text is
---@param line_count integer
---@param is_meant (fun(row: integer): boolean)? which rows; all of them if not told
---@return table<string, hashline.Bunch> by the names of its hunks
function M.bunches(entries, line_count, is_meant)
  local by_hook, found = {}, {}
  for _, entry in ipairs(entries) do
    if entry.lines then
      local row, above = hook(entry, line_count)
      if not is_meant or is_meant(row) then
        local key = above and -row - 1 or row
        by_hook[key] = by_hook[key] or { row = row, above = above, entries = {} }
        table.insert(by_hook[key].entries, entry)
      end
    end
  end
  for _, bunch in pairs(by_hook) do
    local names = bunch.entries[1].name
    for i = 2, #bunch.entries do
      names = names .. " " .. bunch.entries[i].name
    end
    found[names] = bunch
  end
  return found
end

local SIGN_PRIORITY = 4096 -- Neovim's own for extmarks

--- Where two hunks have a sign for the same line, the one that says more of the line is seen.
---@param entry hashline.Entry
---@return { sign_text: string, sign_hl_group: string, priority: integer }
local function sign(entry)
  local text, group, priority = "-", "HashlineSignRemoved", SIGN_PRIORITY
  if entry.hunk.state == "conflicted" then
    text, group, priority = "!", "HashlineSignConflict", SIGN_PRIORITY + 1
  elseif entry.lines.start == entry.lines["end"] then
    text, group, priority = "_", "HashlineSignPlace", SIGN_PRIORITY - 1
  elseif hunks.in_text(entry.hunk) then
    text, group = "+", "HashlineSignAdded"
  end
  return { sign_text = text, sign_hl_group = group, priority = priority }
end

---@param buf integer
---@param mark hashline.Drawn
local function erase_signs(buf, mark)
  for _, id in ipairs(mark.signs) do
    vim.api.nvim_buf_del_extmark(buf, ns, id)
  end
end

---@param buf integer
---@param names string
local function erase(buf, names)
  local mark = drawn[buf][names]
  erase_signs(buf, mark)
  vim.api.nvim_buf_del_extmark(buf, ns, mark.id)
  drawn[buf][names] = nil
end

--- Erases marks that have one of these hunks in another bunch: lines that were deleted may have brought two bunches together.
---@param buf integer
---@param bunch hashline.Bunch
local function erase_former(buf, bunch)
  for names, mark in pairs(drawn[buf]) do
    for _, entry in ipairs(bunch.entries) do
      if mark.depth[entry.name] then
        erase(buf, names)
        break
      end
    end
  end
end

--- Who decides, if it is not the person here.
---@param document hashline.Document
---@return string?
local function decider(document)
  return document.read_only and (document.owner or "") or nil
end

--- What a hunk was drawn from. Not where it is: marks move along with the typing.
---@class hashline.DrawnHunk
---@field hunk hashline.Hunk
---@field height integer of its place in the text
---@field left integer how many hunks its file has
---@field agent string
---@field needs string?

--- Whether a hunk looks as it is drawn. Asked of all of them whenever a list comes, so nothing is made for it.
---@param drawn_from hashline.DrawnHunk
---@param entry hashline.Entry
---@param document hashline.Document
---@param is_seen boolean
---@return boolean
local function looks_drawn(drawn_from, entry, document, is_seen)
  return hunks.are_alike(drawn_from.hunk, entry.hunk)
    and drawn_from.height == entry.lines["end"] - entry.lines.start
    and (not is_seen or drawn_from.left == #document.entries)
    and drawn_from.agent == entry.edit.agent
    and drawn_from.needs == virtual.needs(entry, document)
end

---@param buf integer
---@param mark hashline.Drawn
---@param bunch hashline.Bunch
---@param document hashline.Document
---@param look hashline.Look
---@param is_seen boolean
---@return boolean
local function is_drawn(buf, mark, bunch, document, look, is_seen)
  if mark.look ~= look or mark.above ~= bunch.above or mark.decided_by ~= decider(document) then
    return false
  end
  for i, entry in ipairs(bunch.entries) do
    if not looks_drawn(mark.hunks[i], entry, document, is_seen) then
      return false
    end
  end
  return vim.api.nvim_buf_get_extmark_by_id(buf, ns, mark.id, {})[1] == bunch.row
end

--- Draws a bunch, unless it looks so already. How many hunks are left changes with each decision, in every heading: where nobody
--- sees it that is no reason to draw one anew.
---@param buf integer
---@param names string
---@param bunch hashline.Bunch
---@param document hashline.Document
---@param look hashline.Look
---@param is_seen boolean
---@return "size"|"look"|nil what changed
function M.draw(buf, names, bunch, document, look, is_seen)
  drawn[buf] = drawn[buf] or {}
  local mark = drawn[buf][names]
  if mark and is_drawn(buf, mark, bunch, document, look, is_seen) then
    return nil
  end
  if not mark then
    erase_former(buf, bunch)
  end
  local lines, depth, signs = {}, {}, {}
  for _, entry in ipairs(bunch.entries) do
    vim.list_extend(lines, virtual.lines(entry, document, look))
    depth[entry.name] = #lines
  end
  local stays = mark ~= nil
    and mark.size == #lines
    and mark.above == bunch.above
    and vim.api.nvim_buf_get_extmark_by_id(buf, ns, mark.id, {})[1] == bunch.row
  if stays then
    erase_signs(buf, mark)
  elseif mark then
    erase(buf, names)
  end
  local id = vim.api.nvim_buf_set_extmark(buf, ns, bunch.row, 0, {
    id = stays and mark.id or nil,
    virt_lines = lines,
    virt_lines_above = bunch.above,
    virt_lines_overflow = "scroll",
  })
  if config.get("signs") then
    local line_count = vim.api.nvim_buf_line_count(buf)
    for _, entry in ipairs(bunch.entries) do
      local from, to = entry.lines.start, math.min(entry.lines["end"], line_count)
      if from >= to then
        from, to = bunch.row, bunch.row + 1
      end
      for line = from, to - 1 do
        signs[#signs + 1] = vim.api.nvim_buf_set_extmark(buf, ns, line, 0, sign(entry))
      end
    end
  end
  drawn[buf][names] = {
    id = id,
    size = #lines,
    signs = signs,
    depth = depth,
    look = look,
    above = bunch.above,
    decided_by = decider(document),
    hunks = vim.tbl_map(function(entry)
      return {
        hunk = entry.hunk,
        height = entry.lines["end"] - entry.lines.start,
        left = #document.entries,
        agent = entry.edit.agent,
        needs = virtual.needs(entry, document),
      }
    end, bunch.entries),
  }
  return stays and "look" or "size"
end

--- Erases what is no longer wanted.
---@param buf integer
---@param wanted table<string, hashline.Bunch> by the names of its hunks
---@return boolean changed
function M.erase_others(buf, wanted)
  local changed = false
  for names in pairs(drawn[buf] or {}) do
    if not wanted[names] then
      erase(buf, names)
      changed = true
    end
  end
  return changed
end

--- Erases all of a buffer.
---@param buf integer
function M.clear(buf)
  drawn[buf] = nil
  if vim.api.nvim_buf_is_valid(buf) then
    vim.api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  end
end

--- How many screen lines the virtual lines at a hunk take, with those between it and its line.
---@param buf integer
---@param entry hashline.Entry
---@return integer
function M.height(buf, entry)
  for _, mark in pairs(drawn[buf] or {}) do
    if mark.depth[entry.name] then
      return mark.depth[entry.name]
    end
  end
  return 0
end

--- How many virtual lines stand above the first line of a buffer. They are part of no screen until the
--- window's `topfill` says so.
---@param buf integer
---@return integer
function M.above_first(buf)
  local count = 0
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, ns, { 0, 0 }, { 0, -1 }, { details = true })) do
    if mark[4].virt_lines and mark[4].virt_lines_above then
      count = count + #mark[4].virt_lines
    end
  end
  return count
end

return M
