--- Going to the next and the previous hunk, in this file and the others, and selecting one.
local hunks = require("hashline.hunks")
local list = require("hashline.list")
local marks = require("hashline.marks")
local render = require("hashline.render")
local screens = require("hashline.screens")
local state = require("hashline.state")

local M = {}

--- Says something in one line, which is not kept.
---@param said string
function M.echo(said)
  vim.api.nvim_echo(
    { { vim.fn.strcharpart(vim.fn.strtrans(said), 0, math.max(vim.v.echospace, 10)) } },
    false,
    {}
  )
end

--- Says where one is, for those who do not see colours, too.
---@param place hashline.Place
---@param left integer how many hunks its file has
---@param file string? that was gone to for it
local function announce(place, left, file)
  local lines, hunk = place.entry.lines, place.entry.hunk
  local parts = { file }
  if hunks.is_of_file(hunk) then
    vim.list_extend(parts, { place.entry.edit.agent, hunks.file_line(hunk, place.document.key) })
  else
    vim.list_extend(parts, { hunks.label(hunk, left), place.entry.edit.agent })
    parts[#parts + 1] = lines and hunks.where(lines)
    vim.list_extend(parts, { hunks.size(hunk), hunks.state_words(hunk) })
  end
  M.echo(table.concat(parts, " · "))
end

--- Scrolls as far as needed to show the virtual lines under the cursor's line.
---@param buf integer
---@param entry hashline.PlacedEntry
local function reveal(buf, entry)
  local win = vim.api.nvim_get_current_win()
  local height = vim.api.nvim_win_get_height(win)
  local rows_needed = math.min(marks.height(buf, entry), height - 1)
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
---@type { buf: integer, row: integer, name: string, arrives: boolean }?
local gone_to -- it arrives where its file was opened for it, until the sidecar has said where it is

local group = vim.api.nvim_create_augroup("hashline.navigation", {})

---@param buf integer
---@param row integer
---@param entry hashline.Entry
---@param arrives boolean?
local function remember(buf, row, entry, arrives)
  gone_to = { buf = buf, row = row, name = entry.name, arrives = arrives or false }
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
      if entry.name == gone_to.name and (not entry.lines or hunks.row(entry.lines) == row) then
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

--- Goes on to where the hunk is in the file that was opened for it, unless the person has gone elsewhere.
---@param document hashline.Document
local function arrive(document)
  local there = gone_to
  if not there or not there.arrives or document.buf ~= there.buf or not document.version then
    return
  end
  there.arrives = false
  for _, entry in ipairs(document.entries) do
    if entry.name == there.name and entry.lines then
      vim.schedule(function() -- it is drawn by then
        if gone_to == there and vim.api.nvim_get_current_buf() == there.buf and entry.lines then
          M.settle_on(entry --[[@as hashline.PlacedEntry]])
        end
      end)
    end
  end
end

--- Goes to a window in which files are edited, from one that shows something else: the list, help, a terminal.
local function go_to_files()
  local before = vim.fn.win_getid(vim.fn.winnr("#"))
  for _, win in ipairs({ vim.api.nvim_get_current_win(), before, unpack(vim.api.nvim_tabpage_list_wins(0)) }) do
    if vim.api.nvim_win_is_valid(win) and vim.bo[vim.api.nvim_win_get_buf(win)].buftype == "" then
      return vim.api.nvim_set_current_win(win)
    end
  end
  vim.cmd("aboveleft new")
end

local subscribed = false

--- Whether there is a file that a hunk can be gone to in. One that was removed, or is yet to be made, is none: an empty buffer under its
--- name would stand against it.
---@param place hashline.Place
---@return boolean
function M.has_file(place)
  local uri = place.document.uri
  return place.document.buf ~= nil
    or (vim.startswith(uri, "file:") and vim.uv.fs_stat(vim.uri_to_fname(uri)) ~= nil)
end

--- Goes to a hunk of whatever file, and opens that if need be. Where there is no such file, the list is the place to
--- decide.
---@param place hashline.Place
---@return boolean gone
function M.visit(place)
  local document, entry = place.document, place.entry
  if document.buf == vim.api.nvim_get_current_buf() and entry.lines then
    M.go(entry --[[@as hashline.PlacedEntry]])
    return true
  end
  local item = list.item(document, entry)
  if not M.has_file(place) then
    list.open(entry.name)
    return true
  end
  go_to_files()
  vim.cmd.normal({ "m'", bang = true })
  local mods = { keepjumps = true, silent = true } -- what Neovim says of the file would need "Press ENTER"
  local ok, failure
  if document.buf then
    ok, failure = pcall(vim.cmd.buffer, { document.buf, mods = mods })
  else
    ok, failure =
      pcall(vim.cmd.edit, { vim.fn.fnameescape(vim.fn.fnamemodify(item.filename, ":.")), mods = mods })
  end
  if not ok then
    vim.notify("hashline: " .. tostring(failure):gsub("^.-(E%d+:)", "%1"), vim.log.levels.ERROR)
    return false
  end
  local buf = vim.api.nvim_get_current_buf()
  if document.buf == buf and entry.lines then
    M.settle_on(entry --[[@as hashline.PlacedEntry]])
    return true
  end
  -- It was opened just now: the sidecar says soon where the hunk is, which is here or near.
  local row = math.min(item.lnum, vim.api.nvim_buf_line_count(buf)) - 1
  vim.api.nvim_win_set_cursor(0, { row + 1, 0 })
  remember(buf, row, entry, true)
  if not subscribed then
    subscribed = true
    state.subscribe(arrive)
  end
  return true
end

--- The undecided hunks that can be gone to, in the order of the list. One that has lost its place in an open file cannot. In a file that was just
--- opened places are not known yet.
---@return hashline.Place[]
local function stops()
  return vim.tbl_filter(function(place)
    return place.entry.lines ~= nil or not place.document.version
  end, state.places())
end

--- The position among all hunks to go to from the cursor, which may be beyond the first or the last.
---@param places hashline.Place[]
---@param count integer
---@param document hashline.Document? that the cursor is in
---@return integer
local function onward(places, count, document)
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  if list.is_here() then
    local listed = list.places(row + 1, row + 1)[1]
    for i, place in ipairs(places) do
      if listed and place.entry == listed.entry then
        return i + count
      end
    end
  end
  local buf = vim.api.nvim_get_current_buf()
  local name = vim.api.nvim_buf_get_name(buf)
  local key = document and document.key or name ~= "" and state.key(vim.uri_from_bufnr(buf)) or ""
  local own, before = {}, 0
  for _, place in ipairs(places) do
    if place.document == document then
      own[#own + 1] = place.entry
    elseif place.document.key < key then
      before = before + 1
    end
  end
  return before + hunks.onward(own, row, count, M.meant(buf, own, row))
end

--- Goes count hunks on, or back if it is negative: through this file, and on through the others in the order of the list.
---@param count integer
function M.step(count)
  local screen = screens.here()
  if screen and screen.step then
    return screen.step(count)
  end
  local places = stops()
  if #places == 0 or count == 0 then
    return M.echo("Nothing is left to review.")
  end
  local document = state.of_buffer(vim.api.nvim_get_current_buf())
  local index = (onward(places, count, document) - 1) % #places + 1
  local place = places[index]
  local first, last = index, index
  while first > 1 and places[first - 1].document == place.document do
    first = first - 1
  end
  while last < #places and places[last + 1].document == place.document do
    last = last + 1
  end
  if M.visit(place) then
    local file = place.document ~= document and vim.fs.basename(place.document.key) or nil
    announce(place, last - first + 1, file)
  end
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
