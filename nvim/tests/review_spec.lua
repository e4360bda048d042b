--- The review: what it shows, its keys, and what it follows.
local t = ...
local decisions = require("decisions")
local messages = require("messages")
local review = require("review_screen")
local at, edit, list = messages.at, messages.edit, messages.list

local LINES = {}
for i = 1, 40 do
  LINES[i] = "line " .. i
end

local function replacing(line, proposed, more)
  local hunk = { lines = at(line - 1, line), removed = { LINES[line] }, proposed = proposed }
  return vim.tbl_extend("force", hunk, more or {})
end

--- An open file with three hunks, and one that is not open with a hunk of another agent. What is pushed is kept, to be changed.
---@return Child
---@return { open: table, other: table } pending
---@return fun(which: "open"|"other", edits: table[]) push
local function start(settings)
  local child = t.start(settings, { 40, 100 })
  local uri = child:open("a.txt", LINES)
  local other = vim.uri_from_fname(vim.fs.joinpath(child.folder, "lib/not open.txt"))
  vim.fn.mkdir(child.folder .. "/lib")
  vim.fn.writefile({ "x", "y", "z" }, vim.uri_to_fname(other))
  local pending = {
    open = list(uri, 0, {
      edit({
        replacing(5, { "five" }),
        { lines = at(20, 20), proposed = { "new" } },
        replacing(30, { "thirty" }, { state = "conflicted", conflict = "you changed line 30" }),
      }),
    }),
    other = list(other, vim.NIL, {
      edit(
        { { lines = at(1, 2), removed = { "y" }, proposed = { "why" }, state = "inText" } },
        { id = "other", agent = "codex", conversation = "conv_2" }
      ),
    }),
  }
  local function push(which, edits)
    pending[which].edits = edits or pending[which].edits
    child:push("hashline/pendingEdits", pending[which])
  end
  push("open")
  push("other")
  return child, pending, push
end

--- The lines of a list of decisions without what is the same in all.
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
  child:type("Rtoo terse<CR>")
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
  t.eq(child:lua("return vim.fn.getline(vim.fn.line('.', vim.fn.win_getid(2))) ~= nil and vim.fn.winnr()"), 1)
  child:type("<CR>")
  t.eq(review.line(child), "▎ #1 · line 2 · +1 -1 · in the text", "to its hunk")
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

t.test("a new edit while it is open: cursor, scrolling and focus stay where they are", function()
  local child, pending, push = start()
  child:cmd("Hashline review")
  child:type("2J")
  child:type("zt")
  local function place()
    return child:lua(
      "return { vim.api.nvim_get_current_line(), vim.fn.winline(), vim.api.nvim_get_current_win() }"
    )
  end
  local before = place()
  t.eq(before[2], 1)
  local more = edit({ { lines = at(2, 2), proposed = { "a", "b", "c" } } }, { id = "second" })
  push("open", { pending.open.edits[1], more })
  review.waits_for(t, child, "▎ #1 · after line 2 · +3 · held")
  t.eq(place(), before)
  t.eq(review.totals(child), "claude-code, codex · 5 hunks in 2 files, 1 conflicted")
  local hunks = pending.open.edits[1].hunks
  hunks[1].proposed = { "five", "5", "V" }
  hunks[2].lines, hunks[3].lines = at(21, 21), at(30, 31)
  push("open")
  review.waits_for(t, child, "▎ #3 · line 31")
  local after = place()
  t.eq({ after[1], after[2] }, { "▎ #3 · line 31 · +1 -1 · conflicted", 1 }, "all of it has changed")
  hunks[3].lines = at(29, 30)
  child:cmd("tabfirst")
  push("open", { pending.open.edits[1] })
  child:settle()
  t.eq(child:lua("return vim.fn.tabpagenr()"), 1)
  t.eq(
    review.totals(child),
    "claude-code, codex · 4 hunks in 2 files, 1 conflicted",
    "also where it is not seen"
  )
end)

t.test("typing in another window: places and what stands around them", function()
  local child = start()
  child:cmd("Hashline review")
  child:cmd("botright sbuffer a.txt")
  child:type("ggOtop<Esc>")
  review.waits_for(t, child, "▎ #1 · line 6 · +1 -1 · held")
  child:type("4GA, typed<Esc>")
  review.waits_for(t, child, "  line 3, typed")
  child:type("31GAkept")
  review.waits_for(t, child, "! line 30kept")
  t.eq(child:lua("return { vim.fn.mode(), vim.fn.expand('%:t') }"), { "i", "a.txt" })
end)

t.test("closed, the windows are as they were", function()
  for _, keys in ipairs({ "q", ":quit<CR>", "<C-w>h:tabclose<CR>" }) do
    local child = start()
    child:cmd("vsplit | wincmd l | split | resize 5")
    child:cmd("tabnew | tabprevious")
    local function layout()
      return child:lua([[
        local sizes = vim.tbl_map(function(win)
          return { win, vim.api.nvim_win_get_width(win), vim.api.nvim_win_get_height(win) }
        end, vim.api.nvim_tabpage_list_wins(0))
        return { sizes, vim.api.nvim_get_current_win(), vim.fn.tabpagenr(), vim.fn.tabpagenr("$"), #vim.api.nvim_list_bufs() }
      ]])
    end
    local before = layout()
    child:cmd("Hashline review")
    child:type(keys)
    child:wait("vim.fn.tabpagenr('$') == 2")
    child:settle()
    t.eq(layout(), before, keys)
    child:cmd("Hashline review")
    t.eq(#review.lines(child, true), 4, "and it can be opened again")
  end
end)

t.test("closed where it is the only tab page", function()
  local child = start()
  child:cmd("Hashline review")
  child:cmd("tabonly")
  child:type("q")
  t.eq(child:lua("return { vim.fn.tabpagenr('$'), #vim.api.nvim_list_wins(), vim.bo.buftype }"), { 1, 1, "" })
end)

t.test("to the hunk in its file, which is opened where the review was; it stays open", function()
  local child = start()
  child:cmd("vsplit | Hashline review")
  child:type("J<CR>")
  t.eq({ child:lua("return vim.fn.expand('%:t')"), child:cursor()[1] }, { "a.txt", 20 })
  t.eq(child:lua("return { vim.fn.tabpagenr(), vim.fn.tabpagenr('$'), vim.fn.winnr('$') }"), { 1, 2, 2 })
  child:cmd("Hashline review")
  child:type("GK")
  t.eq(review.line(child), "▎ #1 · line 2 · +1 -1 · in the text")
  child:type("<CR>")
  t.eq({ child:lua("return vim.fn.expand('%:t')"), child:cursor()[1] }, { "not open.txt", 2 })
  child:wait_for_sidecar()
  review.waits_for(t, child, "▎ #1 · +1 -1 · in the text") -- where it is will be said soon
end)

t.test("to the hunk in its file, where the tab page that the review was opened from is gone", function()
  local child = start()
  child:cmd("Hashline review")
  child:cmd("tabonly")
  child:type("J<CR>")
  t.eq({ child:lua("return vim.fn.expand('%:t')"), child:cursor()[1] }, { "a.txt", 20 })
  t.eq(child:lua("return { vim.fn.tabpagenr(), vim.fn.tabpagenr('$'), vim.fn.winnr('$') }"), { 2, 2, 1 })
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

t.test("the keys that it shows are those that it has", function()
  local child = start()
  child:cmd("set laststatus=2 | Hashline review")
  t.ok(child:screen():find(" g? keys\n", 1, true), child:screen())
  child:type("K")
  child:cmd("set columns=140")
  child:settle()
  t.ok(child:screen():find(" g? keys · q close\n", 1, true), child:screen())
  child:type("g?")
  local told = {}
  for _, line in ipairs(child:lines()) do
    vim.list_extend(told, vim.split(vim.trim(line:sub(1, 11)), " "))
  end
  child:type("q")
  t.eq(child:lua("return vim.fn.tabpagenr('$')"), 2, "the help is closed, not the review")
  local mapped = child:lua([[
    local found = {}
    for _, map in ipairs(vim.api.nvim_buf_get_keymap(0, "n")) do
      found[#found + 1] = vim.startswith(map.rhs or "", "<Plug>") and nil or vim.fn.keytrans(map.lhsraw)
    end
    return found
  ]])
  t.eq(vim.fn.sort(told), vim.fn.sort(mapped))
end)

t.test("in a narrow window the totals are seen, and then whose they are, and then the keys", function()
  local child = start()
  child:cmd("Hashline review")
  for _, case in ipairs({
    { 80, " 4 hunks in 2 files, 1 conflicted%s+g%? keys" },
    { 90, " claude%-code, codex · 4 hunks in 2 files, 1 conflicted" },
    { 120, " claude%-code, codex · 4 hunks in 2 files, 1 conflicted%s+g%? keys · q close" },
  }) do
    child:cmd("set columns=" .. case[1])
    child:settle()
    local top = vim.split(child:screen(), "\n")[2]
    t.ok(top:find("│" .. case[2] .. "$"), case[1] .. ": " .. top)
  end
end)

t.test("the sidecar ends: nothing is left of what it said", function()
  local child = start()
  child:cmd("Hashline review")
  child:lua("vim.lsp.get_clients({ name = 'hashline' })[1]:stop(true)")
  review.waits_for(t, child, "Nothing is left to review.")
  t.eq({ review.lines(child), review.lines(child, true), review.totals(child) }, {
    { "Nothing is left to review." },
    { "" },
    "",
  })
end)

for _, background in ipairs({ "dark", "light" }) do
  t.test("as it is seen, " .. background, function()
    local child, pending, push = start()
    child:cmd("set showtabline=0 laststatus=2 background=" .. background)
    child:cmd("call setline(1, ['local one = 1', 'local two = 2']) | set filetype=lua")
    child:lua("vim.treesitter.start(0)")
    local long = {}
    for i = 1, 30 do
      long[i] = "local row" .. i .. " = " .. i
    end
    local version = child:version()
    pending.open.version = version
    push("open", {
      edit({
        {
          lines = at(1, 2),
          removed = { "local two = 2" },
          proposed = { "local two = 1 + 1", "local three" },
        },
        replacing(10, { "ten" }, { state = "conflicted", conflict = "you changed line 10" }),
        replacing(20, { "twenty" }, { deciding = true }),
        replacing(25, { "25" }, { decision = "rejected" }),
        { lines = at(30, 30), proposed = long, dependsOn = { messages.ID .. ":1" } },
      }),
    })
    child:cmd("Hashline review")
    t.screen(child, "review")
    local painted = child:lua([[
      local ns = vim.api.nvim_get_namespaces()["hashline.review"]
      local row = vim.fn.search("local three") - 1
      return vim.tbl_map(function(mark)
        return { mark[3], mark[4].end_col, mark[4].hl_group }
      end, vim.api.nvim_buf_get_extmarks(0, ns, { row, 1 }, { row, -1 }, { details = true }))
    ]])
    t.eq(painted, { { 2, 7, "@keyword.lua" }, { 8, 13, "@variable.lua" } }, "the colours of its language")
  end)
end

--- Hunks in many files, none of which is open.
local function start_large()
  local child = t.start(nil, { 40, 100 })
  child:open("a.txt", LINES)
  local lists = {}
  for number = 1, 50 do
    local hunks = {}
    for i = 1, 10 do
      hunks[i] = replacing(4 * i, { "new " .. i, "newer " .. i })
    end
    local path = ("%s/file %02d.txt"):format(child.folder, number)
    vim.fn.writefile(LINES, path)
    lists[number] = list(vim.uri_from_fname(path), vim.NIL, { edit(hunks, { id = "edit" .. number }) })
  end
  child:lua(
    [[
      local client = vim.lsp.get_clients({ name = "hashline" })[1]
      send = function(list)
        client.handlers["hashline/pendingEdits"](nil, list, { client_id = client.id })
      end
      vim.tbl_map(send, ...)
    ]],
    lists
  )
  child:cmd("Hashline review")
  t.eq(review.totals(child), "claude-code · 500 hunks in 50 files")
  return child, lists
end

t.test("500 hunks in 50 files: what changes is drawn, and what is seen painted", function()
  local child, lists = start_large()
  local marks =
    "#vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_get_namespaces()['hashline.review'], 0, -1, {})"
  local first = child:lua("return " .. marks)
  t.ok(first > 15 and first < 100, first .. " marks")
  child:lua([[
    drawn = {}
    for _, name in ipairs({ "hashline://review$", "hashline://review/files$" }) do
      vim.api.nvim_buf_attach(vim.fn.bufnr(name), false, {
        on_lines = function(_, _, _, from, to, new_to) drawn[#drawn + 1] = { to - from, new_to - from } end,
      })
    end
  ]])
  local last = lists[50].edits[1].hunks[10]
  last.decision, last.state = "accepted", "inText"
  child:lua("send(...)", lists[50])
  review.waits_for(t, child, "▎ #10 · +2 -1 · accepted")
  t.eq(
    child:lua("return drawn"),
    { { 5, 1 }, { 1, 1 }, { 1, 1 } },
    "the hunk, its file, and that in the list of files"
  )
  child:lua("drawn = {}; send(...)", lists[50])
  child:settle()
  child:type("J")
  t.eq(child:lua("return drawn"), {}, "nothing, when nothing changed")
  child:type("G")
  child:lua("vim.cmd.redraw()")
  for _, hunk in ipairs(lists[50].edits[1].hunks) do
    hunk.decision, hunk.state = "accepted", "inText"
  end
  child:lua("send(...)", lists[50])
  review.waits_for(t, child, "▎ #9 · +2 -1 · accepted")
  local seen = child:lua("return { vim.fn.line('w$'), vim.fn.line('$') - vim.fn.line('w0') + 1 }")
  t.eq(seen, {
    child:lua("return vim.fn.line('$')"),
    child:lua("return vim.fn.getwininfo(vim.fn.win_getid())[1].height"),
  }, "no empty lines")
  local more = child:lua("return " .. marks)
  t.ok(more > first and more < 2 * first + 100, more .. " marks at the end, too")
  child:type("J")
  t.eq(
    { review.line(child), child:lua("return vim.fn.line('w0')") },
    { "▎ #1 · line 4 · +2 -1 · held", 1 },
    "around the end, below the line of its file"
  )
  child:type("25)")
  child:type("12(")
  t.eq(child:lua("return vim.fn.line('.') - vim.fn.line('w0')"), 1, "likewise, when it was out of sight")
end)
