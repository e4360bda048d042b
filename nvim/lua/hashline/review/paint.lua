--- The colours of the review: those of the hunks in the text, with the syntax of their files.
local hunks = require("hashline.hunks")
local syntax = require("hashline.syntax")
local text = require("hashline.review.text")
local words = require("hashline.word_diff")

local M = {}

--- The groups of whole lines by their kinds. What has a prefix is text of a file.
local BEHIND = { removed = "HashlineRemoved", added = "HashlineAdded", conflicting = "HashlineConflict" }
local IN_FRONT = {
  group = "HashlineHeader",
  file = "HashlineHeader",
  heading = "HashlineHeader",
  conflict = "HashlineHeaderConflict",
  decided = "HashlineHint",
  done = "HashlineHint",
  more = "HashlineHint",
  nothing = "HashlineHint",
}
--- Those whose line has a background of its own, from side to side.
local BANDS = { file = "CursorLine" }

local PREFIX = 2 -- bytes of each

---@param document hashline.Document
---@return hashline.Painter?
local function painter_of(document)
  if document.buf and vim.api.nvim_buf_is_loaded(document.buf) then
    return syntax.painter(document.buf)
  end
  return syntax.painter_of_file(document.key)
end

--- The lines of a block that are text of one side: what goes, or what is there and comes.
---@param block hashline.review.Block
---@param is_old boolean
---@return integer[] rows in the block, 1-based
---@return string[] lines
local function side(block, is_old)
  local rows, lines = {}, {}
  for i, kind in ipairs(block.kinds) do
    if text.prefixes[kind] and (kind == "removed") == is_old then
      rows[#rows + 1], lines[#lines + 1] = i, block.lines[i]:sub(PREFIX + 1)
    end
  end
  return rows, lines
end

---@param buf integer
---@param ns integer
---@param row integer
---@param from integer
---@param to integer
---@param group string
---@param priority integer
local function colour(buf, ns, row, from, to, group, priority)
  vim.api.nvim_buf_set_extmark(buf, ns, row, from, {
    end_col = to,
    hl_group = group,
    priority = priority,
    strict = false,
  })
end

--- Paints what differs inside the lines of a hunk, where they are those that it was compared with.
---@param buf integer
---@param ns integer
---@param block hashline.review.Block
---@param kind "removed"|"added"
---@param lines string[] of the hunk
---@param spans table<integer, hashline.Span[]>
local function paint_words(buf, ns, block, kind, lines, spans)
  local at = 0
  for i, found in ipairs(block.kinds) do
    if found == kind then
      at = at + 1
      local is_same = block.lines[i]:sub(PREFIX + 1) == lines[at]
      for _, span in ipairs(is_same and spans[at] or {}) do
        local row = block.row + i - 1
        colour(buf, ns, row, span[1] + PREFIX, span[2] + PREFIX, BEHIND[kind] .. "Word", 121)
      end
    end
  end
end

---@param buf integer
---@param ns integer
---@param block hashline.review.Block
---@param entry hashline.Entry
local function paint_text(buf, ns, block, entry)
  local in_removed, in_proposed = words.of(entry)
  paint_words(buf, ns, block, "removed", entry.hunk.removed, in_removed)
  paint_words(buf, ns, block, "added", entry.hunk.proposed, in_proposed)
  local painter = painter_of(block.item.document)
  for _, is_old in ipairs(painter and { true, false } or {}) do
    local rows, lines = side(block, is_old)
    local painted = #lines > 0 and syntax.of(lines, painter --[[@as hashline.Painter]]) or {}
    for i, row in ipairs(rows) do
      for _, part in ipairs(painted[i] or {}) do
        colour(buf, ns, block.row + row - 1, part[1] + PREFIX, part[2] + PREFIX, part[3], 122)
      end
    end
  end
end

--- Paints a block that has come into view.
---@param buf integer
---@param ns integer
---@param block hashline.review.Block
function M.block(buf, ns, block)
  for i, kind in ipairs(block.kinds) do
    local row = block.row + i - 1
    local behind, front = BEHIND[kind], IN_FRONT[kind]
    if behind then
      vim.api.nvim_buf_set_extmark(buf, ns, row, 0, {
        end_row = row + 1,
        end_col = 0,
        hl_group = behind,
        hl_eol = true,
        priority = 120,
        strict = false,
      })
    elseif front then
      colour(buf, ns, row, 0, #block.lines[i], front, 120)
    end
    if block.aside then
      colour(buf, ns, row, block.aside, #block.lines[i], "HashlineHint", 121)
    end
    if BANDS[kind] then
      vim.api.nvim_buf_set_extmark(buf, ns, row, 0, { line_hl_group = BANDS[kind] })
    end
  end
  local item = block.item
  if item and not item.outcome and not hunks.is_of_file(item.entry.hunk) then
    paint_text(buf, ns, block, item.entry)
  end
end

return M
