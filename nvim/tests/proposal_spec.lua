--- An agent's lines in a window of their own, changed before they are accepted.
local t = ...
local decisions = require("decisions")
local messages = require("messages")
local at, edit, list = messages.at, messages.edit, messages.list

local LINES = { "one", "two", "three" }

local function start(hunk)
  local child = t.start(nil, { 12, 72 })
  child:cmd("set showtabline=0 statusline=%t") -- the file's path is another one each time
  local uri = child:open("a.txt", LINES)
  local hunks = { hunk or { lines = at(1, 2), removed = { "two" }, proposed = { "TWO", "and more" } } }
  child:push("hashline/pendingEdits", list(uri, 0, { edit(hunks) }))
  return child, uri
end

t.test("the proposal changed before it is accepted", function()
  local child, uri = start()
  child:cmd("nmap ge <Plug>(HashlineEdit)")
  child:type("jge")
  t.eq(
    child:lua([[return {
      vim.api.nvim_buf_get_lines(0, 0, -1, true),
      vim.bo.modified,
      vim.api.nvim_eval_statusline(vim.wo.winbar, { use_winbar = true }).str,
    }]]),
    {
      { "TWO", "and more" },
      false,
      "▎ of claude-code, to be changed · :write accepts what stands here",
    }
  )
  t.screen(child, "proposal_to_be_changed")
  child:type("A, or 2<Esc>")
  child:push("hashline/pendingEdits", list(uri, 0, {}))
  child:settle()
  t.eq(child:lua("return vim.api.nvim_get_current_line()"), "TWO, or 2", "what was changed is not lost")
  child:cmd("write")
  t.eq(child:notified(), { "hashline: this hunk is decided already; your lines are still here" })
  child:cmd("quit!")
  child:push(
    "hashline/pendingEdits",
    list(uri, 0, { edit({ { lines = at(1, 2), removed = { "two" }, proposed = { "TWO" } } }) })
  )
  child:cmd("2 | Hashline edit")
  child:type("A!<Esc>ggyyp")
  child:cmd("write")
  t.eq(
    decisions.said(child, 1),
    { { decision = "accept", uri = uri, edit = messages.ID, hunk = 1, text = { "TWO!", "TWO!" } } }
  )
  child:wait("not vim.bo.modified")
  child:push("hashline/pendingEdits", list(uri, 0, {}))
  child:wait("#vim.api.nvim_list_wins() == 1")
end)

t.test("the agent has other lines for the hunk by now", function()
  local child, uri = start()
  local function push(...)
    child:push(
      "hashline/pendingEdits",
      list(uri, 0, { edit({ { lines = at(1, 2), removed = { "two" }, proposed = { ... } } }) })
    )
  end
  child:cmd("2 | Hashline edit")
  push("zwei")
  child:wait("vim.api.nvim_get_current_line() == 'zwei'")
  t.eq(child:lua("return vim.bo.modified"), false, "what was not touched is renewed")
  child:type("A, mine<Esc>")
  push("deux")
  child:settle()
  child:cmd("write")
  t.eq(child:lua("return vim.api.nvim_get_current_line()"), "zwei, mine")
  t.eq(child:notified(), {
    "hashline: the agent has other lines for this hunk by now; yours are still here: copy what you need, "
      .. ":quit! this window and :Hashline edit again",
  })
  t.eq(decisions.said(child, 0), {})
  child:cmd("quit!")
  child:cmd("2 | Hashline edit")
  t.eq(child:lua("return vim.api.nvim_get_current_line()"), "deux")
end)

t.test("nothing is left of a proposal: it is accepted as no lines", function()
  local child, uri = start()
  child:cmd("2 | Hashline edit")
  child:type("dG")
  child:cmd("write")
  t.eq(
    decisions.said(child, 1),
    { { decision = "accept", uri = uri, edit = messages.ID, hunk = 1, text = {} } }
  )
end)

for why, case in pairs({
  ["hashline: it is in your text already: change it there, and keep it"] = {
    state = "inText",
    lines = at(1, 2),
  },
  ["hashline: there are no lines to change here; :Hashline accept shows what can be done"] = {
    state = "conflicted",
    conflict = "you changed line 2",
    lines = at(1, 2),
  },
  ["No hunk on this line. 1 in this file: :Hashline next"] = { lines = at(2, 3) },
}) do
  t.test("not to be changed: " .. why, function()
    local child = start(vim.tbl_extend("force", { removed = { "two" }, proposed = { "2" } }, case))
    child:cmd("2 | Hashline edit")
    t.eq(child:lua("return #vim.api.nvim_list_wins()"), 1)
    t.eq(child:notified(), { why })
  end)
end
