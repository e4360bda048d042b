--- Draws the undecided hunks in place.
---
--- Two ways, as Neovim draws virtual lines from lasting extmarks only (an ephemeral one is accepted and
--- not drawn: measured in 0.11.4 and 0.12.4, as is `line_hl_group`):
---   * the text that is not in the buffer, and signs: extmarks, renewed when a list comes;
---   * highlights of the lines that are: from a decoration provider, for the lines being drawn.
local colours = require("hashline.colours")
local config = require("hashline.config")
local hunks = require("hashline.hunks")
local keys = require("hashline.keys")
local state = require("hashline.state")
local syntax = require("hashline.syntax")
local virtual = require("hashline.virtual")
local words = require("hashline.word_diff")

local M = {}

local marks_ns = vim.api.nvim_create_namespace("hashline")
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

--- Hunks whose virtual lines hang on the same side of the same line.
---@class hashline.Bunch
---@field row integer
---@field above boolean
---@field entries hashline.Entry[] ordered as the text is

---@class hashline.Drawn
---@field id integer extmark
---@field signs integer[] extmarks
---@field look hashline.Look what it was made for
---@field above boolean
---@field decided_by string?
---@field hunks hashline.DrawnHunk[]
---@field depth table<string, integer> by hunk name: its last virtual line among those of its bunch

local hidden = {} ---@type table<integer, integer> by buffer: how many comparisons of it are open
local drawn = {} ---@type table<integer, table<string, hashline.Drawn>> by buffer and names of the hunks

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
    keys = keys.shown(buf),
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
---@return table<string, hashline.Bunch> by the names of its hunks
local function bunches(entries, line_count)
  local by_hook, found = {}, {}
  for _, entry in ipairs(entries) do
    if entry.lines then
      local row, above = hook(entry, line_count)
      local key = above and -row - 1 or row
      if not by_hook[key] then
        by_hook[key] = { row = row, above = above, entries = {} }
      end
      table.insert(by_hook[key].entries, entry)
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
---@param names string
local function erase(buf, names)
  local mark = drawn[buf][names]
  for _, id in ipairs(mark.signs) do
    vim.api.nvim_buf_del_extmark(buf, marks_ns, id)
  end
  vim.api.nvim_buf_del_extmark(buf, marks_ns, mark.id)
  drawn[buf][names] = nil
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

---@param one any[]?
---@param other any[]?
---@return boolean
local function are_equal(one, other)
  one, other = one or {}, other or {}
  for i = 1, math.max(#one, #other) do
    if one[i] ~= other[i] then
      return false
    end
  end
  return true
end

--- Whether a hunk looks as it is drawn. Asked of all of them whenever a list comes, so nothing is made for it.
---@param drawn_from hashline.DrawnHunk
---@param entry hashline.Entry
---@param document hashline.Document
---@return boolean
local function looks_drawn(drawn_from, entry, document)
  local old, new = drawn_from.hunk, entry.hunk
  return old.state == new.state
    and old.deciding == new.deciding
    and old.conflict == new.conflict
    and old.file == new.file
    and are_equal(old.proposed, new.proposed)
    and are_equal(old.removed, new.removed)
    and are_equal(old.ways, new.ways)
    and drawn_from.height == entry.lines["end"] - entry.lines.start
    and drawn_from.left == #document.entries
    and drawn_from.agent == entry.edit.agent
    and drawn_from.needs == virtual.needs(entry, document)
end

---@param buf integer
---@param mark hashline.Drawn
---@param bunch hashline.Bunch
---@param document hashline.Document
---@param look hashline.Look
---@return boolean
local function is_drawn(buf, mark, bunch, document, look)
  if mark.look ~= look or mark.above ~= bunch.above or mark.decided_by ~= decider(document) then
    return false
  end
  for i, entry in ipairs(bunch.entries) do
    if not looks_drawn(mark.hunks[i], entry, document) then
      return false
    end
  end
  return vim.api.nvim_buf_get_extmark_by_id(buf, marks_ns, mark.id, {})[1] == bunch.row
end

---@param buf integer
---@param names string
---@param bunch hashline.Bunch
---@param document hashline.Document
---@param look hashline.Look
---@return boolean changed
local function draw(buf, names, bunch, document, look)
  local mark = drawn[buf][names]
  if mark and is_drawn(buf, mark, bunch, document, look) then
    return false
  elseif mark then
    erase(buf, names)
  end
  local lines, depth, signs = {}, {}, {}
  for _, entry in ipairs(bunch.entries) do
    vim.list_extend(lines, virtual.lines(entry, document, look))
    depth[entry.name] = #lines
  end
  local id = vim.api.nvim_buf_set_extmark(buf, marks_ns, bunch.row, 0, {
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
        signs[#signs + 1] = vim.api.nvim_buf_set_extmark(buf, marks_ns, line, 0, sign(entry))
      end
    end
  end
  drawn[buf][names] = {
    id = id,
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
  return true
end

--- How many virtual lines stand above the first line of a buffer. They are part of no screen until the
--- window's `topfill` says so.
---@param buf integer
---@return integer
local function lines_above_first(buf)
  local count = 0
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, marks_ns, { 0, 0 }, { 0, -1 }, { details = true })) do
    if mark[4].virt_lines and mark[4].virt_lines_above then
      count = count + #mark[4].virt_lines
    end
  end
  return count
end

---@param win integer
local function show_above_first(win)
  local above = lines_above_first(vim.api.nvim_win_get_buf(win))
  if above > 0 then
    vim.api.nvim_win_call(win, function()
      local view = vim.fn.winsaveview()
      if view.topline == 1 and view.topfill ~= above then
        vim.fn.winrestview({ topfill = math.min(above, math.max(vim.api.nvim_win_get_height(win) - 2, 0)) })
      end
    end)
  end
end

--- Neovim (0.11 and 0.12) shows lines twice, and others not at all, where virtual lines come and go in the same redraw
--- as a change of the text: it moves what it has on the screen instead of drawing it. So it is to draw everything.
---@param buf integer
local function draw_all_of(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    if vim.api.nvim__redraw then -- an experiment of Neovim's, which may go
      vim.api.nvim__redraw({ win = win, valid = false })
    end
  end
end

--- Whether a row is on the screen in one of these windows, or nearly.
---@param windows { topline: integer, botline: integer, height: integer }[]
---@param row integer 0-based
---@return boolean
local function is_in_view(windows, row)
  for _, info in ipairs(windows) do
    if info.topline - info.height <= row and row <= info.botline + info.height then
      return true
    end
  end
  return false
end

-- What is out of sight is drawn in pieces of so many milliseconds, so that no key waits for it.
local PIECE_MS = 5

local unfinished = {} ---@type table<integer, boolean> by buffer

--- Draws the hunks of a buffer anew. What is put off names the buffer and not the list: a newer one may have come meanwhile, and
--- what that has more of would be erased.
---@param buf integer
local function update_buffer(buf)
  local document = state.of_buffer(buf)
  if document then
    M.update(document)
  end
end

--- Goes on with what is left to draw.
---@param buf integer
local function finish_later(buf)
  if unfinished[buf] then
    return
  end
  unfinished[buf] = true
  vim.defer_fn(function()
    unfinished[buf] = nil
    update_buffer(buf)
  end, PIECE_MS)
end

--- Draws a document's hunks anew, as far as they changed.
---@param document hashline.Document
---@param row integer? that will be on the screen
function M.update(document, row)
  local buf = document.buf
  if not buf or not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  drawn[buf] = drawn[buf] or {}
  local above_before = lines_above_first(buf)
  local look = look_of(buf)
  local changed, out_of_sight = false, {}
  local windows = vim.tbl_map(function(win)
    return vim.fn.getwininfo(win)[1]
  end, vim.fn.win_findbuf(buf))
  if row then
    windows[#windows + 1] = { topline = row, botline = row, height = look.height }
  end
  local wanted = hidden[buf] and {} or bunches(document.entries, vim.api.nvim_buf_line_count(buf))
  for names, bunch in pairs(wanted) do
    if is_in_view(windows, bunch.row) then
      changed = draw(buf, names, bunch, document, look) or changed
    else
      out_of_sight[names] = bunch
    end
  end
  for names in pairs(drawn[buf]) do
    if not wanted[names] then
      erase(buf, names)
      changed = true
    end
  end
  local till = vim.uv.hrtime() + PIECE_MS * 1e6
  for names, bunch in pairs(out_of_sight) do
    if draw(buf, names, bunch, document, look) and vim.uv.hrtime() > till then
      finish_later(buf)
      break
    end
  end
  if changed then
    draw_all_of(buf)
  end
  if lines_above_first(buf) ~= above_before then
    for _, win in ipairs(vim.fn.win_findbuf(buf)) do
      show_above_first(win)
    end
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
  drawn[buf], looks[buf], hidden[buf] = nil, nil, nil
  if vim.api.nvim_buf_is_valid(buf) then
    vim.api.nvim_buf_clear_namespace(buf, marks_ns, 0, -1)
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

--- Draws what will be on the screen when the cursor is in a row, if it was out of sight and its turn did not come yet.
---@param buf integer
---@param row integer 0-based
function M.draw_around(buf, row)
  local document = unfinished[buf] and state.of_buffer(buf)
  if document then
    M.update(document, row)
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
