--- The comparison: the text beside what is proposed.
local t = ...
local decisions = require("decisions")
local messages = require("messages")
local at, edit, list = messages.at, messages.edit, messages.list

local LINES = { "one", "two", "three" }

local function start()
  local child = t.start(nil, { 12, 72 })
  child:cmd("set showtabline=0 statusline=%t") -- the file's path is another one each time
  local uri = child:open("a.txt", LINES)
  local hunks = { { lines = at(1, 2), removed = { "two" }, proposed = { "TWO", "and more" } } }
  child:push("hashline/pendingEdits", list(uri, 0, { edit(hunks) }))
  return child, uri
end

local function compare(child)
  child:answer("hashline/proposedText", { text = "one\nTWO\nand more\nthree\n", version = 0 })
  child:cmd("Hashline diff")
  child:wait("vim.fn.tabpagenr('$') == 2")
end

--- The lines of the proposed text, where it is shown.
local PROPOSED = [[
  (function()
    for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
      local buf = vim.api.nvim_win_get_buf(win)
      if vim.bo[buf].buftype == "nofile" then
        return { vim.api.nvim_buf_get_lines(buf, 0, -1, true), vim.wo[win].diff, vim.bo[buf].modifiable }
      end
    end
  end)()
]]

for _, closed in ipairs({ "the window of the proposal", "the window of the text", "the tab page" }) do
  t.test("in a tab page of its own, gone without a trace when " .. closed .. " is closed", function()
    local child = start()
    local before = child:screen()
    compare(child)
    t.eq(child:lua("return " .. PROPOSED), { { "one", "TWO", "and more", "three" }, true, false })
    t.eq(
      child:lua("return { vim.fn.expand('%:t'), vim.wo.diff, #vim.api.nvim_tabpage_list_wins(0) }"),
      { "a.txt", true, 2 }
    )
    t.screen(child, "compared")
    child:cmd("Hashline diff")
    t.eq(child:lua("return vim.fn.tabpagenr('$')"), 2, "asked again it is the same")
    child:type("gt")
    t.eq(
      child:screen():gsub("^[^\n]*\n", ""):find("#1 · 1 left") ~= nil,
      true,
      "elsewhere the hunks are drawn"
    )
    child:type("gt")
    t.ok(
      not child:screen():find("#1 · 1 left", 1, true),
      "and not where they would put the windows out of line"
    )
    if closed == "the window of the proposal" then
      child:cmd("wincmd l")
    end
    child:cmd(closed == "the tab page" and "tabclose" or "quit")
    child:wait("vim.fn.tabpagenr('$') == 1 and #vim.api.nvim_list_wins() == 1")
    t.eq(
      child:lua("return { vim.wo.diff, #vim.fn.getbufinfo({ buflisted = 1 }), #vim.api.nvim_list_bufs() }"),
      { false, 1, 1 }
    )
    t.eq(child:screen(), before)
  end)
end

t.test("it follows what is proposed", function()
  local child, uri = start()
  compare(child)
  child:answer("hashline/proposedText", { text = "one\n2\nthree\n", version = 0 })
  child:push(
    "hashline/pendingEdits",
    list(uri, 0, { edit({ { lines = at(1, 2), removed = { "two" }, proposed = { "2" } } }) })
  )
  child:wait("vim.deep_equal(" .. PROPOSED .. "[1], { 'one', '2', 'three' })")
end)

t.test("a hunk is decided in it", function()
  local child, uri = start()
  compare(child)
  child:type("]c")
  child:cmd("Hashline reject")
  t.eq(decisions.said(child, 1), { { decision = "reject", uri = uri, edit = messages.ID, hunk = 1 } })
end)
