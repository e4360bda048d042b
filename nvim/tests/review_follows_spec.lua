--- The review over time: what it follows, where its cursor stays, how it is closed, and how much of it is drawn.
local t = ...
local messages = require("messages")
local review = require("review_screen")
local at, edit, list = messages.at, messages.edit, messages.list

local LINES, replacing = review.LINES, review.replacing

local function start()
  return review.start(t)
end

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
    review.lines(child)[1],
    "claude-code · 4 hunks in 1 file, 1 conflicted",
    "not drawn where it is not seen"
  )
  child:cmd("tabnext")
  t.eq(review.lines(child)[1], "claude-code · 3 hunks in 1 file, 1 conflicted", "at once where it is")
  t.eq(review.totals(child), "claude-code, codex · 4 hunks in 2 files, 1 conflicted")
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
  child:cmd("Hashline review")
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
