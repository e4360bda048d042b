--- The review: all that is to be decided on one screen, in a tab page of its own. The files are on one side, the hunks of all of them on the
--- other, one below the other. It follows decisions, new edits and typing, and what is decided while it is open stays in it.
local actions = require("hashline.review.actions")
local canvas = require("hashline.review.canvas")
local keys = require("hashline.review.keys")
local layout = require("hashline.review.layout")
local model = require("hashline.review.model")
local movement = require("hashline.review.movement")
local navigation = require("hashline.navigation")
local paint = require("hashline.review.paint")
local screens = require("hashline.screens")
local state = require("hashline.state")
local text = require("hashline.review.text")

local M = {}

M.nothing = "No hunk that is to be decided on this line."

---@class hashline.review.View : hashline.review.Shown
---@field model hashline.review.Model
---@field tab integer
---@field from_tab integer where it was opened
---@field win integer the window with the hunks
---@field files_win integer
---@field is_due boolean it is to be renewed: soon, or when it is looked at
---@field leaving boolean the person decided about what the cursor is on: it goes on when that is decided
---@field was_here boolean? its window was closed while its tab page was looked at
---@field asked string[] the hunks whose decisions the person has asked to be taken back: the cursor goes to the first that is
---@field renew fun() brings the screen to what is pending
---@field follow fun(shown: hashline.review.View) brings it to where the cursor is
---@field close fun()

---@type table<string, "accepted"|"rejected"> by User autocommand
local OUTCOMES = { HashlineAccepted = "accepted", HashlineRejected = "rejected" }

local HINT, SHORT_HINT = "g? keys · q close", "g? keys"

local TYPING_MS = 50 -- it follows typing at so many milliseconds, and not at each key

local view ---@type hashline.review.View?

---@return boolean
function M.is_here()
  local buf = vim.api.nvim_get_current_buf()
  return view ~= nil and (buf == view.diffs.buf or buf == view.files.buf)
end

--- The undecided hunks that lines of the screen are about: those in them, or all of their files, as on the side of the files.
---@param first integer 1-based
---@param last integer
---@param of_files boolean?
---@return hashline.Place[]
function M.places(first, last, of_files)
  local found = {}
  if not view then
    return found
  end
  local is_list = vim.api.nvim_get_current_buf() == view.files.buf
  for _, item in ipairs((is_list and view.files or view.diffs):items(first, last, of_files or is_list)) do
    found[#found + 1] = not item.outcome and { document = item.document, entry = item.entry } or nil
  end
  return found
end

---@param first integer 1-based
---@param last integer
---@return hashline.Place[]
function M.places_of_files(first, last)
  return M.places(first, last, true)
end

---@param count integer
function M.step(count)
  if view and not movement.hunk(view, count) then
    navigation.echo("Nothing is left to review.")
  end
end

---@param line string
---@return string
local function escaped(line)
  return (line:gsub("%%", "%%%%"))
end

--- Says at the top how much there is, and whose it is.
---@param shown hashline.review.View
---@param groups hashline.review.Group[]
local function renew_header(shown, groups)
  local counts = model.count(groups)
  local parts = {} ---@type string[]
  if counts.hunks > 0 then
    local who = vim.fn.strtrans(table.concat(counts.agents, ", "))
    parts = { who .. (shown.model.agent and " alone" or ""), text.totals(counts) }
    vim.list_extend(parts, counts.decided == counts.hunks and { "nothing is left to review" } or {})
  end
  local said, width = table.concat(parts, " · "), vim.api.nvim_win_get_width(shown.win) - 4
  if #counts.agents > 1 and vim.api.nvim_strwidth(said) > width then
    said = table.concat(parts, " · ", 2) -- whose they are stands above them
  end
  local room = width - vim.api.nvim_strwidth(said)
  local hint = room >= #HINT and HINT or room >= #SHORT_HINT and SHORT_HINT or ""
  local line = ("%%#HashlineHeader# %s %%=%%#HashlineHint# %s%%< "):format(escaped(said), hint)
  if vim.wo[shown.win].winbar ~= line then
    vim.wo[shown.win][0].winbar = line
  end
end

--- Follows the cursor: the file of its hunk is marked on the other side, what is in view is painted, and the hunk says what can be done.
---@param shown hashline.review.View
local function follow_cursor(shown)
  movement.show_file(shown)
  movement.show_hint(shown)
  shown.diffs:paint_visible()
  shown.files:paint_visible()
end

--- Brings the screen to what is pending. In a tab page that is not looked at that waits until it is.
local function renew()
  local shown = view
  if
    not shown
    or not vim.api.nvim_win_is_valid(shown.win)
    or vim.api.nvim_get_current_tabpage() ~= shown.tab
  then
    return
  end
  shown.is_due = false
  local groups = shown.model:groups()
  local diffs, files = layout.blocks(shown, groups)
  shown.diffs:show(diffs)
  if vim.api.nvim_buf_is_valid(shown.files.buf) then
    shown.files:show(files)
  end
  renew_header(shown, groups)
  if movement.go_to(shown, shown.asked, true) then
    shown.asked = {}
  elseif shown.leaving and movement.leave(shown) then
    shown.leaving = false
  end
  follow_cursor(shown)
end

--- Has the screen renewed soon: several documents change together.
---@param ms integer?
local function renew_soon(ms)
  if view and not view.is_due then
    view.is_due = true
    if ms then
      vim.defer_fn(renew, ms)
    else
      vim.schedule(renew)
    end
  end
end

local group ---@type integer?

--- Ends the review: what is left of it goes, and the tab page from which it was opened is shown.
local function close()
  local shown = view
  if not shown then
    return
  end
  view = nil
  vim.api.nvim_clear_autocmds({ group = group })
  text.forget()
  local is_alone = #vim.api.nvim_list_tabpages() == 1
  local was_here = shown.was_here or vim.api.nvim_get_current_tabpage() == shown.tab
  if was_here and vim.api.nvim_tabpage_is_valid(shown.from_tab) then
    vim.api.nvim_set_current_tabpage(shown.from_tab)
  end
  if vim.api.nvim_tabpage_is_valid(shown.tab) then
    if is_alone then
      vim.cmd.tabnew()
    end
    for _, win in ipairs({ shown.files_win, shown.win }) do
      if vim.api.nvim_win_is_valid(win) then
        vim.api.nvim_win_close(win, true)
      end
    end
  end
  for _, buf in ipairs({ shown.files.buf, shown.diffs.buf }) do
    require("hashline.hunk_keys").in_list(buf, false)
    if vim.api.nvim_buf_is_valid(buf) then
      vim.api.nvim_buf_delete(buf, { force = true })
    end
  end
end

--- What is shown, what is typed and where the cursor is changes while the review is open.
---@param shown hashline.review.View
local function watch(shown)
  if not group then
    state.subscribe(function(document)
      if view then
        view.model:take(document)
        view.made[document.key] = nil
        renew_soon()
      end
    end)
    screens.add(M)
  end
  group = vim.api.nvim_create_augroup("hashline.review", {})
  ---@param events vim.api.keyset.events|vim.api.keyset.events[]
  ---@param pattern string|string[]|integer
  ---@param callback fun(event: vim.api.keyset.create_autocmd.callback_args)
  local function on(events, pattern, callback)
    local of_buffer = type(pattern) == "number"
    vim.api.nvim_create_autocmd(events, {
      group = group,
      buffer = of_buffer and pattern or nil,
      pattern = not of_buffer and pattern or nil,
      callback = callback,
    })
  end
  on("User", { "HashlineAccepted", "HashlineRejected" }, function(event)
    for _, name in ipairs(event.data.hunks or {}) do
      shown.model.outcomes[name] = OUTCOMES[event.match]
    end
  end)
  on({ "TextChanged", "TextChangedI", "TextChangedP" }, "*", function(event)
    local document = state.of_buffer(event.buf)
    if document and shown.model.items[document.key] then
      shown.made[document.key] = nil
      renew_soon(TYPING_MS)
    end
  end)
  on("CursorMoved", shown.diffs.buf, function()
    movement.moved(shown)
    follow_cursor(shown)
  end)
  on("CursorMoved", shown.files.buf, function()
    movement.show_hunks(shown)
  end)
  on("TabEnter", "*", function()
    if shown.is_due then
      renew()
    end
  end)
  on("WinResized", "*", function()
    renew_soon() -- what is said at the top has more room, or less
  end)
  on("WinScrolled", "*", function()
    shown.diffs:paint_visible()
    shown.files:paint_visible()
  end)
  on("WinClosed", "*", function(event)
    if event.match == tostring(shown.win) then
      shown.was_here = vim.api.nvim_get_current_tabpage() == shown.tab
      vim.schedule(close)
    end
  end)
end

---@param win integer
---@param options table<string, any>
local function set_options(win, options)
  local common =
    { number = false, relativenumber = false, signcolumn = "no", foldcolumn = "0", spell = false }
  common = vim.tbl_extend("error", common, { list = false, cursorline = true, winfixbuf = true })
  common.breakindent, common.breakindentopt = true, "min:20,shift:2"
  common.statuscolumn = " " -- room between the text and what separates the windows
  common.fillchars = (vim.o.fillchars ~= "" and vim.o.fillchars .. "," or "") .. "eob: "
  for name, value in pairs(vim.tbl_extend("error", common, options)) do
    vim.wo[win][0][name] = value
  end
end

--- Shows everything in a tab page of its own, or goes to it. The person asked for it.
function M.open()
  if view then
    return vim.api.nvim_set_current_win(view.win)
  elseif not state.has_any() then
    return vim.api.nvim_echo({ { "Nothing is left to review." } }, false, {})
  end
  local from_tab, place = vim.api.nvim_get_current_tabpage(), movement.place_at_cursor()
  local diffs, files = canvas.new("review", paint.block), canvas.new("review/files", paint.block)
  vim.cmd("tab sbuffer " .. diffs.buf)
  local win = vim.api.nvim_get_current_win()
  local width = math.max(24, math.min(44, math.floor(vim.o.columns * 0.3)))
  local files_win = vim.api.nvim_open_win(files.buf, false, { split = "left", win = win, width = width })
  local footer = (" %s%%<"):format(escaped(keys.footer()))
  set_options(win, { statusline = footer })
  set_options(
    files_win,
    { statusline = " ", winbar = "%#HashlineHeader# Files", wrap = false, winfixwidth = true }
  )
  view = {
    model = model.new(),
    tab = vim.api.nvim_get_current_tabpage(),
    from_tab = from_tab,
    win = win,
    files_win = files_win,
    diffs = diffs,
    files = files,
    opened = {},
    folded = {},
    made = {},
    is_due = false,
    leaving = false,
    asked = {},
    renew = renew,
    follow = follow_cursor,
    close = close,
  }
  local doing = actions.of(view)
  for _, shown in ipairs({ diffs, files }) do
    keys.set(shown.buf, doing)
    require("hashline.hunk_keys").in_list(shown.buf, true)
  end
  watch(view)
  renew()
  if not movement.go_to(view, place and { place } or {}, true) then
    movement.start(view)
  end
  follow_cursor(view)
end

return M
