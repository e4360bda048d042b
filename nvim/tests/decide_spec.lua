--- What is said to the sidecar, and the ways out where a decision is refused.
local t = ...
local decisions = require("decisions")
local messages = require("messages")
local at, edit, list = messages.at, messages.edit, messages.list

local LINES = { "one", "two", "three", "four", "five", "six" }

local function start(hunks, more)
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  child:push(
    "hashline/pendingEdits",
    list(uri, 0, {
      edit(hunks or {
        { lines = at(1, 2), removed = { "two" }, proposed = { "TWO" } },
        { lines = at(3, 3), proposed = { "between" } },
        { lines = at(4, 5), removed = { "five" } },
      }),
    }, more)
  )
  return child, uri
end

local function refusal(why, fields)
  return vim.tbl_extend(
    "force",
    { hunk = messages.ID .. ":1", why = why, message = "it is " .. why, others = {} },
    fields or {}
  )
end

t.test("the hunk at the cursor, with every field of the page", function()
  local child, uri = start()
  child:type("jj0")
  child:cmd("2")
  child:cmd("Hashline accept")
  t.wait(function()
    return #child:said("hashline/decide") == 1
  end, "it is said")
  t.eq(child:said("hashline/decide")[1].params, {
    decision = "accept",
    uri = uri,
    edit = messages.ID,
    hunk = 1,
    conversation = vim.NIL,
    lines = vim.NIL,
    reason = vim.NIL,
    text = vim.NIL,
    edited = vim.NIL,
    withOthers = false,
  })
end)

for command, expected in pairs({
  ["3 | Hashline accept"] = { decision = "accept", edit = messages.ID, hunk = 2 },
  ["2 | Hashline keep"] = { decision = "accept", edit = messages.ID, hunk = 1 },
  ["5 | Hashline reject the caller greets | really"] = {
    decision = "reject",
    edit = messages.ID,
    hunk = 3,
    reason = "the caller greets | really",
  },
  ["5 | Hashline undo"] = { decision = "reject", edit = messages.ID, hunk = 3 },
  ["Hashline! accept"] = { decision = "accept" },
  ["Hashline reject! no"] = { decision = "reject", reason = "no" },
  ["1,4Hashline accept"] = { decision = "accept", lines = at(0, 4) },
  ["%Hashline reject"] = { decision = "reject", lines = at(0, 6) },
  ["2,2Hashline reject"] = { decision = "reject", edit = messages.ID, hunk = 1 },
}) do
  t.test(":" .. command, function()
    local child, uri = start()
    child:cmd(command)
    t.eq(decisions.said(child, 1), { vim.tbl_extend("force", { uri = uri }, expected) })
  end)
end

t.test("<Plug> maps: at the cursor, selected lines, repeated by a dot", function()
  local child, uri = start()
  child:cmd("nmap ga <Plug>(HashlineAccept)")
  child:cmd("xmap gR <Plug>(HashlineReject)")
  child:cmd("nmap ]h <Plug>(HashlineNext)")
  child:type("gg]hga")
  t.eq(decisions.said(child, 1)[1].hunk, 1)
  child:type("]h.")
  t.eq(decisions.said(child, 2)[2], { decision = "accept", uri = uri, edit = messages.ID, hunk = 2 })
  child:type("ggVGgR")
  t.eq(decisions.said(child, 3)[3], { decision = "reject", uri = uri, lines = at(0, 6) })
  t.eq(child:lua("return vim.fn.mode()"), "n")
end)

t.test("operators: what a motion or a text object goes over, repeated by a dot", function()
  local child, uri = start()
  child:cmd("nmap gA <Plug>(HashlineAcceptMotion)")
  child:cmd("nmap gR <Plug>(HashlineRejectMotion)")
  child:cmd("omap ih <Plug>(HashlineHunk)")
  child:type("gggAj")
  t.eq(decisions.said(child, 1)[1], { decision = "accept", uri = uri, edit = messages.ID, hunk = 1 })
  child:type("j.")
  t.eq(decisions.said(child, 2)[2], { decision = "accept", uri = uri, lines = at(1, 3) })
  child:type("gggRip")
  t.eq(decisions.said(child, 3)[3], { decision = "reject", uri = uri, lines = at(0, 6) })
  child:type("5GgRih")
  t.eq(decisions.said(child, 4)[4], { decision = "reject", uri = uri, edit = messages.ID, hunk = 3 })
end)

--- A person who has set the questions to something of their own, which answers later.
local function ask_later(child)
  child:lua([[
    vim.ui.select = function(items, options, answer)
      asked, reply = { options.prompt, items }, function(at) answer(items[at], at) end
    end
    vim.ui.input = function(options, answer) asked, reply = options.prompt, answer end
  ]])
end

t.test("a reason is chosen or typed, and is about the hunk that was meant then", function()
  local child, uri = start()
  child:cmd("nmap gR <Plug>(HashlineRejectReason)")
  ask_later(child)
  child:type("jgR")
  t.eq(child:lua("return asked"), { "Why? The agent is told.", { "Wrong approach", "Not here", "Type…" } })
  child:type("4G")
  child:answer("hashline/decide", { queued = { messages.ID .. ":1" }, refused = {} })
  child:lua("echoed = {}; reply(2)")
  local first = { decision = "reject", uri = uri, edit = messages.ID, hunk = 1, reason = "not here" }
  t.eq(decisions.said(child, 1), { first })
  child:wait("#echoed > 0")
  t.eq(child:echoed(), { 'Rejected. Told claude-code: "not here". 2 left here' })
  child:type("ggj")
  child:cmd("Hashline reason")
  child:lua("reply(3)")
  t.eq(child:lua("return asked"), "Why? The agent is told. ")
  child:lua("reply(' use a constant ')")
  t.eq(decisions.said(child, 2)[2].reason, "use a constant")
  child:cmd("2,6Hashline reason")
  child:lua("reply(1)")
  local several = vim.list_slice(decisions.said(child, 5), 3)
  for number, said in ipairs(several) do
    local expected =
      { decision = "reject", uri = uri, edit = messages.ID, hunk = number, reason = "wrong approach" }
    t.eq(said, expected, "by name, as the lines may move before the reply")
  end
  child:cmd("Hashline! reason")
  child:lua("reply(1)")
  t.eq(decisions.said(child, 6)[6], { decision = "reject", uri = uri, reason = "wrong approach" })
end)

t.test("where the person leaves the question nothing is rejected", function()
  local child = start()
  child:cmd("nmap gR <Plug>(HashlineRejectReason)")
  ask_later(child)
  for _, answers in ipairs({ { "nil" }, { "3", "nil" }, { "3", "''" }, { "3", "'  '" } }) do
    child:type("ggjgR")
    for _, answer in ipairs(answers) do
      child:lua(("reply(%s)"):format(answer))
    end
    child:settle()
    t.eq({ child:said("hashline/decide"), child:notified() }, { {}, {} }, table.concat(answers, ", "))
  end
end)

t.test(
  "the questions that Neovim has: by number and Enter, or left by Escape; a plain rejection asks nothing",
  function()
    local child = start()
    child:cmd("nmap gR <Plug>(HashlineRejectReason)")
    child:cmd("nmap gr <Plug>(HashlineReject)")
    child:type("jgR<Esc>")
    child:type("gR3<CR><Esc>")
    child:settle()
    t.eq(child:said("hashline/decide"), {})
    child:type("gR3<CR>use a constant<CR>")
    t.eq(decisions.said(child, 1)[1].reason, "use a constant")
    child:type("gr")
    t.eq(decisions.said(child, 2)[2].reason, nil)
  end
)

t.test("a comment is told, shown beside the hunk, and decides nothing", function()
  local child, uri = start()
  child:answer("hashline/decide", { queued = { messages.ID .. ":1" }, refused = {} })
  child:cmd("2 | Hashline comment is it used?")
  t.eq(
    decisions.said(child, 1)[1],
    { decision = "comment", uri = uri, edit = messages.ID, hunk = 1, reason = "is it used?" }
  )
  child:wait("#echoed > 0")
  t.eq(child:echoed(), { 'Commented. Told claude-code: "is it used?". 3 left here' })
  child:push(
    "hashline/pendingEdits",
    list(
      uri,
      0,
      { edit({ { lines = at(1, 2), removed = { "two" }, proposed = { "2" }, reason = "is it used?" } }) }
    )
  )
  t.ok(child:screen():find('told "is it used?"', 1, true), child:screen())
  child:cmd("Hashline reopen")
  t.eq(#child:said("hashline/decide"), 1, "there is no decision to take back")
  child:type("2G:Hashline comment<CR><Esc>")
  child:settle()
  t.eq(#child:said("hashline/decide"), 1, "who leaves the question says nothing")
end)

t.test("what was rejected here can be seen again, the last first, and reopened", function()
  local child, uri = start()
  local function rejected()
    child:cmd("Hashline rejected")
    return child:lines()
  end
  t.eq(rejected(), child:lines(), "no window")
  t.eq(child:echoed(), { "Nothing was rejected here." })
  for _, number in ipairs({ 1, 3 }) do
    child:answer("hashline/decide", { queued = { messages.ID .. ":" .. number }, refused = {} })
    child:cmd(
      (number == 1 and "2" or "5") .. " | Hashline reject" .. (number == 1 and "" or " use a constant")
    )
    decisions.said(child, number == 1 and 1 or 2)
    child:settle()
  end
  child:push("hashline/pendingEdits", list(uri, 0, {}))
  t.eq(rejected(), {
    'a.txt · claude-code · #3 · -1 · told "use a constant"',
    "- five",
    "a.txt · claude-code · #1 · +1 -1",
    "- two",
    "+ TWO",
  })
  t.ok(child:screen():find("h\nRR.*h\nRR[^\n]*\nAA"), child:screen())
  child:type("Gu")
  t.eq(decisions.said(child, 3)[3], { decision = "reopen", edit = messages.ID, hunk = 1 })
  t.eq(child:lua("return #vim.api.nvim_list_wins()"), 1)
  child:push(
    "hashline/pendingEdits",
    list(uri, 0, { edit({ { lines = at(1, 2), removed = { "two" }, proposed = { "2" } } }) })
  )
  t.eq(#rejected(), 2, "what is to be decided again is not among them")
  child:type("q")
  t.eq(child:lua("return #vim.api.nvim_list_wins()"), 1)
  child:answer("hashline/decide", { queued = { messages.ID .. ":1" }, refused = {} })
  child:cmd("2 | Hashline accept")
  decisions.said(child, 4)
  child:settle()
  child:push("hashline/pendingEdits", list(uri, 0, {}))
  t.eq(#rejected(), 2, "nor what was accepted after all")
end)

t.test("<Plug>(HashlineAccept) on an empty line", function()
  local child = t.start()
  local uri = child:open("a.txt", { "one", "", "two" })
  child:push(
    "hashline/pendingEdits",
    list(uri, 0, { edit({ { lines = at(1, 2), removed = { "" }, proposed = { "x" } } }) })
  )
  child:cmd("nmap ga <Plug>(HashlineAccept)")
  child:type("jga")
  t.eq(decisions.said(child, 1)[1].hunk, 1)
end)

t.test("the text object takes the lines of the hunk", function()
  local child = start({ { lines = at(1, 3), removed = { "two", "three" } } })
  child:cmd("omap ih <Plug>(HashlineHunk)")
  child:type("jjdih")
  t.eq(child:lines(), { "one", "four", "five", "six" })
end)

t.test("nothing here, nothing at all, another's", function()
  local child = start()
  child:cmd("6 | Hashline accept")
  t.eq(child:notified(), { "No hunk on this line. 3 in this file: :Hashline next" })
  child:cmd("6Hashline accept")
  t.eq(child:notified()[2], "No hunk in these lines. 3 in this file: :Hashline next")
  child:cmd("enew | Hashline accept")
  t.eq(child:notified()[3], "Nothing to review in this file. 3 in 1 other file: :Hashline next")
  child:cmd("Hashline accpt")
  t.ok(
    child
      :notified()[4]
      :find("there is no `:Hashline accpt`; there are accept, comment, conversation", 1, true)
  )
  child:cmd("Hashline! next")
  t.ok(child:notified()[5]:find("takes no !", 1, true))
  child:cmd("Hashline accept all")
  t.eq(child:notified()[6], "hashline: `:Hashline accept` takes no words, and got `all`")
  child = start(nil, { readOnly = true, owner = "VS Code" })
  child:cmd("2 | Hashline accept")
  t.eq(child:notified(), { "These edits are decided in VS Code." })
  t.eq(child:said("hashline/decide"), {})
end)

--- Says which hunks the sidecar takes a decision of.
local function queues(child, numbers)
  child:answer("hashline/decide", {
    queued = vim.tbl_map(function(number)
      return messages.ID .. ":" .. number
    end, numbers),
    refused = {},
  })
end

t.test("after a decision: what is left, here and elsewhere", function()
  local child, uri = start()
  local function push(name, ids)
    local edits = {}
    for _, id in ipairs(ids) do
      edits[#edits + 1] = edit({ { lines = at(0, 0), proposed = { "x" } } }, { id = id })
    end
    child:push("hashline/pendingEdits", list(vim.fs.dirname(uri) .. "/" .. name, vim.NIL, edits))
  end
  local function says(command, numbers, expected)
    queues(child, numbers)
    child:cmd(command)
    child:wait("#echoed == 1")
    t.eq(child:echoed(), { expected }, command)
  end
  says("2 | Hashline accept", { 1 }, "Accepted. 2 left here")
  push("b.txt", { "b" })
  says("3 | Hashline reject", { 2 }, "Rejected. 2 left here, 1 in 1 other file")
  push("c.txt", { "c", "c2" })
  says("Hashline! accept", { 1, 2, 3 }, "Accepted. 3 left in 2 other files")
  child:push(
    "hashline/pendingEdits",
    list(uri, 0, {
      edit({ { state = "inText", lines = at(1, 2), removed = { "TWO" }, proposed = { "two" } } }),
    })
  )
  says("2 | Hashline keep", { 1 }, "Kept. 3 left in 2 other files")
  says("2 | Hashline undo", { 1 }, "Undone. 3 left in 2 other files")
  child:cmd("Hashline list")
  says("2,4Hashline reject", {}, "Rejected. 1 left in 1 file")
  child:cmd("wincmd p")
  push("b.txt", {})
  push("c.txt", {})
  says("2 | Hashline keep", { 1 }, "Kept. Nothing is left to review.")
  child:answer("hashline/decide", { queued = {}, refused = { refusal("gone") } })
  child:cmd("2 | Hashline keep")
  child:wait("#notified == 1")
  child:lua("vim.wait(100)")
  t.eq(child:echoed(), {}, "nothing was decided")
end)

for wish, decision in pairs({
  ["Keep mine"] = "keepMine",
  ["Take the agent's"] = "takeTheirs",
  ["Keep both"] = "keepBoth",
}) do
  t.test("accepting a conflicted hunk: " .. wish, function()
    local child, uri = start({
      {
        state = "conflicted",
        conflict = "you changed line 2",
        lines = at(1, 2),
        removed = { "TWO" },
        proposed = { "2" },
      },
    })
    decisions.choose(child, wish)
    child:cmd("2 | Hashline accept")
    t.eq(decisions.said(child, 1), { { decision = decision, uri = uri, edit = messages.ID, hunk = 1 } })
    t.eq(child:lua("return offered"), {
      {
        "Conflicted: you changed line 2",
        { "Keep mine", "Take the agent's", "Keep both", "Edit by hand", "Cancel" },
      },
    })
  end)
end

t.test("a conflicted hunk, edited by hand: the agent's lines below, nothing decided", function()
  local child, uri = start({
    {
      state = "conflicted",
      conflict = "you changed line 2",
      lines = at(1, 2),
      removed = { "TWO" },
      proposed = { "2", "2b" },
    },
  })
  decisions.choose(child, "Edit by hand")
  child:cmd("2 | Hashline accept")
  child:wait("#vim.api.nvim_list_wins() == 2")
  t.eq(
    child:lua([[
      local win = vim.api.nvim_list_wins()[2]
      local buf = vim.api.nvim_win_get_buf(win)
      return {
        vim.fn.expand("%:t"),
        vim.api.nvim_win_get_cursor(0)[1],
        vim.api.nvim_buf_get_lines(buf, 0, -1, true),
        vim.bo[buf].modifiable,
        vim.api.nvim_win_get_height(win),
        vim.api.nvim_eval_statusline(vim.wo[win].winbar, { winid = win, use_winbar = true }).str,
      }
    ]]),
    {
      "a.txt",
      2,
      { "2", "2b" },
      false,
      3,
      "▎ from claude-code · when yours is right: :Hashline accept, Keep mine",
    }
  )
  child:cmd("2 | Hashline accept")
  child:settle()
  t.eq(child:lua("return #vim.api.nvim_list_wins()"), 2, "asked again it is the same window")
  t.eq(child:said("hashline/decide"), {})
  child:push("hashline/pendingEdits", list(uri, 0, {}))
  t.eq(child:lua("return #vim.api.nvim_list_wins()"), 1, "it goes when the hunk is decided")
  t.eq(child:lua("return #vim.fn.getbufinfo({ buflisted = 1 })"), 1)
end)

for wish, edited in pairs({ ["Undo it, my changes too"] = "undo", ["Undo it, keep my lines"] = "keep" }) do
  t.test("undoing an edited hunk: " .. wish, function()
    local child, uri =
      start({ { state = "edited", lines = at(1, 2), removed = { "TWO" }, proposed = { "2" } } })
    decisions.choose(child, wish)
    child:cmd("2 | Hashline undo not so")
    t.eq(decisions.said(child, 1), {
      { decision = "reject", uri = uri, edit = messages.ID, hunk = 1, reason = "not so", edited = edited },
    })
    t.eq(child:lua("return offered"), {
      { "You changed lines of this hunk", { "Undo it, my changes too", "Undo it, keep my lines", "Cancel" } },
    })
  end)
end

t.test("cancelling decides nothing", function()
  local child = start({ { state = "edited", lines = at(1, 2), removed = { "TWO" }, proposed = { "2" } } })
  decisions.choose(child, "Cancel")
  child:cmd("2 | Hashline undo")
  t.eq(child:said("hashline/decide"), {})
end)

t.test("refused: it needs others", function()
  local child, uri = start()
  decisions.choose(child, "Accept with the 2 it builds on")
  child:answer(
    "hashline/decide",
    { queued = {}, refused = { refusal("needsOthers", { others = { "x:1", "y:2" } }) } }
  )
  child:cmd("2 | Hashline accept")
  t.eq(
    decisions.said(child, 2)[2],
    { decision = "accept", uri = uri, edit = messages.ID, hunk = 1, withOthers = true }
  )
end)

t.test("refused: it collides with another", function()
  local child, uri = start()
  decisions.choose(child, "Undo the other, then accept this")
  child:answer(
    "hashline/decide",
    { queued = {}, refused = { refusal("collides", { others = { "other-edit:4" } }) } }
  )
  child:cmd("2 | Hashline accept")
  t.eq(vim.list_slice(decisions.said(child, 3), 2), {
    { decision = "reject", edit = "other-edit", hunk = 4 },
    { decision = "accept", uri = uri, edit = messages.ID, hunk = 1 },
  })
end)

t.test("a way out of a conflict is refused: the next way is asked for", function()
  local child, uri = start({
    {
      state = "conflicted",
      conflict = "you changed line 2",
      lines = at(1, 2),
      removed = { "TWO" },
      proposed = { "2" },
    },
  })
  child:lua([[
    prompts = {}
    vim.ui.select = function(items, options, on_choice)
      table.insert(prompts, options.prompt)
      for i, item in ipairs(items) do
        local label = options.format_item(item)
        if label == "Take the agent's" or label == "Undo the other, then take the agent's" then
          return on_choice(item, i)
        end
      end
    end
  ]])
  child:answer(
    "hashline/decide",
    { queued = {}, refused = { refusal("collides", { others = { "other-edit:4" } }) } }
  )
  child:cmd("2 | Hashline accept")
  t.eq(decisions.said(child, 3), {
    { decision = "takeTheirs", uri = uri, edit = messages.ID, hunk = 1 },
    { decision = "reject", edit = "other-edit", hunk = 4 },
    { decision = "takeTheirs", uri = uri, edit = messages.ID, hunk = 1 },
  })
  t.eq(child:lua("return prompts"), { "Conflicted: you changed line 2", "it is collides" })
end)

t.test("refused: it became conflicted, or edited, meanwhile", function()
  local child = start()
  decisions.choose(child, "Keep both")
  child:answer("hashline/decide", { queued = {}, refused = { refusal("conflicted") } })
  child:cmd("2 | Hashline accept")
  t.eq(decisions.said(child, 2)[2].decision, "keepBoth")
  decisions.choose(child, "Undo it, keep my lines")
  child:answer("hashline/decide", { queued = {}, refused = { refusal("edited") } })
  child:cmd("2 | Hashline reject")
  t.eq(decisions.said(child, 4)[4].edited, "keep")
end)

t.test("a hunk that I changed, that others are built on: undone with them", function()
  local child, uri = start({
    { state = "edited", lines = at(1, 2), removed = { "TWO" }, proposed = { "2" } },
  })
  child:lua([[
    labels = {}
    vim.ui.select = function(items, options, on_choice)
      for i, item in ipairs(items) do
        local label = options.format_item(item)
        table.insert(labels, label)
        if label == "Undo it, my changes too" or label:find("built on it") then
          return on_choice(item, i)
        end
      end
    end
  ]])
  child:answer(
    "hashline/decide",
    { queued = {}, refused = { refusal("needsOthers", { others = { "other-edit:4" } }) } }
  )
  child:cmd("2 | Hashline reject")
  local asked = { decision = "reject", uri = uri, edit = messages.ID, hunk = 1, edited = "undo" }
  t.eq(decisions.said(child, 2), { asked, vim.tbl_extend("force", asked, { withOthers = true }) })
  t.eq(child:lua("return labels[#labels]"), "Undo with the one built on it")
end)

t.test("refused: the file has a conflicted hunk, the others can be accepted", function()
  local child = start()
  decisions.choose(child, "Accept the 2 others")
  child:answer("hashline/decide", { queued = {}, refused = { refusal("conflicted") } })
  child:cmd("Hashline! accept")
  local decided = decisions.said(child, 3)
  t.eq({ decided[2].hunk, decided[3].hunk }, { 2, 3 })
end)

t.test("what was decided as one is reopened as one; what is refused then can be reopened later", function()
  local child = start()
  decisions.choose(child, "Accept the 2 others")
  child:answer("hashline/decide", { queued = {}, refused = { refusal("conflicted") } })
  child:answer("hashline/decide", { queued = { messages.ID .. ":2" }, refused = {} })
  child:answer("hashline/decide", { queued = { messages.ID .. ":3" }, refused = {} })
  child:cmd("Hashline! accept")
  decisions.said(child, 3)
  child:settle()
  child:answer("hashline/decide", { queued = { messages.ID .. ":2" }, refused = {} })
  child:answer("hashline/decide", {
    queued = {},
    refused = { refusal("failed", { hunk = messages.ID .. ":3" }) },
  })
  child:cmd("Hashline reopen")
  local decided = decisions.said(child, 5)
  t.eq({ decided[4].decision, decided[4].hunk }, { "reopen", 2 })
  t.eq({ decided[5].decision, decided[5].hunk }, { "reopen", 3 })
  child:wait("#notified == 1")
  child:cmd("Hashline reopen")
  t.eq(decisions.said(child, 6)[6].hunk, 3)
  child:settle()
  child:cmd("Hashline reopen")
  t.eq(child:notified()[2], "hashline: no decision was made here that could be taken back")
end)

--- A person who accepts a hunk, rejects another, and takes that back before the sidecar has given this answer to it.
local function reopening_early(answer)
  local child = start()
  child:answer("hashline/decide", { queued = { messages.ID .. ":1" }, refused = {} })
  child:answer("hashline/decide", answer)
  child:cmd("2 | Hashline accept")
  decisions.said(child, 1)
  child:settle()
  child:hold("hashline/decide")
  child:cmd("5 | Hashline reject")
  child:cmd("Hashline reopen")
  return child
end

t.test("a decision that the sidecar has not answered is what is reopened, once it is", function()
  local child = reopening_early({ queued = { messages.ID .. ":3" }, refused = {} })
  t.eq(#decisions.said(child, 2), 2, "it waits")
  child:hold("hashline/decide")
  t.eq(decisions.said(child, 3)[3], { decision = "reopen", edit = messages.ID, hunk = 3 })
  child:settle()
  child:cmd("Hashline reopen")
  t.eq(decisions.said(child, 4)[4], { decision = "reopen", edit = messages.ID, hunk = 1 })
end)

t.test("a decision that is refused after it was taken back reopens nothing", function()
  local child = reopening_early({ queued = {}, refused = { refusal("gone") } })
  child:hold("hashline/decide")
  child:wait("#notified == 1")
  child:settle()
  t.eq(#decisions.said(child, 2), 2)
end)

t.test("what a sidecar that ended never answered is left out", function()
  local child = start()
  child:hold("hashline/decide")
  child:cmd("2 | Hashline accept")
  decisions.said(child, 1)
  child:lua("first = vim.lsp.get_clients({ name = 'hashline' })[1].id")
  child:cmd("Hashline restart")
  child:wait("(vim.lsp.get_clients({ name = 'hashline' })[1] or { id = first }).id ~= first")
  child:cmd("Hashline reopen")
  t.eq(child:notified()[#child:notified()], "hashline: no decision was made here that could be taken back")
end)

t.test("refused: gone, and failures, are told", function()
  local child = start()
  child:answer("hashline/decide", { queued = {}, refused = { refusal("gone"), refusal("gone") } })
  child:cmd("2 | Hashline accept")
  child:wait("#notified == 1")
  t.eq(child:notified(), { "hashline: it is gone (and 1 more)" })
end)
