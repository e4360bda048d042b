--- Going to the next and the previous hunk, and selecting one.
local hunks = require("hashline.hunks")
local render = require("hashline.render")
local state = require("hashline.state")

local M = {}

--- Says where one is, for those who do not see colours, too.
---@param entry hashline.PlacedEntry
---@param position integer
---@param total integer
local function announce(entry, position, total)
  local lines, hunk = entry.lines, entry.hunk
  local where
  if lines.start == lines["end"] then
    where = ("at line %d"):format(lines.start + 1)
  elseif lines["end"] - lines.start == 1 then
    where = ("line %d"):format(lines.start + 1)
  else
    where = ("lines %d to %d"):format(lines.start + 1, lines["end"])
  end
  local states =
    { held = "held", inText = "in the text", edited = "changed by you", conflicted = "conflicted" }
  local said = ("hunk %d of %d · %s · %s · %s · %s"):format(
    position,
    total,
    entry.edit.agent,
    where,
    hunks.size(hunk),
    states[hunk.state] or hunk.state
  )
  vim.api.nvim_echo({ { vim.fn.strcharpart(said, 0, math.max(vim.o.columns - 12, 10)) } }, false, {})
end

--- Scrolls as far as needed to show the virtual lines under the cursor's line.
---@param buf integer
---@param entry hashline.PlacedEntry
local function reveal(buf, entry)
  local win = vim.api.nvim_get_current_win()
  local height = vim.api.nvim_win_get_height(win)
  local rows_needed = math.min(render.height(buf, entry), height - 1)
  local lines = entry.lines
  if hunks.in_text(entry.hunk) or lines["end"] == 0 then
    return -- they are above
  end
  local missing = vim.fn.winline() + math.max(lines["end"] - lines.start - 1, 0) + rows_needed - height
  missing = math.min(missing, vim.fn.winline() - 1)
  if missing > 0 then
    vim.cmd.normal({ missing .. vim.keycode("<C-e>"), bang = true })
  end
end

--- The hunk that was gone to, as long as the cursor stays in its line.
---@type { buf: integer, row: integer, name: string }?
local gone_to

local group = vim.api.nvim_create_augroup("hashline.navigation", {})

---@param buf integer
---@param row integer
---@param entry hashline.Entry
local function remember(buf, row, entry)
  gone_to = { buf = buf, row = row, name = entry.name }
  vim.api.nvim_clear_autocmds({ group = group })
  vim.api.nvim_create_autocmd({ "CursorMoved", "CursorMovedI", "BufLeave" }, {
    group = group,
    buffer = buf,
    callback = function(event)
      if event.event == "BufLeave" or vim.api.nvim_win_get_cursor(0)[1] - 1 ~= row then
        gone_to = nil
        return true
      end
    end,
  })
end

--- The hunk that is meant where the cursor is: the one gone to, where hunks share a line, else that of the line.
---@param buf integer
---@param entries hashline.Entry[]
---@param row integer 0-based
---@return hashline.Entry?
function M.meant(buf, entries, row)
  if gone_to and gone_to.buf == buf and gone_to.row == row then
    for _, entry in ipairs(entries) do
      if entry.name == gone_to.name and entry.lines and hunks.row(entry.lines) == row then
        return entry
      end
    end
  end
  return hunks.at(entries, row)
end

--- Puts the cursor on a hunk of the current buffer.
---@param entry hashline.PlacedEntry
function M.settle_on(entry)
  local buf = vim.api.nvim_get_current_buf()
  local row = math.min(hunks.row(entry.lines), vim.api.nvim_buf_line_count(buf) - 1)
  local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ""
  vim.api.nvim_win_set_cursor(0, { row + 1, #(line:match("^%s*")) })
  remember(buf, row, entry)
  vim.cmd.normal({ "zv", bang = true })
  render.draw_around(buf, row)
  reveal(buf, entry)
end

--- The same as a jump, which |CTRL-O| takes back.
---@param entry hashline.PlacedEntry
function M.go(entry)
  vim.cmd.normal({ "m'", bang = true })
  M.settle_on(entry)
end

--- Goes count hunks on, or back if it is negative.
---@param count integer
function M.step(count)
  local buf = vim.api.nvim_get_current_buf()
  local document = state.of_buffer(buf)
  local entries = document and document.entries or {}
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local entry, position, total = hunks.following(entries, row, count, M.meant(buf, entries, row))
  if not entry then
    local elsewhere = #state.all()
    local more = elsewhere > 0 and "; :Hashline list shows those of other files" or ""
    vim.api.nvim_echo({ { "hashline: nothing to decide in this buffer" .. more } }, false, {})
    return
  end
  M.go(entry)
  announce(entry, position --[[@as integer]], total --[[@as integer]])
end

--- Selects the lines of the hunk at the cursor, as a text object.
function M.select()
  local buf = vim.api.nvim_get_current_buf()
  local document = state.of_buffer(buf)
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local entry = document and M.meant(buf, document.entries, row)
  local lines = entry and entry.lines
  if not lines or lines.start == lines["end"] then
    return
  end
  if vim.fn.mode():find("[vV\22]") then
    vim.cmd.normal({ vim.keycode("<Esc>"), bang = true })
  end
  local last = math.min(lines["end"], vim.api.nvim_buf_line_count(0))
  vim.api.nvim_win_set_cursor(0, { lines.start + 1, 0 })
  vim.cmd.normal({ "V", bang = true })
  vim.api.nvim_win_set_cursor(0, { last, 0 })
end

return M
