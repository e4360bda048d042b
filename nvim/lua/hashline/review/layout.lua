--- The blocks of the review: of agents and turns, files and hunks, on one side all of their lines and on the other a line for each file.
local model = require("hashline.review.model")
local text = require("hashline.review.text")

local M = {}

--- What the person has made of the screen, and which blocks stand for which files.
---@class hashline.review.Shown
---@field diffs hashline.review.Canvas
---@field files hashline.review.Canvas
---@field opened table<string, string> hunks of which all lines are shown, by name: as long as they stand so
---@field folded table<string, boolean> sections of which no hunks are shown, by id
---@field made table<string, table<string, hashline.review.Made>> blocks by document and section, until the document changes

---@class hashline.review.Made the blocks of a section
---@field diffs hashline.review.Block[]
---@field file hashline.review.Block its line among the files

---@param id string
---@param kind string
---@param line string
---@param section hashline.review.Section?
---@return hashline.review.Block
local function one_line(id, kind, line, section)
  return { id = id, lines = { line }, kinds = { kind }, row = 0, section = section }
end

--- How a hunk stands: once that is decided it is one line, whether it was opened or not.
---@param item hashline.review.Item
---@return string
function M.standing(item)
  return item.outcome or "undecided"
end

--- Whether all lines of a hunk are shown.
---@param shown hashline.review.Shown
---@param item hashline.review.Item
---@return boolean
function M.is_opened(shown, item)
  return shown.opened[item.name] == M.standing(item)
end

--- The line of a file, with its folder where it needs one.
---@param section hashline.review.Section
---@param kind string
---@param more string?
---@return hashline.review.Block
local function of_file(section, kind, more)
  local title, folder = text.file(section)
  local block = one_line(section.id, kind, title .. (more or ""), section)
  if folder ~= "" then
    block.aside = #block.lines[1]
    block.lines[1] = block.lines[1] .. "  " .. folder
  end
  return block
end

--- The blocks of a file and its hunks.
---@param shown hashline.review.Shown
---@param section hashline.review.Section
---@return hashline.review.Made
local function of_section(shown, section)
  local key = section.document.key
  shown.made[key] = shown.made[key] or {}
  local known = shown.made[key][section.id]
  if known then
    for _, block in ipairs(known.diffs) do
      block.section = section
    end
    known.file.section = section
    return known
  end
  local blocks = {}
  local function put(block)
    blocks[#blocks + 1] = shown.diffs:known(block)
  end
  if shown.folded[section.id] then
    put(of_file(section, "file", " · folded"))
  else
    put(of_file(section, "file"))
    local reader, from = text.reader(section.document), 0
    for i, item in ipairs(section.items) do
      local following = section.items[i + 1]
      local lines = following and following.entry.lines
      local to = lines and lines.start or math.huge
      local block
      block, from = text.hunk(item, reader, M.is_opened(shown, item), from, to, shown.diffs.by_id)
      put(block)
    end
  end
  put(one_line(section.id .. "\nend", "blank", "", section))
  local file = shown.files:known(of_file(section, section.left > 0 and "entry" or "done"))
  shown.made[key][section.id] = { diffs = blocks, file = file }
  return shown.made[key][section.id]
end

--- All blocks, on both sides.
---@param shown hashline.review.Shown
---@param groups hashline.review.Group[]
---@return hashline.review.Block[] diffs
---@return hashline.review.Block[] files
function M.blocks(shown, groups)
  local diffs, files, turns = {}, {}, {}
  for _, group in ipairs(groups) do
    turns[group.agent] = (turns[group.agent] or 0) + 1
    if #groups > 1 then
      local number = group.turn and turns[group.agent] or nil
      local id = group.id .. "\ngroup"
      local heading = text.group(group, number, model.count({ group }))
      diffs[#diffs + 1] =
        shown.diffs:known({ id = id, lines = { heading, "" }, kinds = { "group", "blank" }, row = 0 })
      files[#files + 1] = shown.files:known(one_line(id, "group", text.name(group, number)))
    end
    for _, section in ipairs(group.sections) do
      local made = of_section(shown, section)
      vim.list_extend(diffs, made.diffs)
      files[#files + 1] = made.file
    end
  end
  if #diffs == 0 then
    diffs = { shown.diffs:known(one_line("nothing", "nothing", "Nothing is left to review.")) }
    files = { shown.files:known(one_line("nothing", "blank", "")) }
  end
  return diffs, files
end

return M
