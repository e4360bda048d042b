--- A window below that shows lines of hunks and is not edited: what was rejected, what was done to a file.
local M = {}

---@class hashline.ScratchLine
---@field text string
---@field group string how it is highlighted
---@field about any? what the keys of its line are about

---@class hashline.Scratch
---@field buf integer
---@field hint string the keys, and what they do
---@field about table<integer, any> by line, 1-based

local ns = vim.api.nvim_create_namespace("hashline.scratch")

--- The lines of a hunk.
---@param hunk hashline.Hunk
---@param about any
---@return hashline.ScratchLine[]
function M.lines_of(hunk, about)
  local lines = {}
  for _, line in ipairs(hunk.removed) do
    lines[#lines + 1] = { text = "- " .. line, group = "HashlineRemoved", about = about }
  end
  for _, line in ipairs(hunk.proposed) do
    lines[#lines + 1] = { text = "+ " .. line, group = "HashlineAdded", about = about }
  end
  return lines
end

--- Shows other lines.
---@param scratch hashline.Scratch
---@param lines hashline.ScratchLine[]
function M.fill(scratch, lines)
  local buf = scratch.buf
  local texts = vim.tbl_map(function(line)
    return (line.text:gsub("\n", "\0")) -- a NUL of the text, as in a buffer
  end, lines)
  if not vim.deep_equal(texts, vim.api.nvim_buf_get_lines(buf, 0, -1, true)) then
    vim.bo[buf].modifiable = true
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, texts)
    vim.bo[buf].modifiable = false
  end
  vim.api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  scratch.about = {}
  for row, line in ipairs(lines) do
    scratch.about[row] = line.about
    vim.api.nvim_buf_set_extmark(
      buf,
      ns,
      row - 1,
      0,
      { end_row = row, end_col = 0, hl_group = line.group, hl_eol = true, strict = false }
    )
  end
end

--- Gives the window a title.
---@param scratch hashline.Scratch
---@param title string
function M.name(scratch, title)
  local shown = vim.fn.strtrans(title):gsub("%%", "%%%%")
  for _, win in ipairs(vim.fn.win_findbuf(scratch.buf)) do
    vim.wo[win][0].winbar = ("%%#HashlineHeader#%s %%<%%=%%#HashlineHint#%s "):format(shown, scratch.hint)
  end
end

--- Opens the window and goes to it.
---@param title string
---@param hint string the keys, and what they do
---@param lines hashline.ScratchLine[]
---@return hashline.Scratch
function M.open(title, hint, lines)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].filetype = "hashline"
  local scratch = { buf = buf, hint = hint, about = {} }
  M.fill(scratch, lines)
  local height = math.min(#lines + 1, math.floor(vim.o.lines / 2))
  vim.cmd(("botright %dsplit"):format(math.max(height, 2)))
  local win = vim.api.nvim_get_current_win()
  vim.wo[win].winfixbuf = false -- as a window that it was split from may have it
  vim.api.nvim_win_set_buf(win, buf)
  M.name(scratch, title)
  vim.wo[win][0].number, vim.wo[win][0].relativenumber = false, false
  M.map(scratch, "q", "close", "<Cmd>close<CR>")
  return scratch
end

---@param scratch hashline.Scratch
function M.close(scratch)
  for _, win in ipairs(vim.fn.win_findbuf(scratch.buf)) do
    pcall(vim.api.nvim_win_close, win, true) -- the last one of all cannot be closed
  end
end

---@param scratch hashline.Scratch
---@param lhs string
---@param words string what it does
---@param does string|fun()
---@param modes string[]? Normal mode, where nothing is said
function M.map(scratch, lhs, words, does, modes)
  local how = { buffer = scratch.buf, nowait = true, silent = true, desc = "hashline: " .. words }
  vim.keymap.set(modes or { "n" }, lhs, does, how)
end

--- What the line of the cursor is about.
---@param scratch hashline.Scratch
---@return any
function M.at_cursor(scratch)
  return scratch.about[vim.api.nvim_win_get_cursor(0)[1]]
end

return M
