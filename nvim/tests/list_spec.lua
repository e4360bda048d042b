--- The list of all undecided hunks, and choosing one of them.
local t = ...
local decisions = require("decisions")
local messages = require("messages")
local at, edit, list = messages.at, messages.edit, messages.list

local LINES = {}
for i = 1, 40 do
  LINES[i] = "  line " .. i
end

local function hunk(number, more)
  return vim.tbl_extend("force", {
    lines = at(10 * number, 10 * number + 1),
    removed = { LINES[10 * number + 1] },
    proposed = { "new " .. number },
  }, more or {})
end

--- A file that is open with three hunks, and one that is not with two.
local function start()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  local other = vim.uri_from_fname(vim.fs.joinpath(child.folder, "not open.txt"))
  local function push(numbers)
    local hunks = {}
    for _, number in ipairs(numbers) do
      hunks[#hunks + 1] = hunk(number, { number = number })
    end
    if hunks[3] then
      hunks[3].state, hunks[3].conflict = "conflicted", "you changed line 31"
    end
    child:push("hashline/pendingEdits", list(uri, 0, { edit(hunks) }))
  end
  push({ 1, 2, 3 })
  vim.fn.writefile({ "x", "x", "x" }, vim.uri_to_fname(other))
  local theirs = {
    { lines = at(2, 3), removed = { "x" }, proposed = { "y" } },
    { lines = at(3, 3), proposed = { "", "z" } },
  }
  child:push(
    "hashline/pendingEdits",
    list(
      other,
      vim.NIL,
      { edit(theirs, { id = "other", agent = "codex", conversation = "conv_2", reason = "as issue 7 asks" }) }
    )
  )
  return child, uri, other, push
end

local function entries(child)
  return child:lua([[
    return vim.tbl_map(function(item)
      return { vim.fs.basename(vim.api.nvim_buf_get_name(item.bufnr)), item.lnum, item.type, item.text }
    end, vim.fn.getqflist())
  ]])
end

t.test("one entry a hunk, over all files", function()
  local child = start()
  child:cmd("Hashline list")
  t.eq(child:lua("return vim.bo.buftype"), "quickfix")
  t.eq(entries(child), {
    { "a.txt", 11, "I", "claude-code · #1 · +1 -1 · new 1" },
    { "a.txt", 21, "I", "claude-code · #2 · +1 -1 · new 2" },
    { "a.txt", 31, "W", "claude-code · #3 · conflicted, +1 -1 · new 3" },
    { "not open.txt", 3, "I", "codex · #1 · +1 -1 · y · as issue 7 asks" },
    { "not open.txt", 3, "I", "codex · #2 · +2 · z · as issue 7 asks" },
  })
  child:cmd("Hashline list")
  t.eq(child:lua("return vim.fn.getqflist({ nr = '$' }).nr"), 1, "asked again it is the same list")
end)

t.test("what is decided leaves the list; cursor and entry stay where they are", function()
  local child, _, _, push = start()
  child:cmd("Hashline list")
  child:lua("vim.fn.setqflist({}, 'r', { idx = 2 })")
  child:type("3G")
  push({ 2, 3 })
  child:wait("#vim.fn.getqflist() == 4")
  t.eq(entries(child)[1][4], "claude-code · #2 · +1 -1 · new 2")
  t.eq({
    child:cursor()[1],
    child:lua("return vim.fn.getqflist({ idx = 0 }).idx"),
    child:lua("return vim.bo.buftype"),
  }, { 3, 2, "quickfix" })
  child:cmd("call setqflist([], ' ', { 'title': 'mine', 'lines': ['a.txt:1:x'] })")
  push({ 3 })
  child:wait("#vim.fn.getqflist({ nr = 1, items = 0 }).items == 3")
  t.eq(child:lua("return vim.fn.getqflist({ title = 0 }).title"), "mine", "another list stays in front")
end)

t.test("in the list: the hunk of the line, of several lines, of the file of a line", function()
  local child, uri, other = start()
  child:cmd("nmap ga <Plug>(HashlineAccept)")
  child:cmd("xmap gR <Plug>(HashlineReject)")
  child:cmd("Hashline list")
  child:type("2Gga")
  t.eq(decisions.said(child, 1)[1], { decision = "accept", uri = uri, edit = messages.ID, hunk = 2 })
  child:type("4GVjgR")
  t.eq(vim.list_slice(decisions.said(child, 3), 2), {
    { decision = "reject", uri = other, edit = "other", hunk = 1 },
    { decision = "reject", uri = other, edit = "other", hunk = 2 },
  })
  child:cmd("5 | Hashline! accept")
  t.eq(decisions.said(child, 4)[4], { decision = "accept", uri = other })
  decisions.choose(child, "Keep both")
  child:type("3Gga")
  t.eq(decisions.said(child, 5)[5], { decision = "keepBoth", uri = uri, edit = messages.ID, hunk = 3 })
  t.eq(
    child:lua("return offered[1][2]"),
    { "Keep mine", "Take the agent's", "Keep both", "Cancel" },
    "nothing is edited by hand in a list"
  )
end)

t.test("an entry of the list whose hunk is gone", function()
  local child, _, _, push = start()
  child:cmd("Hashline list")
  child:lua("items = vim.fn.getqflist()")
  push({ 2, 3 })
  child:wait("#vim.fn.getqflist() == 4")
  child:lua("vim.fn.setqflist({}, 'r', { items = items })")
  child:cmd("1 | Hashline accept")
  t.eq(child:notified(), { "What this line said is decided. :Hashline list shows what is left." })
end)

t.test("the conversation of the hunk at the cursor, in the text and in the list", function()
  local child = start()
  child:cmd("nmap ga <Plug>(HashlineAcceptConversation)")
  child:cmd("nmap gR <Plug>(HashlineRejectConversation)")
  child:type("11Gga")
  t.eq(decisions.said(child, 1)[1], { decision = "accept", conversation = "conv_1" })
  child:wait("#notified == 1")
  t.eq(child:notified(), { "hashline: accepting 3 hunks in 1 file" })
  child:cmd("Hashline list")
  child:cmd("5 | Hashline conversation reject not now")
  t.eq(decisions.said(child, 2)[2], { decision = "reject", conversation = "conv_2", reason = "not now" })
  child:type("ggj")
  child:type("gR")
  t.eq(decisions.said(child, 3)[3], { decision = "reject", conversation = "conv_1" })
  child:cmd("Hashline conversation")
  t.ok(child:notified()[4]:find("`:Hashline conversation accept` or `reject`", 1, true), child:notified()[4])
end)

t.test("no hunk at the cursor: which conversation is asked", function()
  local child = start()
  decisions.choose(child, "codex")
  child:cmd("1 | Hashline conversation accept")
  t.eq(decisions.said(child, 1), { { decision = "accept", conversation = "conv_2" } })
  t.eq(child:lua("return offered"), {
    {
      "Accept which conversation?",
      { "claude-code · 3 hunks in 1 file · a.txt", "codex · 2 hunks in 1 file · not open.txt" },
    },
  })
end)

t.test("a conversation with conflicted hunks: the others can be accepted, in all files", function()
  local child, uri = start()
  decisions.choose(child, "Accept the 2 others")
  child:answer("hashline/decide", {
    queued = {},
    refused = {
      { hunk = messages.ID .. ":3", why = "conflicted", message = "it is conflicted", others = {} },
    },
  })
  child:cmd("11 | Hashline conversation accept")
  t.eq(vim.list_slice(decisions.said(child, 3), 2), {
    { decision = "accept", uri = uri, edit = messages.ID, hunk = 1 },
    { decision = "accept", uri = uri, edit = messages.ID, hunk = 2 },
  })
end)

t.test("picked: the hunk is gone to, in another buffer, in a file that was not open", function()
  local child = start()
  child:cmd("nmap gp <Plug>(HashlinePick)")
  decisions.choose(child, "#2")
  child:type("gp")
  t.eq(child:cursor()[1], 21)
  t.eq(child:lua("return offered"), {
    {
      "Go to which hunk?",
      {
        "a.txt:11 · claude-code · #1 · +1 -1 · new 1",
        "a.txt:21 · claude-code · #2 · +1 -1 · new 2",
        "a.txt:31 · claude-code · #3 · conflicted, +1 -1 · new 3",
        "not open.txt:3 · codex · #1 · +1 -1 · y · as issue 7 asks",
        "not open.txt:3 · codex · #2 · +2 · z · as issue 7 asks",
      },
    },
  })
  decisions.choose(child, "codex · #1")
  child:cmd("Hashline pick")
  t.eq({ child:lua("return vim.fn.expand('%:t')"), child:cursor()[1] }, { "not open.txt", 3 })
  decisions.choose(child, "#3")
  child:cmd("Hashline pick")
  t.eq({ child:lua("return vim.fn.expand('%:t')"), child:cursor()[1] }, { "a.txt", 31 })
  child:type("<C-o>")
  t.eq(child:lua("return vim.fn.expand('%:t')"), "not open.txt", "and back by the jump list")
end)
