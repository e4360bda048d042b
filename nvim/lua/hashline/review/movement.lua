--- Going through the review, and what follows its cursor.
local keys = require("hashline.review.keys")
local navigation = require("hashline.navigation")
local state = require("hashline.state")
local virtual = require("hashline.virtual")

local M = {}

--- The hunk at the cursor in a file.
---@return string? name
function M.place_at_cursor()
  local buf = vim.api.nvim_get_current_buf()
  local document = state.of_buffer(buf)
  if document and #document.entries > 0 then
    local row = vim.api.nvim_win_get_cursor(0)[1] - 1
    return (navigation.meant(buf, document.entries, row) or document.entries[1]).name
  end
end

---@param block hashline.review.Block
---@return boolean
local function is_open(block)
  return block.item ~= nil and not block.item.outcome and not block.item.entry.hunk.deciding
end

---@param shown hashline.review.View
---@return hashline.review.Block
---@return integer index
local function current(shown)
  return shown.diffs:at(vim.api.nvim_win_get_cursor(shown.win)[1] - 1)
end

--- Puts the cursor on a block, and scrolls as far as needed to show all of it, with the line of its file if it is the first one below that.
---@param shown hashline.review.View
---@param index integer
local function settle(shown, index)
  local blocks = shown.diffs.blocks
  local block, before = blocks[index], blocks[index - 1]
  local first, last = block.row + 1, block.row + #block.lines
  if before and before.section == block.section and not before.item then
    first = before.row + 1
  end
  vim.api.nvim_win_call(shown.win, function()
    local height = vim.fn.getwininfo(shown.win)[1].height
    local top = vim.fn.winsaveview().topline
    if first < top then
      top = first
    elseif last > top + height - 1 then
      top = math.max(math.min(first, last - height + 1), 1)
    end
    vim.fn.winrestview({ lnum = block.row + 1, col = 0, topline = top })
  end)
end

--- Goes to what is `count` on in a list of blocks, around its end.
---@param shown hashline.review.View
---@param stops integer[] indexes of blocks
---@param passed integer how many of them come before the cursor, or with it where it goes on
---@param count integer
---@return boolean gone
local function go_on(shown, stops, passed, count)
  if #stops == 0 then
    return false
  end
  local at = count > 0 and passed + count or passed + 1 + count
  shown.leaving = false
  vim.api.nvim_set_current_win(shown.win)
  settle(shown, stops[(at - 1) % #stops + 1])
  return true
end

--- Goes to the next undecided hunk, or one before.
---@param shown hashline.review.View
---@param count integer
---@return boolean gone
function M.hunk(shown, count)
  local _, from = current(shown)
  local stops, passed = {}, 0
  for i, block in ipairs(shown.diffs.blocks) do
    if is_open(block) then
      stops[#stops + 1] = i
      passed = passed + ((i < from or (i == from and count > 0)) and 1 or 0)
    end
  end
  return go_on(shown, stops, passed, count)
end

--- Goes to the first undecided hunk of the next file that has one, or of one before.
---@param shown hashline.review.View
---@param count integer
---@return boolean gone
function M.file(shown, count)
  local here, from = current(shown)
  local stops, passed, last, start = {}, 0, nil, nil
  for i, block in ipairs(shown.diffs.blocks) do
    if block.section ~= last then
      last, start = block.section, i
    end
    local is_folded = shown.folded[block.section and block.section.id] and block.section.left > 0
    if start and (is_open(block) or is_folded) then
      stops[#stops + 1], start = i, nil
      local is_own = block.section == here.section
      passed = passed + ((is_own and count > 0 or not is_own and i < from) and 1 or 0)
    end
  end
  return go_on(shown, stops, passed, count)
end

--- Goes to one of some hunks, the first that is shown and can be decided; else to the first that is shown.
---@param shown hashline.review.View
---@param names string[]
---@param only_open boolean?
---@return boolean gone
function M.go_to(shown, names, only_open)
  local found ---@type integer?
  for i, block in ipairs(shown.diffs.blocks) do
    if block.item and vim.list_contains(names, block.item.name) then
      if is_open(block) then
        settle(shown, i)
        return true
      end
      found = found or not only_open and i or nil
    end
  end
  if found then
    settle(shown, found)
  end
  return found ~= nil
end

--- Goes to the first undecided hunk.
---@param shown hashline.review.View
function M.start(shown)
  for i, block in ipairs(shown.diffs.blocks) do
    if is_open(block) then
      return settle(shown, i)
    end
  end
end

--- Goes to the first undecided hunk of a file, or to its line.
---@param shown hashline.review.View
---@param section hashline.review.Section
function M.go_to_file(shown, section)
  local found ---@type integer?
  for i, block in ipairs(shown.diffs.blocks) do
    if block.section == section and (is_open(block) or not found) then
      found = i
      if is_open(block) then
        break
      end
    end
  end
  if found then
    vim.api.nvim_set_current_win(shown.win)
    settle(shown, found)
  end
end

--- Goes on from what the person decided, once that is decided.
---@param shown hashline.review.View
---@return boolean gone
function M.leave(shown)
  local here, from = current(shown)
  if here.item and is_open(here) or not here.item and here.section and here.section.left > 0 then
    return false
  end
  for i = from + 1, #shown.diffs.blocks do
    if is_open(shown.diffs.blocks[i]) then
      settle(shown, i)
      return true
    end
  end
  return true
end

local at ---@type string? the block that the cursor was on last

--- Notes that the person moved the cursor: it stays there, whatever is decided.
---@param shown hashline.review.View
function M.moved(shown)
  local block = current(shown)
  if block.id ~= at then
    at, shown.leaving = block.id, false
  end
end

--- Marks the file of the hunk at the cursor on the other side.
---@param shown hashline.review.View
function M.show_file(shown)
  local block = current(shown)
  local entry = block.section and shown.files.by_id[block.section.id]
  local is_elsewhere = vim.api.nvim_get_current_win() ~= shown.files_win
  if entry and is_elsewhere and vim.api.nvim_win_is_valid(shown.files_win) then
    vim.api.nvim_win_set_cursor(shown.files_win, { entry.row + 1, 0 })
  end
end

--- Shows the hunks of the file that the cursor is on, on its side.
---@param shown hashline.review.View
function M.show_hunks(shown)
  local entry = shown.files:at(vim.api.nvim_win_get_cursor(shown.files_win)[1] - 1)
  local block = shown.diffs.by_id[entry.id]
  if block and current(shown).section ~= block.section then
    vim.api.nvim_win_call(shown.win, function()
      vim.fn.winrestview({ lnum = block.row + 1, col = 0, topline = block.row + 1 })
    end)
    shown.diffs:paint_visible()
  end
end

local hint_ns = vim.api.nvim_create_namespace("hashline.review.hint")

--- Says at the hunk at the cursor what can be done about it.
---@param shown hashline.review.View
function M.show_hint(shown)
  local buf, block = shown.diffs.buf, current(shown)
  local item = block.item
  local hint = item and is_open(block) and "· " .. virtual.hint(item.entry, item.document, keys.for_hint)
  local heading = hint and vim.api.nvim_buf_get_lines(buf, block.row, block.row + 1, false)[1] or ""
  local room = vim.api.nvim_win_get_width(shown.win) - vim.fn.getwininfo(shown.win)[1].textoff
  -- Half of it would say nothing that the line at the bottom does not.
  if not hint or vim.api.nvim_strwidth(heading .. " " .. hint) > room then
    return vim.api.nvim_buf_clear_namespace(buf, hint_ns, 0, -1)
  end
  vim.api.nvim_buf_set_extmark(buf, hint_ns, block.row, 0, {
    id = 1,
    virt_text = { { hint, "HashlineHint" } },
    virt_text_pos = "eol",
    hl_mode = "combine",
  })
end

return M
