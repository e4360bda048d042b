--- Draws the undecided hunks in place.
---
--- Two ways, as Neovim draws virtual lines from lasting extmarks only (an ephemeral one is accepted and
--- not drawn: measured in 0.11.4 and 0.12.4, as is `line_hl_group`):
---   * the text that is not in the buffer, and signs: extmarks. When a list comes those on the screen are renewed at once, and
---     the others in pieces of time, so that no key waits for them;
---   * highlights of the lines that are: from a decoration provider, for the lines being drawn.
local colours = require("hashline.colours")
local hunks = require("hashline.hunks")
local hunk_keys = require("hashline.hunk_keys")
local marks = require("hashline.marks")
local state = require("hashline.state")
local syntax = require("hashline.syntax")
local words = require("hashline.word_diff")

local M = {}

local draw_ns = vim.api.nvim_create_namespace("hashline.draw")

--- The groups that are linked to others. Those of added and removed lines are made of the theme's colours.
M.highlights = {
  HashlineConflict = "DiffChange",
  HashlineHeader = "Title",
  HashlineHeaderConflict = "WarningMsg",
  HashlineHint = "Comment",
  HashlineSignAdded = "Added",
  HashlineSignRemoved = "Removed",
  HashlineSignPlace = "Changed",
  HashlineSignConflict = "WarningMsg",
}

local hidden = {} ---@type table<integer, integer> by buffer: how many comparisons of it are open
local looks = {} ---@type table<integer, hashline.Look> by buffer, as last drawn

--- How many columns a window has for text.
---@param win integer
---@return integer
local function room_of(win)
  local info = vim.fn.getwininfo(win)[1]
  return math.max(info.width - info.textoff, 12)
end

--- How the buffer is looked at: the same table as before, if it is so.
---@param buf integer
---@return hashline.Look
local function look_of(buf)
  local look = {
    width = vim.o.columns,
    room = vim.o.columns,
    height = 0,
    wraps = false,
    tabstop = vim.bo[buf].tabstop,
    painter = syntax.painter(buf),
    keys = hunk_keys.shown(buf),
  }
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    look.room = math.min(look.room, room_of(win))
    look.height = math.max(look.height, vim.api.nvim_win_get_height(win))
    look.wraps = look.wraps or vim.wo[win].wrap
  end
  if not vim.deep_equal(looks[buf], look) then
    looks[buf] = look
  end
  return looks[buf]
end

---@param win integer
local function show_above_first(win)
  local above = marks.above_first(vim.api.nvim_win_get_buf(win))
  if above > 0 then
    vim.api.nvim_win_call(win, function()
      local view = vim.fn.winsaveview()
      if view.topline == 1 and view.topfill ~= above then
        vim.fn.winrestview({ topfill = math.min(above, math.max(vim.api.nvim_win_get_height(win) - 2, 0)) })
      end
    end)
  end
end

local drawn_at = {} ---@type table<integer, integer> by window: the changedtick of its buffer when it was drawn last

--- Shows what was drawn. Neovim (0.11 and 0.12) shows lines twice, and others not at all, where virtual lines come and go, or others
--- take their place in the same redraw as a change of the text: it moves what it has on the screen instead of drawing it. So it is to
--- draw everything then, and what was drawn before the text changes again.
---@param buf integer
---@param came_or_went boolean whether virtual lines did
local function show_now(buf, came_or_went)
  local tick = vim.api.nvim_buf_get_changedtick(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    if vim.api.nvim__redraw then -- an experiment of Neovim's, which may go
      vim.api.nvim__redraw({ win = win, valid = not came_or_went and drawn_at[win] == tick, flush = true })
    end
  end
end

-- What Neovim says of a window may be older than the text by so many rows, as a rule.
local MARGIN = 5

--- Whether a row is on the screen in one of these windows, or nearly.
---@param windows { topline: integer, botline: integer }[]
---@param row integer 0-based
---@return boolean
local function is_in_view(windows, row)
  for _, info in ipairs(windows) do
    if info.topline - MARGIN <= row and row <= info.botline + MARGIN then
      return true
    end
  end
  return false
end

--- Which rows of a buffer are on the screen, or nearly, or will be.
---@param buf integer
---@param row integer? that will be
---@param look hashline.Look
---@return fun(row: integer): boolean
local function in_sight(buf, row, look)
  local windows = vim.tbl_map(function(win)
    return vim.fn.getwininfo(win)[1]
  end, vim.fn.win_findbuf(buf))
  if row then
    windows[#windows + 1] = { topline = row - look.height, botline = row + look.height }
  end
  return function(at)
    return is_in_view(windows, at)
  end
end

--- Draws hunks anew, and shows them.
---@param buf integer
---@param draw fun(): "size"|"look"|nil what may have changed on the screen
local function show(buf, draw)
  local above_before = marks.above_first(buf)
  local changed = draw()
  if changed then
    show_now(buf, changed == "size")
  end
  if marks.above_first(buf) ~= above_before then
    for _, win in ipairs(vim.fn.win_findbuf(buf)) do
      show_above_first(win)
    end
  end
end

-- What is out of sight is drawn in pieces of so many milliseconds, and after pauses that leave more time than they take.
local PIECE_MS, PAUSE_MS = 3, 8

local unfinished = {} ---@type table<integer, table<string, boolean>> by buffer: what was looked at already, by the names of its hunks

local scheduled = {} ---@type table<integer, boolean> by buffer: whether a piece will be drawn

local draw_piece ---@type fun(buf: integer)

---@param buf integer
local function schedule_piece(buf)
  if not scheduled[buf] then
    scheduled[buf] = true
    vim.defer_fn(function()
      scheduled[buf] = nil
      draw_piece(buf)
    end, PAUSE_MS)
  end
end

function draw_piece(buf)
  local looked_at = unfinished[buf]
  local document = vim.api.nvim_buf_is_loaded(buf) and not hidden[buf] and state.of_buffer(buf)
  if not looked_at or not document or document.buf ~= buf then
    unfinished[buf] = nil
    return
  end
  local look, till = look_of(buf), vim.uv.hrtime() + PIECE_MS * 1e6
  for names, bunch in pairs(marks.bunches(document.entries, vim.api.nvim_buf_line_count(buf))) do
    if not looked_at[names] then
      looked_at[names] = true
      marks.draw(buf, names, bunch, document, look, false)
      if vim.uv.hrtime() > till then
        return schedule_piece(buf)
      end
    end
  end
  unfinished[buf] = nil
end

--- Has all hunks of a buffer looked at in pieces, from the first on. What is put off names the buffer and not the list: a newer one
--- may have come meanwhile.
---@param buf integer
local function draw_later(buf)
  unfinished[buf] = {}
  schedule_piece(buf)
end

---@param document hashline.Document
---@return integer? buf where its hunks can be drawn
local function canvas_of(document)
  local buf = document.buf
  return buf and vim.api.nvim_buf_is_loaded(buf) and buf or nil
end

--- Draws a document's hunks anew, as far as they changed: what is on the screen now, the rest soon.
---@param document hashline.Document
function M.update(document)
  local buf = canvas_of(document)
  if not buf then
    return
  end
  show(buf, function()
    local look, line_count = look_of(buf), vim.api.nvim_buf_line_count(buf)
    local wanted = hidden[buf] and {} or marks.bunches(document.entries, line_count)
    local changed = marks.erase_others(buf, wanted) and "size" or nil ---@type "size"|"look"|nil
    local is_in_sight, is_all = in_sight(buf, nil, look), true
    for names, bunch in pairs(wanted) do
      if is_in_sight(bunch.row) then
        local what = marks.draw(buf, names, bunch, document, look, true)
        changed = changed == "size" and changed or what or changed
      else
        is_all = false
      end
    end
    if not is_all then
      draw_later(buf)
    end
    return changed
  end)
end

--- Draws the hunks that are on the screen, or nearly, if their turn did not come yet or they were drawn out of sight.
---@param document hashline.Document
---@param row integer? that will be on the screen
local function draw_in_sight(document, row)
  local buf = canvas_of(document)
  if not buf or hidden[buf] then
    return
  end
  show(buf, function()
    local look, changed = look_of(buf), nil ---@type hashline.Look, "size"|"look"|nil
    local line_count = vim.api.nvim_buf_line_count(buf)
    for names, bunch in pairs(marks.bunches(document.entries, line_count, in_sight(buf, row, look))) do
      local what = marks.draw(buf, names, bunch, document, look, true)
      changed = changed == "size" and changed or what or changed
    end
    return changed
  end)
end

--- Draws the hunks of a buffer anew.
---@param buf integer
local function update_buffer(buf)
  local document = state.of_buffer(buf)
  if document then
    M.update(document)
  end
end

--- Leaves a buffer undrawn for as long as it is compared: virtual lines would put two windows out of line.
---@param buf integer
---@param hide boolean
function M.hide(buf, hide)
  local count = (hidden[buf] or 0) + (hide and 1 or -1)
  hidden[buf] = count > 0 and count or nil
  update_buffer(buf)
end

---@param buf integer
function M.clear(buf)
  looks[buf], hidden[buf], unfinished[buf] = nil, nil, nil
  marks.clear(buf)
end

--- Draws what will be on the screen when the cursor is in a row.
---@param buf integer
---@param row integer 0-based
function M.draw_around(buf, row)
  local document = state.of_buffer(buf)
  if document then
    draw_in_sight(document, row)
  end
end

---@class hashline.Row
---@field group string
---@field spans hashline.Span[]?
---@field emphasis string?

local rows = {} ---@type table<integer, hashline.Row> of the window being drawn
local in_view = {} ---@type table<integer, integer> buffers by window, in this redraw

---@param buf integer
---@param document hashline.Document
---@param top integer
---@param bottom integer
local function collect(buf, document, top, bottom)
  rows = {}
  for _, entry in ipairs(document.entries) do
    local lines, hunk = entry.lines, entry.hunk
    if lines and lines.start <= bottom and lines["end"] > top then
      local in_text = hunks.in_text(hunk)
      local group = hunk.state == "conflicted" and "HashlineConflict"
        or in_text and "HashlineAdded"
        or "HashlineRemoved"
      local in_removed, in_proposed = words.of(entry)
      local texts = in_text and hunk.proposed or hunk.removed
      local spans = in_text and in_proposed or in_removed
      for row = math.max(lines.start, top), math.min(lines["end"] - 1, bottom) do
        local index = row - lines.start + 1
        local same = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] == texts[index]
        rows[row] = { group = group, spans = same and spans[index] or nil, emphasis = group .. "Word" }
      end
    end
  end
  return next(rows) ~= nil
end

---@param buf integer
---@param row integer
local function draw_row(buf, row)
  local found = rows[row]
  if not found then
    return
  end
  vim.api.nvim_buf_set_extmark(buf, draw_ns, row, 0, {
    ephemeral = true,
    end_row = row + 1,
    end_col = 0,
    hl_group = found.group,
    hl_eol = true,
    priority = 120,
    strict = false,
  })
  for _, span in ipairs(found.spans or {}) do
    vim.api.nvim_buf_set_extmark(buf, draw_ns, row, span[1], {
      ephemeral = true,
      end_col = span[2],
      hl_group = found.emphasis,
      priority = 121,
      strict = false,
    })
  end
end

local function define_highlights()
  for name, link in pairs(M.highlights) do
    vim.api.nvim_set_hl(0, name, { link = link, default = true })
  end
  colours.define()
end

local function update_all()
  for _, document in ipairs(state.all()) do
    M.update(document)
  end
end

--- Once, when the first buffer is brought to the sidecar.
function M.start()
  define_highlights()
  local group = vim.api.nvim_create_augroup("hashline.render", {})
  vim.api.nvim_create_autocmd("ColorScheme", { group = group, callback = define_highlights })
  vim.api.nvim_create_autocmd("OptionSet", {
    group = group,
    pattern = "background",
    callback = vim.schedule_wrap(define_highlights), -- Neovim changes its own colours afterwards
  })
  vim.api.nvim_create_autocmd(
    { "VimResized", "WinResized", "BufWinEnter" },
    { group = group, callback = update_all }
  )
  vim.api.nvim_create_autocmd("OptionSet", {
    group = group,
    pattern = { "wrap", "tabstop", "number", "relativenumber", "signcolumn", "foldcolumn", "numberwidth" },
    callback = function()
      vim.schedule(update_all)
    end,
  })
  vim.api.nvim_create_autocmd("WinScrolled", {
    group = group,
    callback = function()
      for win, moved in pairs(vim.v.event) do
        -- Come back to the top: show again what stands above the first line. Scrolling it away by hand
        -- changes topfill only, and is left alone.
        local id = math.floor(tonumber(win) or 0) -- "all" is none
        if id ~= 0 and moved.topline ~= 0 and vim.api.nvim_win_is_valid(id) then
          local document = state.of_buffer(vim.api.nvim_win_get_buf(id))
          if document then
            draw_in_sight(document)
          end
          show_above_first(id)
        end
      end
    end,
  })
  vim.api.nvim_set_decoration_provider(draw_ns, {
    on_win = function(_, win, buf, top, bottom)
      local document = state.of_buffer(buf)
      if not document or #document.entries == 0 or hidden[buf] then
        return false
      end
      in_view[win] = buf
      drawn_at[win] = vim.api.nvim_buf_get_changedtick(buf)
      return collect(buf, document, top, bottom)
    end,
    on_line = function(_, _, buf, row)
      draw_row(buf, row)
    end,
    -- The first sign opens the sign column, which is known only now: there is less room for the text.
    on_end = function()
      for win, buf in pairs(in_view) do
        local look = looks[buf]
        if look and vim.api.nvim_win_is_valid(win) and room_of(win) < look.room then
          vim.schedule(function()
            update_buffer(buf)
          end)
        end
      end
      in_view = {}
    end,
  })
  state.subscribe(function(document)
    M.update(document)
  end)
  state.follow(update_buffer)
end

return M
