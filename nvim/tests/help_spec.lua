--- The help page: what it says can be done is done here, by command and by key, one test for each of its tags.
local t = ...
local decisions = require("decisions")
local messages = require("messages")
local at, edit, list = messages.at, messages.edit, messages.list

local page = vim.fn.readfile(vim.fs.dirname(t.here) .. "/doc/hashline.txt")

--- The tags of the page that name something to be done.
---@return string[]
local function tags()
  local found = {}
  for _, line in ipairs(page) do
    for tag in line:gmatch("%*(%S+)%*") do
      if vim.startswith(tag, ":Hashline") or vim.startswith(tag, "<Plug>") then
        found[#found + 1] = tag
      end
    end
  end
  return vim.fn.sort(found)
end

local LINES = {}
for i = 1, 20 do
  LINES[i] = "line " .. i
end

--- A file with a held hunk in its third line, one in its tenth, and one in the text.
local function start()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  child:push(
    "hashline/pendingEdits",
    list(uri, 0, {
      edit({
        { lines = at(2, 3), removed = { "line 3" }, proposed = { "3" } },
        { lines = at(9, 10), removed = { "line 10" }, proposed = { "10" } },
        { state = "inText", lines = at(14, 15), removed = { "15" }, proposed = { "line 15" } },
      }),
    })
  )
  child:cmd("3")
  return child, uri
end

--- What the plugin said, when it is a decision about this.
local function decided(child, uri, expected)
  t.eq(decisions.said(child, 1), { vim.tbl_extend("keep", expected, { uri = uri }) })
end

local function of_hunk(decision, number, more)
  return vim.tbl_extend("keep", { decision = decision, edit = messages.ID, hunk = number }, more or {})
end

local function compared(child)
  child:wait("vim.fn.tabpagenr('$') == 2")
end

local function prepare_comparison(child)
  child:answer("hashline/proposedText", { text = "x\n", version = 0 })
end

local function prepare_status(child)
  child:answer("hashline/status", {
    version = "1.2.3",
    roots = {},
    documents = 1,
    pending = 3,
    conflicted = 0,
    agents = {},
    socket = vim.NIL,
  })
end

local function chooses(child)
  child:lua("vim.ui.select = function(_, options) asked = options.prompt end")
end

--- By tag: what is typed (nothing: the command or map of the tag), and what has to come of it.
---@type table<string, { keys: string?, prepare: fun(child: Child)?, check: fun(child: Child, uri: string) }>
local exercises = {
  [":Hashline-accept"] = {
    check = function(child, uri)
      decided(child, uri, of_hunk("accept", 1))
    end,
  },
  [":Hashline-keep"] = {
    keys = "15G:Hashline keep<CR>",
    check = function(child, uri)
      decided(child, uri, of_hunk("accept", 3))
    end,
  },
  [":Hashline-reject"] = {
    keys = ":2,10Hashline reject not so<CR>",
    check = function(child, uri)
      decided(child, uri, { decision = "reject", lines = at(1, 10), reason = "not so" })
    end,
  },
  [":Hashline-undo"] = {
    keys = ":Hashline! undo<CR>",
    check = function(child, uri)
      decided(child, uri, { decision = "reject" })
    end,
  },
  [":Hashline-reason"] = {
    keys = ":15Hashline reason<CR>2<CR>",
    check = function(child, uri)
      decided(child, uri, of_hunk("reject", 3, { reason = "not here" }))
    end,
  },
  [":Hashline-comment"] = {
    keys = ":15Hashline comment is it used?<CR>:2,10Hashline comment<CR>why<CR>",
    check = function(child, uri)
      t.eq(decisions.said(child, 3), {
        of_hunk("comment", 3, { uri = uri, reason = "is it used?" }),
        of_hunk("comment", 1, { uri = uri, reason = "why" }),
        of_hunk("comment", 2, { uri = uri, reason = "why" }),
      })
    end,
  },
  [":Hashline-rejected"] = {
    prepare = function(child)
      child:answer("hashline/decide", { queued = { messages.ID .. ":1" }, refused = {} })
      child:cmd("Hashline reject")
      decisions.said(child, 1)
      child:settle()
      child:push("hashline/pendingEdits", list(vim.uri_from_fname(child.folder .. "/a.txt"), 0, {}))
    end,
    check = function(child)
      t.ok(child:lines()[1]:find("a.txt · claude-code · #1", 1, true), vim.inspect(child:lines()))
    end,
  },
  [":Hashline-history"] = {
    prepare = function(child)
      local hunk = { lines = at(1, 2), removed = { "x" }, state = "inText", decision = "accepted" }
      child:answer("hashline/history", { version = 0, readOnly = false, edits = { messages.edit({ hunk }) } })
    end,
    check = function(child)
      child:wait("vim.fn.line('$') == 2")
      t.eq(child:lines()[2], "  #1 · line 2 · -1 · in the text · x")
    end,
  },
  [":Hashline-conversation"] = {
    keys = ":Hashline conversation reject too much<CR>",
    check = function(child)
      t.eq(
        decisions.said(child, 1),
        { { decision = "reject", conversation = "conv_1", reason = "too much" } }
      )
    end,
  },
  [":Hashline-reopen"] = {
    prepare = function(child)
      child:answer("hashline/decide", { queued = { messages.ID .. ":1" }, refused = {} })
      child:cmd("Hashline reject")
      decisions.said(child, 1)
      child:settle()
    end,
    check = function(child, uri)
      t.eq(decisions.said(child, 2)[2], of_hunk("reopen", 1))
    end,
  },
  [":Hashline-edit"] = {
    check = function(child)
      t.eq(child:lines(), { "3" })
      t.eq(child:lua("return #vim.api.nvim_list_wins()"), 2)
    end,
  },
  [":Hashline-next"] = {
    keys = ":Hashline next 2<CR>",
    check = function(child)
      t.eq(child:cursor()[1], 15)
    end,
  },
  [":Hashline-prev"] = {
    check = function(child)
      t.eq(child:cursor()[1], 15, "around the end")
    end,
  },
  [":Hashline-list"] = {
    check = function(child)
      t.eq(child:lua("return { vim.bo.buftype, #vim.fn.getqflist() }"), { "quickfix", 3 })
    end,
  },
  [":Hashline-review"] = {
    check = function(child, uri)
      t.eq(child:lua("return { vim.fn.tabpagenr('$'), #vim.api.nvim_tabpage_list_wins(0) }"), { 2, 2 })
      child:type("J")
      child:type("a")
      decided(child, uri, of_hunk("accept", 2))
    end,
  },
  [":Hashline-pick"] = {
    prepare = chooses,
    check = function(child)
      t.eq(child:lua("return asked"), "Go to which hunk?")
    end,
  },
  [":Hashline-diff"] = { prepare = prepare_comparison, check = compared },
  [":Hashline-status"] = {
    prepare = prepare_status,
    check = function(child)
      child:wait("#notified == 1")
      t.ok(child:notified()[1]:find("1 buffer · 3 hunks to review", 1, true), child:notified()[1])
    end,
  },
  [":Hashline-restart"] = {
    prepare = function(child)
      child:lua("first = vim.lsp.get_clients({ name = 'hashline' })[1].id")
    end,
    check = function(child)
      child:wait("(vim.lsp.get_clients({ name = 'hashline' })[1] or { id = first }).id ~= first")
    end,
  },
  ["<Plug>(HashlineAccept)"] = {
    keys = "gaV7jga",
    check = function(child, uri)
      t.eq(decisions.said(child, 2), {
        of_hunk("accept", 1, { uri = uri }),
        { decision = "accept", uri = uri, lines = at(2, 10) },
      })
    end,
  },
  ["<Plug>(HashlineReject)"] = {
    keys = "ga10GVga",
    check = function(child, uri)
      t.eq(decisions.said(child, 2), {
        of_hunk("reject", 1, { uri = uri }),
        of_hunk("reject", 2, { uri = uri }),
      })
    end,
  },
  ["<Plug>(HashlineAcceptMotion)"] = {
    keys = "ga7j",
    check = function(child, uri)
      decided(child, uri, { decision = "accept", lines = at(2, 10) })
    end,
  },
  ["<Plug>(HashlineRejectMotion)"] = {
    keys = "gaip",
    check = function(child, uri)
      decided(child, uri, { decision = "reject", lines = at(0, 20) })
    end,
  },
  ["<Plug>(HashlineRejectReason)"] = {
    keys = "ga3<CR>why not<CR>V7jga1<CR>",
    check = function(child, uri)
      t.eq(decisions.said(child, 3), {
        of_hunk("reject", 1, { uri = uri, reason = "why not" }),
        of_hunk("reject", 1, { uri = uri, reason = "wrong approach" }),
        of_hunk("reject", 2, { uri = uri, reason = "wrong approach" }),
      })
    end,
  },
  ["<Plug>(HashlineComment)"] = {
    keys = "gawhy<CR>V7jgatwo<CR>",
    check = function(child, uri)
      t.eq(decisions.said(child, 3), {
        of_hunk("comment", 1, { uri = uri, reason = "why" }),
        of_hunk("comment", 1, { uri = uri, reason = "two" }),
        of_hunk("comment", 2, { uri = uri, reason = "two" }),
      })
    end,
  },
  ["<Plug>(HashlineAcceptFile)"] = {
    check = function(child, uri)
      decided(child, uri, { decision = "accept" })
    end,
  },
  ["<Plug>(HashlineRejectFile)"] = {
    check = function(child, uri)
      decided(child, uri, { decision = "reject" })
    end,
  },
  ["<Plug>(HashlineAcceptConversation)"] = {
    check = function(child)
      t.eq(decisions.said(child, 1), { { decision = "accept", conversation = "conv_1" } })
    end,
  },
  ["<Plug>(HashlineRejectConversation)"] = {
    check = function(child)
      t.eq(decisions.said(child, 1), { { decision = "reject", conversation = "conv_1" } })
    end,
  },
  ["<Plug>(HashlineNext)"] = {
    keys = "2ga",
    check = function(child)
      t.eq(child:cursor()[1], 15)
    end,
  },
  ["<Plug>(HashlinePrev)"] = {
    keys = "2ga",
    check = function(child)
      t.eq(child:cursor()[1], 10)
    end,
  },
  ["<Plug>(HashlineHunk)"] = {
    keys = "dga9Gvgad",
    check = function(child)
      local left = vim.tbl_filter(function(line)
        return line ~= "line 3" and line ~= "line 10"
      end, LINES)
      t.eq(child:lines(), left)
    end,
  },
}
exercises[":Hashline"] = exercises[":Hashline-status"]
for _, name in ipairs({ "Reopen", "Pick", "List", "Review", "Diff", "Edit", "History" }) do
  local of_command = exercises[":Hashline-" .. name:lower()]
  exercises[("<Plug>(Hashline%s)"):format(name)] = { prepare = of_command.prepare, check = of_command.check }
end

t.test("everything that the page says can be done is tried, and nothing else", function()
  t.eq(vim.fn.sort(vim.tbl_keys(exercises)), tags())
end)

t.test("the page has every command and every map", function()
  local child = t.start()
  local there = { ":Hashline" }
  for _, name in ipairs(child:lua("return vim.fn.getcompletion('Hashline ', 'cmdline')")) do
    there[#there + 1] = ":Hashline-" .. name
  end
  for _, mode in ipairs({ "n", "x", "o" }) do
    local maps =
      child:lua("return vim.tbl_map(function(map) return map.lhs end, vim.api.nvim_get_keymap(...))", mode)
    for _, map in ipairs(maps) do
      if vim.startswith(map, "<Plug>(Hashline") and not vim.list_contains(there, map) then
        there[#there + 1] = map
      end
    end
  end
  t.eq(vim.fn.sort(there), tags())
end)

t.test("the page has every highlight with its link", function()
  local text = table.concat(page, "\n")
  local links, sources = require("hashline.render").highlights, require("hashline.colours").sources
  for name, link in pairs(vim.tbl_extend("error", links, sources)) do
    t.ok(text:find("\n    " .. name .. " +" .. link), name)
  end
end)

t.test("no line of the page is too wide, and no tag is there twice", function()
  local seen = {}
  for number, line in ipairs(page) do
    t.ok(vim.fn.strdisplaywidth(line) <= 79, "line " .. number .. ": " .. line)
    for tag in (line:find("^%s*%*") or line:find("%s%*%S+%*$")) and line:gmatch("%*(%S+)%*") or function() end do
      t.ok(not seen[tag], tag)
      seen[tag] = true
    end
  end
end)

for _, tag in ipairs(tags()) do
  t.test(tag, function()
    local child, uri = start()
    local exercise = exercises[tag]
    if exercise.prepare then
      exercise.prepare(child)
    end
    local keys = exercise.keys
    if vim.startswith(tag, "<Plug>") then
      child:lua("for _, mode in ipairs({ 'n', 'x', 'o' }) do vim.keymap.set(mode, 'ga', ...) end", tag)
      keys = keys or "ga"
    else
      keys = keys or ":" .. tag:sub(2):gsub("%-", " ") .. "<CR>"
    end
    child:type(keys)
    exercise.check(child, uri)
  end)
end
