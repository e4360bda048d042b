--- A buffer that shows blocks of lines, one below the other, and is changed only where they change. A block is painted when it comes
--- into view. Cursor and scrolling stay with the block that they are at.
local M = {}

---@class hashline.review.Block
---@field id string
---@field lines string[]
---@field kinds string[] what each line is, by which it is painted
---@field item hashline.review.Item? the hunk that it shows
---@field section hashline.review.Section? the file that it belongs to
---@field row integer its first row, 0-based, once it is shown
---@field aside integer? bytes before what is only said aside in its line
---@field painted boolean?
---@field made_from hashline.review.MadeFrom? if it shows the lines of a hunk

---@class hashline.review.Canvas
---@field buf integer
---@field blocks hashline.review.Block[]
---@field by_id table<string, hashline.review.Block>
---@field ns integer
---@field paint fun(buf: integer, ns: integer, block: hashline.review.Block)
---@field drawn integer how many lines were put into the buffer so far
local Canvas = {}
Canvas.__index = Canvas

---@param name string
---@param paint fun(buf: integer, ns: integer, block: hashline.review.Block)
---@return hashline.review.Canvas
function M.new(name, paint)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].undolevels = -1
  vim.bo[buf].modifiable = false
  vim.bo[buf].filetype = "hashline"
  pcall(vim.api.nvim_buf_set_name, buf, "hashline://" .. name)
  local ns = vim.api.nvim_create_namespace("hashline." .. name)
  return setmetatable({ buf = buf, blocks = {}, by_id = {}, ns = ns, paint = paint, drawn = 0 }, Canvas)
end

--- Whether two blocks look the same.
---@param one hashline.review.Block
---@param other hashline.review.Block
---@return boolean
local function are_alike(one, other)
  if #one.lines ~= #other.lines then
    return false
  end
  for i, line in ipairs(one.lines) do
    if other.lines[i] ~= line or other.kinds[i] ~= one.kinds[i] then
      return false
    end
  end
  return true
end

--- A block that is shown already stands for one that looks the same.
---@param block hashline.review.Block
---@return hashline.review.Block
function Canvas:known(block)
  local shown = self.by_id[block.id]
  if shown and are_alike(shown, block) then
    shown.item, shown.section, shown.made_from = block.item, block.section, block.made_from
    return shown
  end
  return block
end

--- The block of a row.
---@param row integer 0-based
---@return hashline.review.Block
---@return integer index
function Canvas:at(row)
  local first, last = 1, #self.blocks
  while first < last do
    local middle = math.ceil((first + last) / 2)
    if self.blocks[middle].row <= row then
      first = middle
    else
      last = middle - 1
    end
  end
  return self.blocks[first], first
end

--- The hunks that lines are about: those in them, or all of their files.
---@param first integer 1-based
---@param last integer
---@param of_files boolean?
---@return hashline.review.Item[]
function Canvas:items(first, last, of_files)
  local found, seen = {}, {}
  for _, block in ipairs(self.blocks) do
    if block.row < last and block.row + #block.lines >= first then
      local all = of_files and block.section and block.section.items
      for _, item in ipairs(all or { block.item }) do
        found[#found + 1] = not seen[item.name] and item or nil
        seen[item.name] = true
      end
    end
  end
  return found
end

---@class hashline.review.Sight
---@field win integer
---@field cursor [string, integer] block and row in it
---@field top [string, integer]
---@field empty integer how many lines of the window were behind the last one

---@return hashline.review.Sight[]
function Canvas:views()
  local views = {}
  for _, win in ipairs(#self.blocks > 0 and vim.fn.win_findbuf(self.buf) or {}) do
    local function where(row)
      local block = self:at(row)
      return { block.id, row - block.row }
    end
    local info = vim.fn.getwininfo(win)[1]
    views[#views + 1] = {
      win = win,
      cursor = where(vim.api.nvim_win_get_cursor(win)[1] - 1),
      top = where(info.topline - 1),
      empty = math.max(info.topline + info.height - 1 - vim.api.nvim_buf_line_count(self.buf), 0),
    }
  end
  return views
end

--- Brings a window back to the blocks that it was at, as far as they are still there.
---@param view hashline.review.Sight
function Canvas:restore(view)
  local function row(place)
    local block = self.by_id[place[1]]
    return block and block.row + math.min(place[2], #block.lines - 1) + 1
  end
  local line, top = row(view.cursor), row(view.top)
  vim.api.nvim_win_call(view.win, function()
    -- No window comes to end with more empty lines than it did.
    local height = vim.fn.getwininfo(view.win)[1].height
    local lowest = math.max(vim.api.nvim_buf_line_count(self.buf) - height + 1 + view.empty, 1)
    top = top and math.min(top, lowest)
    local now = vim.fn.winsaveview()
    if (line and line ~= now.lnum) or (top and top ~= now.topline) then
      vim.fn.winrestview({ lnum = line, topline = top })
    end
  end)
end

---@class hashline.review.Run blocks of the old list that others take the place of: both from the first, up to the one before `beyond`
---@field first integer
---@field beyond integer
---@field new_first integer
---@field new_beyond integer

--- Where two lists of blocks differ.
---@param old hashline.review.Block[]
---@param new hashline.review.Block[]
---@return hashline.review.Run[]
local function differences(old, new)
  local position = {} ---@type table<hashline.review.Block, integer>
  for i, block in ipairs(old) do
    position[block] = i
  end
  local runs, at, from = {}, 1, 1
  for i = 1, #new + 1 do
    local there = new[i] and position[new[i]] or (i > #new and #old + 1 or nil)
    if there and there >= at then
      if there > at or i > from then
        runs[#runs + 1] = { first = at, beyond = there, new_first = from, new_beyond = i }
      end
      at, from = there + 1, i + 1
    end
  end
  return runs
end

--- The row behind all blocks.
---@param blocks hashline.review.Block[]
---@return integer
local function behind(blocks)
  local last = blocks[#blocks]
  return last and last.row + #last.lines or 0
end

--- Shows these blocks.
---@param blocks hashline.review.Block[] those that did not change are the same tables as before
---@return boolean changed
function Canvas:show(blocks)
  local old = self.blocks
  local runs = differences(old, blocks)
  if #runs == 0 then
    return false
  end
  local views, buf = self:views(), self.buf
  vim.bo[buf].modifiable = true
  for i = #runs, 1, -1 do
    local run, lines = runs[i], {}
    for at = run.new_first, run.new_beyond - 1 do
      blocks[at].painted = false
      vim.list_extend(lines, blocks[at].lines)
    end
    local first = old[run.first] and old[run.first].row or behind(old)
    local beyond = old[run.beyond] and old[run.beyond].row or #old == 0 and -1 or behind(old)
    vim.api.nvim_buf_clear_namespace(buf, self.ns, first, beyond)
    vim.api.nvim_buf_set_lines(buf, first, beyond, false, lines)
    self.drawn = self.drawn + #lines
  end
  vim.bo[buf].modifiable = false
  self.blocks, self.by_id = blocks, {}
  local row = 0
  for _, block in ipairs(blocks) do
    block.row, row = row, row + #block.lines
    self.by_id[block.id] = block
  end
  for _, view in ipairs(views) do
    self:restore(view)
  end
  return true
end

--- Paints what its windows show and is not painted yet.
function Canvas:paint_visible()
  for _, win in ipairs(#self.blocks > 0 and vim.fn.win_findbuf(self.buf) or {}) do
    local info = vim.fn.getwininfo(win)[1]
    local _, at = self:at(info.topline - 1)
    while self.blocks[at] and self.blocks[at].row < info.topline + info.height do
      local block = self.blocks[at]
      if not block.painted then
        block.painted = true
        self.paint(self.buf, self.ns, block)
      end
      at = at + 1
    end
  end
end

return M
