--- The review: what it shows, and what is decided in it.
local t = ...
local decisions = require("decisions")
local messages = require("messages")
local review = require("review_screen")
local at, edit, list = messages.at, messages.edit, messages.list

local LINES, replacing = review.LINES, review.replacing

local function start()
  return review.start(t)
end

local function first_edit(pending)
  return pending.open.edits[1]
end

t.test(
  "files on one side, all hunks on the other, the totals at the top, in a tab page of its own",
  function()
    local child = start()
    child:type("21G")
    child:cmd("Hashline review")
    t.eq(review.totals(child), "claude-code, codex · 4 hunks in 2 files, 1 conflicted")
    t.eq(review.lines(child, true), {
      "claude-code",
      "a.txt +3 -2 · 3 left",
      "codex",
      "not open.txt +1 -1 · 1 left  lib",
    })
    t.eq(review.lines(child), {
      "claude-code · 3 hunks in 1 file, 1 conflicted",
      "",
      "a.txt +3 -2 · 3 left",
      "▎ #1 · line 5 · +1 -1 · held",
      "  line 3",
      "  line 4",
      "- line 5",
      "+ five",
      "  line 6",
      "  line 7",
      "▎ #2 · after line 20 · +1 · held",
      "  line 19",
      "  line 20",
      "+ new",
      "  line 21",
      "  line 22",
      "▎ #3 · line 30 · +1 -1 · conflicted",
      "▎ Conflict: you changed line 30",
      "  line 28",
      "  line 29",
      "! line 30",
      "+ thirty",
      "  line 31",
      "  line 32",
      "",
      "codex · 1 hunk in 1 file",
      "",
      "not open.txt +1 -1 · 1 left  lib",
      "▎ #1 · line 2 · +1 -1 · in the text",
      "  x",
      "- y",
      "+ y",
      "  z",
      "",
    })
    t.eq(review.line(child), "▎ #2 · after line 20 · +1 · held", "the hunk at the cursor")
    t.eq(child:lua("return { vim.fn.tabpagenr('$'), #vim.api.nvim_tabpage_list_wins(0) }"), { 2, 2 })
    child:cmd("tabfirst | Hashline review")
    t.eq(
      child:lua("return { vim.fn.tabpagenr(), vim.fn.tabpagenr('$') }"),
      { 2, 2 },
      "asked again it is gone to"
    )
  end
)

t.test("with nothing to review none is opened, and none opens by itself", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  child:cmd("Hashline review")
  t.eq(child:echoed(), { "Nothing is left to review." })
  child:push("hashline/pendingEdits", list(uri, 0, { edit({ replacing(5, { "five" }) }) }))
  child:settle()
  t.eq(
    child:lua("return { vim.fn.tabpagenr('$'), #vim.api.nvim_list_wins(), #vim.api.nvim_list_bufs() }"),
    { 1, 1, 1 }
  )
end)

t.test("nothing of it is loaded before it is asked for", function()
  local child = start()
  local loaded =
    [[vim.tbl_filter(function(name) return name:find("hashline.review", 1, true) end, vim.tbl_keys(package.loaded))]]
  t.eq(child:lua("return " .. loaded), {})
  child:cmd("Hashline review")
  t.ok(#child:lua("return " .. loaded) > 1)
end)

t.test("accept: the hunk stays as one line, the cursor goes on, and the totals follow", function()
  local child, pending, push = start()
  child:cmd("Hashline review")
  child:answer("hashline/decide", { queued = { messages.ID .. ":1" }, refused = {} })
  child:type("a")
  t.eq(decisions.said(child, 1), {
    { decision = "accept", uri = pending.open.uri, edit = messages.ID, hunk = 1 },
  })
  t.eq(review.line(child), "▎ #1 · line 5 · +1 -1 · held", "not before it is decided")
  local hunk = first_edit(pending).hunks[1]
  hunk.deciding = true
  push("open")
  review.waits_for(t, child, "▎ #1 · line 5 · +1 -1 · deciding…")
  hunk.deciding, hunk.decision, hunk.state = false, "accepted", "inText"
  push("open")
  review.waits_for(t, child, "▎ #1 · +1 -1 · accepted")
  t.eq(review.line(child), "▎ #2 · after line 20 · +1 · held")
  t.eq(review.totals(child), "claude-code, codex · 4 hunks in 2 files, 1 conflicted · 1 decided")
  t.eq(review.lines(child, true)[2], "a.txt +3 -2 · 2 left")
  child:type("gg")
  child:type("3j")
  t.eq(review.line(child), "▎ #1 · +1 -1 · accepted")
  child:cmd("Hashline accept")
  t.eq(child:notified(), { "No hunk that is to be decided on this line." })
end)

t.test("when the person has gone elsewhere meanwhile, the cursor stays there", function()
  local child, pending, push = start()
  child:cmd("Hashline review")
  child:type("a")
  decisions.said(child, 1)
  child:type("8j")
  child:type("8k")
  t.eq(review.line(child), "▎ #1 · line 5 · +1 -1 · held")
  local hunk = first_edit(pending).hunks[1]
  hunk.decision, hunk.state = "accepted", "inText"
  push("open")
  review.waits_for(t, child, "▎ #1 · +1 -1 · accepted")
  t.eq(review.line(child), "▎ #1 · +1 -1 · accepted")
end)

t.test("what was reopened and is withdrawn then was not decided", function()
  local child, pending, push = start()
  child:cmd("Hashline review")
  local edits = vim.deepcopy(pending.open.edits)
  child:answer("hashline/decide", {
    queued = vim.tbl_map(function(number)
      return messages.ID .. ":" .. number
    end, { 1, 2, 3 }),
    refused = {},
  })
  child:type("A")
  decisions.said(child, 1)
  child:settle()
  push("open", {})
  review.waits_for(t, child, "▎ #1 · +1 -1 · accepted")
  push("open", edits)
  review.waits_for(t, child, "▎ #1 · line 5 · +1 -1 · held")
  push("open", {})
  child:settle()
  t.eq(review.totals(child), "codex · 1 hunk in 1 file")
end)

t.test(
  "what is decided altogether, and in no list any more, is told of until the review is closed",
  function()
    local child, pending, push = start()
    child:cmd("Hashline review")
    child:type(")")
    t.eq(review.line(child), "▎ #1 · line 2 · +1 -1 · in the text")
    child:answer("hashline/decide", { queued = { "other:1" }, refused = {} })
    child:type("r")
    decisions.said(child, 1)
    child:settle()
    push("other", {})
    review.waits_for(t, child, "▎ #1 · +1 -1 · rejected")
    t.eq(review.lines(child, true)[4], "not open.txt +1 -1 · decided  lib")
    local hunks = vim.deepcopy(first_edit(pending).hunks)
    push("open", {})
    child:settle()
    t.eq(
      review.totals(child),
      "codex · 1 hunk in 1 file · 1 decided · nothing is left to review",
      "withdrawn, nothing is told"
    )
    push("open", { edit(hunks) })
    child:type("q")
    child:cmd("Hashline review")
    t.eq(review.totals(child), "claude-code · 3 hunks in 1 file, 1 conflicted")
  end
)

t.test("reject, with a reason and without one, also of lines that are selected", function()
  local child, pending = start()
  child:cmd("Hashline review")
  child:type("R<Esc>")
  child:type("R3<CR>too terse<CR>")
  t.eq(decisions.said(child, 1)[1], {
    decision = "reject",
    uri = pending.open.uri,
    edit = messages.ID,
    hunk = 1,
    reason = "too terse",
  })
  child:type("r")
  t.eq(decisions.said(child, 2)[2].reason, nil)
  child:type("V8jr")
  local said = vim.tbl_map(function(decision)
    return { decision.decision, decision.hunk }
  end, vim.list_slice(decisions.said(child, 4), 3))
  t.eq(said, { { "reject", 1 }, { "reject", 2 } })
  child:type("V8jR1<CR>")
  t.eq(decisions.said(child, 6)[6].reason, "wrong approach")
end)

t.test("what was rejected is one line, which shows its text when asked for", function()
  local child, pending, push = start()
  child:cmd("Hashline review")
  local hunk = first_edit(pending).hunks[1]
  child:type("<Tab>")
  hunk.decision = "rejected"
  push("open")
  review.waits_for(t, child, "▎ #1 · +1 -1 · rejected")
  t.eq(review.lines(child)[5]:sub(1, 6), "▎ #2", "opened before or not")
  child:type("4G<Tab>")
  t.eq(vim.list_slice(review.lines(child), 4, 6), { "▎ #1 · +1 -1 · rejected", "- line 5", "+ five" })
  child:type("<Tab>")
  t.eq(review.lines(child)[5]:sub(1, 6), "▎ #2")
end)

t.test("a conflict asks for the way out", function()
  local child, pending = start()
  child:cmd("Hashline review")
  child:type("2J")
  t.ok(child:screen():find("· conflicted · Conflict: a to choose", 1, true), child:screen())
  decisions.choose(child, "Take the agent's")
  child:type("a")
  t.eq(decisions.said(child, 1), {
    { decision = "takeTheirs", uri = pending.open.uri, edit = messages.ID, hunk = 3 },
  })
end)

t.test("reopen: the decision at the cursor, else the last one; the cursor goes to what is back", function()
  local child, pending, push = start()
  local hunk = first_edit(pending).hunks[1]
  hunk.decision, hunk.state = "accepted", "inText"
  push("open")
  child:cmd("Hashline review")
  child:answer("hashline/decide", { queued = { "other:1" }, refused = {} })
  child:type(")a")
  decisions.said(child, 1)
  child:settle()
  push("other", {})
  review.waits_for(t, child, "▎ #1 · +1 -1 · accepted")
  child:type("gg4Gu")
  t.eq(
    decisions.said(child, 2)[2],
    { decision = "reopen", edit = messages.ID, hunk = 1 },
    "decided elsewhere"
  )
  child:type("ggu")
  t.eq(decisions.said(child, 3)[3], { decision = "reopen", edit = "other", hunk = 1 })
  push("other", {
    edit(
      { { lines = at(1, 2), removed = { "y" }, proposed = { "why" }, state = "inText" } },
      { id = "other", agent = "codex", conversation = "conv_2" }
    ),
  })
  review.waits_for(t, child, "▎ #1 · line 2 · +1 -1 · in the text")
  t.eq(review.line(child), "▎ #1 · line 2 · +1 -1 · in the text")
end)

t.test(
  "to the next and previous hunk and file, around the end, past what is decided, by count and by command",
  function()
    local child, pending, push = start()
    first_edit(pending).hunks[2].decision = "rejected"
    push("open")
    child:cmd("Hashline review")
    local FIRST, THIRD, OTHER =
      "▎ #1 · line 5 · +1 -1 · held",
      "▎ #3 · line 30 · +1 -1 · conflicted",
      "▎ #1 · line 2 · +1 -1 · in the text"
    for _, step in ipairs({
      { "J", THIRD },
      { "]h", OTHER },
      { "J", FIRST },
      { "K", OTHER },
      { "[h", THIRD },
      { ")", OTHER },
      { "]f", FIRST },
      { "(", OTHER },
      { "[f", FIRST },
      { "2J", OTHER },
      { "2K", FIRST },
      { ":Hashline prev<CR>", OTHER },
      { ":Hashline next 2<CR>", THIRD },
    }) do
      child:type(step[1])
      t.eq(review.line(child), step[2], step[1])
    end
    local marked = child:lua("return vim.fn.line('.', vim.fn.bufwinid('hashline://review/files$'))")
    t.eq(marked, 2, "the file is marked on the other side")
  end
)

t.test("a whole file, from a hunk of it and from the list of files", function()
  local child, pending = start()
  child:cmd("Hashline review")
  child:type("A")
  t.eq(decisions.said(child, 1)[1], { decision = "accept", uri = pending.open.uri })
  child:type("<C-w>h")
  child:type("G")
  child:type("X")
  t.eq(decisions.said(child, 2)[2], { decision = "reject", uri = pending.other.uri })
  child:type("a")
  t.eq(decisions.said(child, 3)[3], { decision = "accept", uri = pending.other.uri })
  t.eq(child:lua("return vim.fn.winnr()"), 1, "the cursor stays among the files")
  child:type("<CR>")
  t.eq(review.line(child), "▎ #1 · line 2 · +1 -1 · in the text", "to its hunk")
end)

t.test("a hunk's heading says why, where the agent does", function()
  local child, _, push = start()
  push("open", { edit({ replacing(5, { "five" }) }, { reason = "as issue 7 asks" }) })
  child:cmd("Hashline review")
  t.eq(review.line(child), "▎ #1 · line 5 · +1 -1 · held · as issue 7 asks")
  t.ok(child:screen():find("as issue 7 asks · a accept · r reject", 1, true), child:screen())
end)

t.test("where the keys do not fit behind a heading none are said", function()
  local child, _, push = start()
  push("open", { edit({ replacing(5, { "five" }) }, { reason = ("so "):rep(9) .. "it is" }) })
  child:cmd("Hashline review")
  local screen = child:screen()
  t.ok(screen:find("so it is", 1, true) and not screen:find("so it is ·", 1, true), screen)
  child:cmd("set columns=140")
  t.wait(function()
    return child:screen():find("so it is · a accept · r reject", 1, true)
  end, "with more room they are")
end)

--- A file that two agents have edited, one of them in two turns.
local function start_mixed()
  local child, pending, push = start()
  push("open", {
    edit({ replacing(5, { "five" }) }),
    edit({ replacing(10, { "ten" }) }, { id = "second" }),
    edit({ replacing(20, { "twenty" }) }, { id = "third", conversation = "conv_3" }),
    edit({ replacing(30, { "thirty" }) }, { id = "fourth", agent = "codex", conversation = "conv_2" }),
  })
  return child, pending, push
end

t.test("one agent alone: what is accepted with the file is its own", function()
  local child, pending = start_mixed()
  child:cmd("Hashline review")
  decisions.choose(child, "codex")
  child:type("f")
  t.eq(child:lua("return offered"), {
    { "Show the edits of which agent?", { "All agents", "claude-code", "codex" } },
  })
  t.eq(review.totals(child), "codex alone · 2 hunks in 2 files")
  t.eq(review.lines(child, true), { "a.txt +1 -1 · 1 left", "not open.txt +1 -1 · 1 left  lib" })
  child:type("ggJA")
  t.eq(decisions.said(child, 1), { { decision = "accept", uri = pending.open.uri, edit = "fourth" } })
  decisions.choose(child, "All agents")
  child:type("f")
  t.eq(review.totals(child), "claude-code, codex · 5 hunks in 2 files")
end)

t.test("turn by turn, where an agent groups its calls, or file by file", function()
  local child, pending = start_mixed()
  child:cmd("Hashline review")
  local function files()
    return vim.tbl_map(function(line)
      return (line:gsub(" [+-]%d+", ""))
    end, review.lines(child, true))
  end
  t.eq(files(), {
    "claude-code · turn 1",
    "a.txt · 2 left",
    "claude-code · turn 2",
    "a.txt · 1 left",
    "codex · turn 1",
    "a.txt · 1 left",
    "not open.txt · 1 left  lib",
  })
  t.eq(review.lines(child)[1], "claude-code · turn 1 · 2 hunks in 1 file")
  child:type("ggJA")
  local said = decisions.said(child, 2)
  t.eq({ said[1].edit, said[2].edit }, { messages.ID, "second" }, "of this turn alone")
  child:type("t")
  t.eq(
    files(),
    { "claude-code", "a.txt · 3 left", "codex", "a.txt · 1 left", "not open.txt · 1 left  lib" }
  )
  t.eq(pending.open.uri, said[1].uri)
end)

t.test("a long hunk begins, and is shown in whole when asked for; a file is folded", function()
  local child, _, push = start()
  local long = {}
  for i = 1, 68 do
    long[i] = "row " .. i
  end
  push("open", { edit({ { lines = at(20, 20), proposed = long } }) })
  child:cmd("Hashline review")
  local lines = review.lines(child)
  t.eq({ lines[7], lines[26], lines[27] }, { "+ row 1", "+ row 20", "… 48 more lines" })
  child:type("<Tab>")
  t.eq(review.lines(child)[7 + 67], "+ row 68")
  child:type("za")
  t.eq(review.lines(child)[27], "… 48 more lines")
  local removed = vim.list_slice(LINES, 1, 30)
  push("open", { edit({ { lines = at(0, 30), removed = removed, proposed = long } }) })
  review.waits_for(t, child, "… 20 more lines")
  lines = review.lines(child)
  t.eq({ lines[14], lines[15], lines[16], lines[25], lines[26] }, {
    "- line 10",
    "… 20 more lines",
    "+ row 1",
    "+ row 10",
    "… 58 more lines",
  }, "the beginning of both sides")
  push("open", { edit({ { lines = at(20, 20), proposed = long } }) })
  review.waits_for(t, child, "… 48 more lines")
  child:type("3G<Tab>")
  t.eq(vim.list_slice(review.lines(child), 3, 4), { "a.txt +68 · 1 left · folded", "" })
  child:type(")")
  t.eq(review.line(child), "▎ #1 · line 2 · +1 -1 · in the text")
  child:type("(")
  t.eq(review.line(child), "a.txt +68 · 1 left · folded")
end)

t.test("files that are not there can be decided in it", function()
  local child, _, push = start()
  push("open", {})
  push("other", {})
  local function of_file(name, file, state, more)
    local uri = vim.uri_from_fname(vim.fs.joinpath(child.folder, name))
    local hunks = vim.list_extend({ { file = file, state = state } }, more or {})
    child:push("hashline/pendingEdits", list(uri, vim.NIL, { edit(hunks, { id = name }) }))
    return uri
  end
  of_file("gone.js", "remove the file", "inText")
  of_file("going.js", "remove the file", "held")
  of_file("moved.js", "rename the file to " .. child.folder .. "/moved.js", "inText")
  of_file("mv.js", "rename the file to " .. child.folder .. "/new.js", "held")
  local made = of_file("made.js", "make the file", "held", { { lines = at(0, 0), proposed = { "1", "2" } } })
  child:cmd("Hashline review")
  t.eq(review.lines(child, true), {
    "going.js to be deleted · 1 left",
    "gone.js deleted · 1 left",
    "made.js to be created +2 · 2 left",
    "moved.js renamed · 1 left",
    "mv.js → new.js · 1 left",
  })
  local said = {}
  for _, line in ipairs(review.lines(child)) do
    said[#said + 1] = vim.startswith(line, "▎") and line or nil
  end
  t.eq(said, {
    "▎ to be deleted · held",
    "▎ deleted",
    "▎ to be created · held",
    "▎ #2 · before line 1 · +2 · held",
    "▎ renamed",
    "▎ mv.js → new.js · held",
  })
  child:type("/#2<CR>A")
  t.eq(decisions.said(child, 1), { { decision = "accept", uri = made } })
  child:type("<CR>")
  child:wait("vim.list_contains(echoed, ...)", "There is no file made.js now; it can be decided here.")
  t.eq(child:lua("return vim.fn.tabpagenr()"), 2)
end)

t.test("what another editor decides is told, and not decided here", function()
  local child, pending, push = start()
  pending.open.readOnly, pending.open.owner = true, "VS Code 1.139"
  push("open")
  child:cmd("Hashline review")
  t.eq(review.lines(child, true)[2], "a.txt +3 -2 · 3 left · decided in VS Code 1.139")
  t.ok(child:screen():find("· held · decided in VS Code 1.139", 1, true), child:screen())
  child:type("a")
  t.eq(child:notified(), { "These edits are decided in VS Code 1.139." })
  t.eq(decisions.said(child, 0), {})
end)
