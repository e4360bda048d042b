--- What agents did to a file, whatever was decided about it: in a window below, the newest first. Any hunk goes in or out from it.
local client = require("hashline.client")
local hunks = require("hashline.hunks")
local navigation = require("hashline.navigation")
local protocol = require("hashline.protocol")
local scratch = require("hashline.scratch")
local screens = require("hashline.screens")
local state = require("hashline.state")

local M = {}

M.nothing = "Nothing to decide on this line."

--- What is shown, and of which file.
---@class hashline.HistoryView
---@field window hashline.Scratch
---@field document hashline.Document with all edits, decided ones too
---@field opened table<string, boolean> hunks of which the lines are shown, by name
---@field is_asked boolean its history is asked for
---@field is_due boolean it has changed since that, or could not be shown

local view ---@type hashline.HistoryView?

--- When an edit was made, as short as can be.
---@param edit hashline.Edit
---@return string?
local function time(edit)
  if not edit.made then
    return nil
  end
  local at = math.floor(edit.made / 1000)
  local is_today = os.date("%Y-%m-%d", at) == os.date("%Y-%m-%d")
  return os.date(is_today and "%H:%M" or "%Y-%m-%d %H:%M", at) --[[@as string]]
end

--- How a hunk stands, and what was decided about it.
---@param hunk hashline.Hunk
---@return string
local function standing(hunk)
  if hunk.deciding or hunk.state == "withdrawn" or hunks.in_text(hunk) or hunk.decision == "undecided" then
    return hunks.state_words(hunk)
  end
  return hunk.decision == "accepted" and "accepted, not in the text" or hunk.decision
end

--- What is in the text reads as text, what is to be decided stands out.
---@param hunk hashline.Hunk
---@return string
local function group_of(hunk)
  if hunk.decision == "undecided" and hunk.state ~= "withdrawn" then
    return hunk.state == "conflicted" and "HashlineHeaderConflict" or "HashlineSignPlace"
  end
  return hunks.in_text(hunk) and "Normal" or "HashlineHint"
end

---@param text string
---@param group string
---@param about any
---@return hashline.ScratchLine
local function line(text, group, about)
  return { text = vim.fn.strtrans(text), group = group, about = about }
end

---@param edit hashline.Edit
---@return hashline.ScratchLine
local function heading(edit)
  local parts = { time(edit) }
  vim.list_extend(parts, { edit.agent, edit.tool, hunks.reason(edit) })
  return line(table.concat(parts, " · "), "HashlineHeader")
end

--- A hunk as one line, and below it its lines if they were asked for.
---@param document hashline.Document
---@param entry hashline.Entry
---@param is_opened boolean
---@return hashline.ScratchLine[]
local function lines_of(document, entry, is_opened)
  local hunk = entry.hunk
  if hunk.partOf then
    local with = hunk.partOf:gsub("^(%x%x%x%x%x%x%x%x)[^:]*", "%1")
    return { line(("  #%d · decided with %s"):format(hunk.number, with), "HashlineHint") }
  end
  local parts
  if hunks.is_of_file(hunk) then
    parts = { (hunks.file_words(hunk, document.key)) }
  else
    parts = { "#" .. hunk.number }
    parts[#parts + 1] = entry.lines and hunks.where(entry.lines)
    parts[#parts + 1] = hunks.size(hunk)
  end
  parts[#parts + 1] = standing(hunk)
  parts[#parts + 1] = hunks.told(hunk)
  if not is_opened then
    parts[#parts + 1] = hunks.sample(hunk)
  end
  local lines = { line("  " .. table.concat(parts, " · "), group_of(hunk), entry) }
  return is_opened and vim.list_extend(lines, scratch.lines_of(hunk, entry)) or lines
end

--- The hunks of an edit.
---@param edit hashline.Edit
---@return hashline.Entry[]
local function entries_of(edit)
  return vim.tbl_map(function(hunk)
    return { name = edit.id .. ":" .. hunk.number, edit = edit, hunk = hunk, lines = hunk.lines }
  end, edit.hunks)
end

---@param document hashline.Document
---@param opened table<string, boolean>
---@return hashline.ScratchLine[]
local function all_lines(document, opened)
  local lines = {}
  for at = #document.edits, 1, -1 do
    local edit = document.edits[at]
    lines[#lines + 1] = heading(edit)
    for _, entry in ipairs(entries_of(edit)) do
      vim.list_extend(lines, lines_of(document, entry, opened[entry.name] or false))
    end
  end
  return lines
end

--- Where the cursor of a window is: at which hunk, and how far below its first line.
---@param window hashline.Scratch
---@param win integer
---@return { name: string, below: integer }?
local function spot_of(window, win)
  local row = vim.api.nvim_win_get_cursor(win)[1]
  local entry = window.about[row] --[[@as hashline.Entry?]]
  if not entry then
    return nil
  end
  local below = 0
  while window.about[row - below - 1] == entry do
    below = below + 1
  end
  return { name = entry.name, below = below }
end

--- Shows the lines as they are to be now. Each cursor stays on its line of its hunk.
---@param shown hashline.HistoryView
local function fill(shown)
  local window = shown.window
  local spots = {}
  for _, win in ipairs(vim.fn.win_findbuf(window.buf)) do
    spots[win] = spot_of(window, win)
  end
  scratch.fill(window, all_lines(shown.document, shown.opened))
  for win, spot in pairs(spots) do
    for row = 1, vim.api.nvim_buf_line_count(window.buf) do
      local entry = window.about[row] --[[@as hashline.Entry?]]
      if entry and entry.name == spot.name then
        local below = window.about[row + spot.below] == entry and spot.below or 0
        vim.api.nvim_win_set_cursor(win, { row + below, 0 })
        break
      end
    end
  end
end

---@param document hashline.Document
---@return string
local function title_of(document)
  return vim.fs.basename(document.key) .. " · history"
end

--- Asks for what was done to a file.
---@param buf integer
---@param sidecar vim.lsp.Client
---@param on_answer fun(failure: table?, document: hashline.Document?)
local function ask(buf, sidecar, on_answer)
  local uri = vim.uri_from_bufnr(buf)
  protocol.ask(sidecar, "hashline/history", { uri = uri }, function(failure, result)
    if failure then
      return on_answer(failure)
    end
    on_answer(nil, {
      uri = uri,
      key = state.key(uri),
      version = result.version,
      owner = result.owner,
      read_only = result.readOnly == true,
      edits = result.edits,
      entries = hunks.entries(result.edits),
      client_id = sidecar.id,
      buf = buf,
    })
  end, buf)
end

---@param shown hashline.HistoryView
---@return boolean
local function is_shown(shown)
  return view == shown and vim.api.nvim_buf_is_valid(shown.window.buf)
end

--- Whether the window may change now. Selected lines are to stay what they are, and what nobody sees is looked at when somebody does.
---@param shown hashline.HistoryView
---@return boolean
local function may_change(shown)
  local is_selecting = M.is_here() and vim.api.nvim_get_mode().mode:find("^[vV\22]") ~= nil
  return not is_selecting and vim.fn.bufwinid(shown.window.buf) ~= -1
end

--- Brings the window to what the sidecar knows now.
---@param shown hashline.HistoryView
local function renew(shown)
  local buf = shown.document.buf --[[@as integer]]
  local sidecar = vim.api.nvim_buf_is_valid(buf) and client.of_buffer(buf) or nil
  shown.is_due = true
  if shown.is_asked or not sidecar or not may_change(shown) then
    return
  end
  shown.is_asked, shown.is_due = true, false
  ask(buf, sidecar, function(_, document)
    shown.is_asked = false
    if not is_shown(shown) then
      return
    elseif not document then
      shown.is_due = false -- until something changes
      scratch.name(shown.window, title_of(shown.document) .. " · not up to date")
      return
    elseif may_change(shown) then
      shown.document = document
      fill(shown)
      scratch.name(shown.window, title_of(document))
    else
      shown.is_due = true
    end
    if shown.is_due then
      renew(shown)
    end
  end)
end

local follows = false

--- Follows what becomes of the hunks: a list comes after the next change.
local function follow()
  if follows then
    return
  end
  follows = true
  screens.add(M)
  state.subscribe(function(document)
    local is_of_it = view and (document.key == view.document.key or document.buf == view.document.buf)
    if view and is_of_it and is_shown(view) then
      renew(view)
    end
  end)
  local group = vim.api.nvim_create_augroup("hashline.history", {})
  vim.api.nvim_create_autocmd("LspAttach", {
    group = group,
    desc = "hashline: the history of a file that is opened again, or has another sidecar",
    callback = function(event)
      local sidecar = client.of_buffer(event.buf)
      local is_ours = sidecar ~= nil and sidecar.id == event.data.client_id
      if view and is_ours and state.key(vim.uri_from_bufnr(event.buf)) == view.document.key then
        view.document.buf = event.buf
        view.is_asked = false -- a sidecar that has ended answers nothing
        renew(view)
      end
    end,
  })
  vim.api.nvim_create_autocmd({ "ModeChanged", "TabEnter", "BufWinEnter" }, {
    group = group,
    desc = "hashline: the history, where it could not be shown before",
    callback = function()
      if view and view.is_due and is_shown(view) then
        renew(view)
      end
    end,
  })
end

---@return boolean
function M.is_here()
  return view ~= nil and vim.api.nvim_get_current_buf() == view.window.buf
end

--- The hunks that lines are about, but for those that were withdrawn.
---@param first integer 1-based
---@param last integer
---@return hashline.Place[]
function M.places(first, last)
  local found, seen = {}, {}
  for row = first, view and last or 0 do
    local entry = view.window.about[row] --[[@as hashline.Entry?]]
    if entry and not seen[entry.name] and entry.hunk.state ~= "withdrawn" then
      seen[entry.name] = true
      found[#found + 1] = { document = view.document, entry = entry }
    end
  end
  return found
end

--- All that is undecided in the file: what is decided goes in or out by itself.
---@return hashline.Place[]
function M.places_of_files()
  return vim.tbl_map(function(entry)
    return { document = view.document, entry = entry }
  end, view and view.document.entries or {})
end

---@return hashline.Place?
local function place_at_cursor()
  local row = vim.api.nvim_win_get_cursor(0)[1]
  return M.places(row, row)[1]
end

---@param shown hashline.HistoryView
local function map_keys(shown)
  local window = shown.window
  local deciding = { a = "accept", r = "reject", R = "reason", c = "comment" }
  for lhs, command in pairs(deciding) do
    -- In Visual mode with the selected lines.
    scratch.map(window, lhs, command .. " the hunk", (":Hashline %s<CR>"):format(command), { "n", "x" })
  end
  scratch.map(window, "u", "reopen the hunk", function()
    local place = place_at_cursor()
    if not place then
      navigation.echo(M.nothing)
    elseif place.document.read_only then
      navigation.echo(("These edits are decided in %s."):format(place.document.owner or "another editor"))
    else
      require("hashline.reopen").hunk(place.document.client_id, place.entry.name)
    end
  end)
  scratch.map(window, "<Tab>", "show the lines of the hunk, or hide them", function()
    local entry = scratch.at_cursor(window) --[[@as hashline.Entry?]]
    if entry then
      shown.opened[entry.name] = not shown.opened[entry.name]
      fill(shown)
    end
  end)
  scratch.map(window, "<CR>", "go to the hunk in the file", function()
    local entry = scratch.at_cursor(window) --[[@as hashline.Entry?]]
    if entry then
      navigation.visit({ document = shown.document, entry = entry })
    end
  end)
end

--- Why there is no history to be shown.
---@param failure table
---@return string
local function why_not(failure)
  if failure.code == vim.lsp.protocol.ErrorCodes.MethodNotFound then
    return "this sidecar is older than the plugin and has no history to show; update hashline"
  end
  return failure.message or vim.inspect(failure)
end

local HINT = "a accept · r reject · u reopen · Tab lines · q close"

--- Shows what was done to the file of the current buffer. The person asked for it.
function M.open()
  local buf = view and M.is_here() and view.document.buf or vim.api.nvim_get_current_buf()
  local sidecar = client.of_buffer(buf)
  if not sidecar then
    return vim.notify("hashline: the sidecar does not serve this buffer", vim.log.levels.WARN)
  end
  ask(buf, sidecar, function(failure, document)
    if not document then
      return vim.notify("hashline: " .. why_not(failure or {}), vim.log.levels.ERROR)
    elseif #document.edits == 0 then
      return navigation.echo("No agent has edited this file.")
    end
    follow()
    if view then
      scratch.close(view.window)
    end
    local window = scratch.open(title_of(document), HINT, all_lines(document, {}))
    view = { window = window, document = document, opened = {}, is_asked = false, is_due = false }
    map_keys(view)
    vim.api.nvim_win_set_cursor(0, { math.min(2, vim.api.nvim_buf_line_count(0)), 0 }) -- the first hunk
  end)
end

return M
