--- What agents did to a file, in a window below.
local t = ...
local decisions = require("decisions")
local messages = require("messages")
local at, edit, list = messages.at, messages.edit, messages.list

local OLDER = "b81d04e7-0c35-4a92-8f6e-5d2b7a90c3f4"

--- Noon of a day long ago, whatever the time zone.
local MADE = os.time({ year = 2025, month = 11, day = 20, hour = 12 }) * 1000

--- What was done, the oldest first: two hunks were decided and one was taken back, two are to be decided.
local function edits()
  return {
    edit({
      {
        lines = at(0, 1),
        removed = { "uno" },
        proposed = { "one" },
        state = "inText",
        decision = "accepted",
      },
      {
        lines = at(1, 1),
        proposed = { "and", "a half" },
        decision = "rejected",
        reason = "whole\tnumbers only",
      },
      {
        lines = at(4, 5),
        removed = { "five" },
        proposed = { "5" },
        state = "withdrawn",
        decision = "rejected",
      },
    }, { id = OLDER, made = MADE, agent = "codex", tool = "write_text_file", status = "accepted" }),
    edit({
      { lines = at(2, 3), removed = { "three" }, proposed = { "3" }, made = 1 },
      {
        lines = at(3, 4),
        removed = { "four" },
        proposed = { "4" },
        state = "conflicted",
        conflict = "You changed a line.",
      },
    }, { reason = "digits" }),
  }
end

local NEWEST = "claude-code · edit_text_file · digits"
local SHOWN = {
  NEWEST,
  "  #1 · line 3 · +1 -1 · held · 3",
  "  #2 · line 4 · +1 -1 · conflicted · 4",
  "2025-11-20 12:00 · codex · write_text_file",
  "  #1 · line 1 · +1 -1 · in the text · one",
  '  #2 · after line 1 · +2 · rejected · told "whole^Inumbers only" · and',
  "  #3 · line 5 · +1 -1 · withdrawn · 5",
}

local function start()
  local child = t.start()
  local uri = child:open("a.txt", { "one", "two", "three", "four!", "five" })
  child:push("hashline/pendingEdits", list(uri, 0, { edits()[2] }))
  local function answer(all, more)
    local result = { version = 0, readOnly = false, edits = all }
    child:answer("hashline/history", vim.tbl_extend("force", result, more or {}))
  end
  return child, uri, answer
end

--- The same with the window open.
local function open(more)
  local child, uri, answer = start()
  answer(edits(), more)
  child:cmd("Hashline history")
  child:wait("vim.bo.filetype == 'hashline'")
  return child, uri, answer
end

t.test("all that was done is shown, the newest first", function()
  local child, uri = open()
  child:cmd("set statusline=%t")
  t.eq(child:lines(), SHOWN)
  t.eq(child:said("hashline/history")[1].params, { uri = uri })
  t.eq(child:cursor()[1], 2, "at the first hunk")
  t.screen(child, "history")
end)

t.test("the lines of a hunk are shown and hidden", function()
  local child = open()
  child:type("<Tab>")
  t.eq(vim.list_slice(child:lines(), 1, 4), {
    NEWEST,
    "  #1 · line 3 · +1 -1 · held",
    "- three",
    "+ 3",
  })
  child:type("j<Tab>")
  t.eq(child:lines(), SHOWN, "also from one of its lines")
  t.eq(child:cursor()[1], 2, "the cursor stays on the hunk")
  child:type("gg<Tab>")
  t.eq(child:lines(), SHOWN, "a heading has none")
end)

t.test("a hunk that was decided goes in and out, and the window follows", function()
  local child, uri, answer = open()
  child:type("6Ga")
  t.eq(decisions.said(child, 1)[1], { decision = "accept", uri = uri, edit = OLDER, hunk = 2 })
  child:type("5Gr")
  t.eq(decisions.said(child, 2)[2], { decision = "reject", uri = uri, edit = OLDER, hunk = 1 })
  child:type("u")
  t.eq(decisions.said(child, 3)[3], { decision = "reopen", edit = OLDER, hunk = 1 })
  local after = edits()
  after[1].hunks[1].state, after[1].hunks[1].decision = "held", "rejected"
  answer(after)
  child:push("hashline/pendingEdits", list(uri, 0, { edits()[2] }))
  child:wait(("vim.fn.getline(5) == %q"):format("  #1 · line 1 · +1 -1 · rejected · one"))
  t.eq(child:cursor()[1], 5)
end)

t.test("several in the selected lines are decided, but for what stands so and what is withdrawn", function()
  local child, uri = open()
  child:type("3GVGr")
  local said = decisions.said(child, 2)
  t.eq({ said[1], said[2] }, {
    { decision = "reject", uri = uri, edit = messages.ID, hunk = 2 },
    { decision = "reject", uri = uri, edit = OLDER, hunk = 1 },
  })
  for keys, why in pairs({ ["6Gr"] = "It is rejected already.", ["5Ga"] = "It is in the text already." }) do
    child:type(keys)
    child:settle()
    t.eq(child:lua("return table.remove(notified)"), why)
  end
  child:wait("#echoed > 0")
  child:echoed()
  child:type("Gu")
  child:wait("#echoed > 0")
  t.eq(child:echoed(), { "Nothing to decide on this line." }, "what is withdrawn is not reopened")
  child:type("Ga")
  child:settle()
  t.eq(#child:said("hashline/decide"), 2)
  t.eq(child:notified(), { "Nothing to decide on this line." })
end)

t.test("with a ! what is undecided in the file is meant, not all that ever was decided", function()
  local child, uri = open()
  child:cmd("Hashline! accept")
  t.eq(decisions.said(child, 1)[1], { decision = "accept", uri = uri })
end)

t.test("a conflict asks for the way out, and a reason is asked for", function()
  local child, uri = open()
  child:lua("vim.ui.select = function(_, options, on_choice) asked, reply = options.prompt, on_choice end")
  child:type("3Ga")
  t.eq(child:lua("return asked"), "Conflicted: You changed a line.")
  child:type("5GR")
  child:wait("asked ~= 'Conflicted: You changed a line.'")
  child:lua("reply('wrong approach', 1)")
  local said = decisions.said(child, 1)[1]
  t.eq({ said.decision, said.edit, said.hunk, said.uri }, { "reject", OLDER, 1, uri })
end)

t.test("a hunk is gone to in its file", function()
  local child = open()
  child:type("2G<CR>")
  child:wait("vim.fn.expand('%:t') == 'a.txt'")
  t.eq(child:cursor()[1], 3)
end)

t.test("what another editor decides is only looked at", function()
  local child = open({ readOnly = true, owner = "VS Code 1.139" })
  child:type("5Gr")
  child:settle()
  child:type("u")
  child:wait("#echoed > 0")
  t.eq(child:said("hashline/decide"), {})
  local why = "These edits are decided in VS Code 1.139."
  t.eq({ child:notified(), child:echoed() }, { { why }, { why } })
end)

t.test("selected lines stay what they are while a new list comes, which is shown afterwards", function()
  local child, uri, answer = open()
  child:type("5GVj")
  answer({ edits()[2] })
  child:push("hashline/pendingEdits", list(uri, 0, { edits()[2] }))
  child:settle()
  t.eq({ child:lines(), #child:said("hashline/history") }, { SHOWN, 1 })
  child:type("<Esc>")
  child:wait("vim.fn.line('$') == 3")
end)

t.test("the cursor stays on its line of a hunk, and no line moves where nothing has changed", function()
  local child, uri, answer = open()
  child:type("6G<Tab>2j")
  t.eq(child:lua("return vim.fn.getline('.')"), "+ a half")
  child:lua("changed = vim.b.changedtick")
  for _, all in ipairs({
    edits(),
    { edits()[1], edits()[2], edit({ { number = 1, proposed = { "x" } } }, { id = "x" }) },
  }) do
    answer(all)
    child:push("hashline/pendingEdits", list(uri, 0, {}))
    child:wait(("vim.fn.line('$') == %d"):format(#all == 2 and 9 or 11))
    t.eq(child:lua("return vim.fn.getline('.')"), "+ a half")
    t.eq(child:lua("return vim.b.changedtick == changed"), #all == 2)
  end
end)

t.test("a list that comes before the answer has it asked for once more", function()
  local child, uri, answer = open()
  child:hold("hashline/history")
  child:push("hashline/pendingEdits", list(uri, 0, { edits()[2] }))
  child:push("hashline/pendingEdits", list(uri, 0, { edits()[2] }))
  answer({ edits()[2] })
  answer({ edits()[2] })
  child:hold("hashline/history")
  t.wait(function()
    return #child:said("hashline/history") == 3
  end, "it is asked for three times")
end)

t.test("a file that is opened again is followed, and decided by the sidecar that has it then", function()
  local child, uri, answer = open()
  child:cmd("Hashline restart")
  child:wait("vim.fn.getline(1) == ''") -- this one knows of nothing yet
  answer({ edits()[2] })
  child:push("hashline/pendingEdits", list(uri, 0, { edits()[2] }))
  child:wait("vim.fn.line('$') == 3")
  child:type("2Ga")
  t.eq(decisions.said(child, 1)[1].uri, uri)
  child:cmd("bwipeout a.txt")
  for _ = 1, 5 do -- by each sign that something has changed
    answer(edits())
  end
  child:cmd("wincmd n | edit a.txt | wincmd p")
  child:wait("vim.fn.line('$') == 7")
  child:type("2G<CR>")
  child:wait("vim.fn.expand('%:t') == 'a.txt'")
end)

t.test("nobody is asked while nobody looks", function()
  local child, uri, answer = open()
  child:cmd("tabnew")
  child:push("hashline/pendingEdits", list(uri, 0, { edits()[2] }))
  child:settle()
  t.eq(#child:said("hashline/history"), 1)
  answer({ edits()[2] })
  child:cmd("tabprevious")
  child:wait("vim.fn.line('$') == 3")
end)

t.test("hunks that are decided with others say so", function()
  local child, _, answer = start()
  answer({ edit({ { number = 1, lines = at(0, 1), proposed = { "x" }, partOf = OLDER .. ":2" } }) })
  child:cmd("Hashline history")
  child:wait("vim.bo.filetype == 'hashline'")
  t.eq(child:lines(), { "claude-code · edit_text_file", "  #1 · decided with b81d04e7:2" })
end)

t.test("there is one window at a time, and in it the command means the same file", function()
  local child, uri, answer = open()
  for _, from in ipairs({ "", "wincmd p | " }) do
    answer({ edits()[2] })
    child:cmd(from .. "Hashline history")
    child:wait("vim.bo.filetype == 'hashline' and vim.fn.line('$') == 3")
    t.eq(child:lua("return #vim.api.nvim_list_wins()"), 2)
  end
  t.eq(child:said("hashline/history")[2].params, { uri = uri })
end)

t.test("a list of another file, and one after the window was closed, ask for nothing", function()
  local child, uri = open()
  local other = vim.uri_from_fname(vim.fs.joinpath(child.folder, "other.txt"))
  child:push("hashline/pendingEdits", list(other, 0, { edits()[2] }))
  child:type("q")
  t.eq(child:lua("return #vim.api.nvim_list_wins()"), 1)
  child:push("hashline/pendingEdits", list(uri, 0, {}))
  child:settle()
  t.eq(#child:said("hashline/history"), 1)
end)

t.test("where nothing was done it is said, and what the sidecar refuses", function()
  local child, _, answer = start()
  answer({})
  child:cmd("Hashline history")
  child:wait("#echoed > 0")
  t.eq(child:echoed(), { "No agent has edited this file." })
  child:refuse("hashline/history", { code = -32601, message = "Method not found" })
  child:cmd("Hashline history")
  child:wait("#notified > 0")
  local older = "hashline: this sidecar is older than the plugin and has no history to show; update hashline"
  t.eq(child:notified(), { older })
  child:cmd("enew")
  child:cmd("Hashline history")
  t.eq(child:notified()[2], "hashline: the sidecar does not serve this buffer")
end)
