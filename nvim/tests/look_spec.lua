--- What a person sees.
local t = ...
local messages = require("messages")
local at, edit, list = messages.at, messages.edit, messages.list

local GREET = { "function greet() {", '  return "world";', "}", "", "greet();" }

local function shown(name, lines, edits, more, settings, prepare)
  t.test(name, function()
    local child = t.start(settings)
    local uri = child:open("greet.js", lines)
    if prepare then
      prepare(child)
    end
    child:push("hashline/pendingEdits", list(uri, 0, edits, more))
    t.screen(child, (name:gsub("%W+", "_")))
  end)
end

local replacement =
  { lines = at(1, 2), removed = { '  return "world";' }, proposed = { '  return "hello";' } }

shown("held: lines replaced, lines inserted", GREET, {
  edit({ replacement, { lines = at(3, 3), proposed = { "", "// greets" } } }),
})

shown("held: lines taken away, a line appended", GREET, {
  edit({ { lines = at(2, 4), removed = { "}", "" } }, { lines = at(5, 5), proposed = { "greet();" } } }),
})

shown("held: above the first line", GREET, {
  edit({ { lines = at(0, 0), proposed = { "// a greeting", "" } } }),
})

shown("held: an empty file", {}, {
  edit({ { lines = at(0, 0), proposed = { "first", "second" } } }),
})

shown("in the text: replaced, inserted, taken away, edited", GREET, {
  edit({
    {
      state = "inText",
      lines = at(0, 1),
      removed = { "function greet {" },
      proposed = { "function greet() {" },
    },
    { state = "edited", lines = at(1, 2), removed = { "  return 1;" }, proposed = { "  return 2;" } },
    { state = "inText", lines = at(3, 3), removed = { "// gone", "// gone, too" } },
    { state = "inText", lines = at(4, 5), proposed = { "greet();" } },
  }, { mode = "apply" }),
})

shown("conflicted, deciding", GREET, {
  edit({
    vim.tbl_extend("force", replacement, { state = "conflicted", conflict = "you changed line 2" }),
    { lines = at(4, 5), removed = { "greet();" }, proposed = { "greet(you);" }, deciding = true },
  }),
})

shown(
  "read only: decided in another editor",
  GREET,
  { edit({ replacement }) },
  { readOnly = true, owner = "VS Code 1.139" }
)

shown(
  "tabs, wide and unprintable characters",
  { "\tif x {", "\t\ty\t= 1", "日本語" },
  {
    edit({
      { lines = at(1, 2), removed = { "\t\ty\t= 1" }, proposed = { "\t\ty\t= 2", "z\1\t|" } },
      { lines = at(2, 3), removed = { "日本語" }, proposed = { "日本" .. ("語"):rep(40) } },
    }),
  },
  nil,
  nil,
  function(child)
    child:cmd("set tabstop=4")
  end
)

shown(
  "long lines without wrap",
  { "short" },
  {
    edit({ { lines = at(0, 1), removed = { "short" }, proposed = { ("0123456789"):rep(9) } } }),
  },
  nil,
  nil,
  function(child)
    child:cmd("set nowrap")
  end
)

shown("many lines are cut, no signs, no hints", { "one" }, {
  edit({ { lines = at(1, 1), proposed = { "a", "b", "c", "d", "e" } } }),
}, nil, { max_lines = 3, signs = false, hints = false })

shown(
  "numbers and a sign column of its own width",
  GREET,
  { edit({ replacement }) },
  nil,
  nil,
  function(child)
    child:cmd("set number signcolumn=yes:2")
  end
)

shown("held: two that need others, of another agent and of the same call", GREET, {
  edit({ replacement }),
  edit({
    { lines = at(1, 2), proposed = { '  return "hi";' }, dependsOn = { messages.ID .. ":1" } },
    { lines = at(4, 5), removed = { "greet();" }, dependsOn = { "second:1", "an accepted one:3" } },
  }, { id = "second", agent = "codex" }),
})

shown("a hunk that only can be rejected, and one about the file", GREET, {
  edit({ { file = "remove the file" } }, { tool = "delete_file" }),
  edit({
    {
      state = "conflicted",
      conflict = "its place in the file is lost",
      lines = at(1, 5),
      removed = { "x" },
      proposed = { "y" },
      ways = { "reject" },
    },
  }, { id = "second" }),
})

shown("withdrawn, decided and joined hunks are not drawn", GREET, {
  edit({
    { state = "withdrawn", lines = at(0, 1), removed = { GREET[1] }, proposed = { "x" } },
    { decision = "accepted", state = "inText", lines = at(2, 3), removed = { "x" }, proposed = { GREET[3] } },
    { decision = "rejected", lines = at(3, 4), removed = { "" }, proposed = { "x" } },
    replacement,
    { lines = at(4, 5), removed = { "greet();" }, proposed = { "x" }, partOf = messages.ID .. ":4" },
  }),
})

t.test("held: where hunks meet, in the order of the text, whichever was drawn last", function()
  local child = t.start()
  local uri = child:open("greet.js", GREET)
  local function push(deciding)
    child:push(
      "hashline/pendingEdits",
      list(uri, 0, {
        edit({
          vim.tbl_extend("force", replacement, { deciding = deciding }),
          { lines = at(2, 2), proposed = { "  // after it" } },
          { lines = at(2, 2), proposed = { "  // after that" } },
          { lines = at(2, 3), removed = { "}" }, proposed = { "};" } },
        }),
      })
    )
  end
  push(false)
  t.screen(child, "where_hunks_meet")
  push(true)
  push(false)
  t.screen(child, "where_hunks_meet")
end)

--- Each is put off to the end of the turn, and has to draw what is pending by then.
for cause, step in pairs({
  ["signs that take room from the text"] = "vim.cmd.redraw()",
  ["lines typed where one is to come"] = "vim.api.nvim_buf_set_lines(0, 3, 3, true, { '// typed' })",
}) do
  t.test("held: drawn anew because of " .. cause .. ", when a longer list has come meanwhile", function()
    local child = t.start()
    local uri = child:open("greet.js", GREET)
    local held = edit({ { lines = at(3, 3), proposed = { "// proposed" } } })
    local other = edit({ replacement }, { id = "second", agent = "codex" })
    local version = child:version()
    child:lua(
      [[
        local first, step, second = ...
        local client = vim.lsp.get_clients({ name = "hashline" })[1]
        local receive = client.handlers["hashline/pendingEdits"]
        receive(nil, first, { client_id = client.id })
        assert(loadstring(step))()
        receive(nil, second, { client_id = client.id })
      ]],
      list(uri, version, { held }),
      step,
      list(uri, version, { held, other })
    )
    child:settle()
    local screen = child:screen()
    t.ok(screen:find("claude-code", 1, true) and screen:find("codex", 1, true), "both are seen:\n" .. screen)
  end)
end

t.test("a hunk taller than the window: as much as there is room for, and where the rest is", function()
  local tall = {}
  for i = 1, 30 do
    tall[i] = "line " .. i
  end
  for name, lines in pairs({ at_the_end = at(5, 5), at_the_top = at(0, 0) }) do
    local child = t.start(nil, { 12, 72 })
    local uri = child:open("greet.js", GREET)
    child:push("hashline/pendingEdits", list(uri, 0, { edit({ { lines = lines, proposed = tall } }) }))
    child:screen()
    child:cmd("Hashline next")
    t.screen(child, "taller_than_the_window_" .. name)
    child:cmd("set lines=50")
    t.ok(child:screen():find("line 30", 1, true), "all of it, when there is room")
  end
end)

t.test("a narrow window: the heading is broken where it has its dots", function()
  local child = t.start(nil, { 16, 40 })
  local uri = child:open("greet.js", GREET)
  child:push(
    "hashline/pendingEdits",
    list(uri, 0, {
      edit({
        vim.tbl_extend("force", replacement, { state = "conflicted", conflict = "you changed line 2" }),
        { lines = at(4, 5), removed = { "greet();" }, proposed = { "greet(you);" } },
      }),
    })
  )
  t.screen(child, "narrow_headings")
end)

t.test("the heading says why, where the agent does", function()
  local child = t.start()
  local uri = child:open("greet.js", GREET)
  child:push(
    "hashline/pendingEdits",
    list(uri, 0, { edit({ replacement }, { reason = "the tests expect it" }) })
  )
  t.ok(child:screen():find("+1 -1 · the tests expect it", 1, true), child:screen())
end)

t.test("a narrow window: the proposal wraps", function()
  local child = t.start()
  local uri = child:open("greet.js", GREET)
  child:cmd("vsplit | wincmd l | enew | wincmd h | vertical resize 30")
  child:push(
    "hashline/pendingEdits",
    list(uri, 0, {
      edit({
        {
          lines = at(1, 2),
          removed = { GREET[2] },
          proposed = { '  return "a greeting that is rather long";' },
        },
      }),
    })
  )
  t.screen(child, "narrow_window")
  child:cmd("wincmd l | quit")
  t.screen(child, "narrow_window_wide_again")
end)

t.test("above the first line: shown again after coming back, and can be scrolled away", function()
  local child = t.start()
  local lines = {}
  for i = 1, 60 do
    lines[i] = "line " .. i
  end
  local uri = child:open("long.txt", lines)
  child:push("hashline/pendingEdits", list(uri, 0, { edit({ { lines = at(0, 0), proposed = { "new" } } }) }))
  child:wait("vim.fn.winsaveview().topfill == 2")
  child:type("G")
  child:cmd("redraw")
  child:type("gg")
  child:cmd("redraw")
  child:wait("vim.fn.winsaveview().topfill == 2")
  child:type("<C-e>")
  child:cmd("redraw")
  t.eq(child:lua("return vim.fn.winsaveview().topfill"), 1, "scrolled by hand")
end)

t.test("drawing goes when the list is empty, and when the sidecar ends", function()
  local child = t.start()
  local uri = child:open("greet.js", GREET)
  local before = child:screen()
  child:push("hashline/pendingEdits", list(uri, 0, { edit({ replacement }) }))
  t.ok(child:screen() ~= before, "something is drawn")
  child:push("hashline/pendingEdits", list(uri, 0, {}))
  t.eq(child:screen(), before, "nothing is left")
  child:push("hashline/pendingEdits", list(uri, 0, { edit({ replacement }) }))
  child:lua("vim.lsp.get_clients({ name = 'hashline' })[1]:stop(true)")
  child:wait("#vim.lsp.get_clients({ name = 'hashline' }) == 0 and vim.b.hashline_status == ''")
  t.eq(child:screen(), before, "nothing is left of what a dead sidecar said")
end)

t.test(
  "a thousand hunks: what is in sight is there at once, the one that is gone to, too, the rest soon",
  function()
    local child = t.start(nil, { 12, 72 })
    local lines, hunks = {}, {}
    for i = 1, 3000 do
      lines[i] = "line " .. i
    end
    for number = 1, 1000 do
      local row = 3 * number - 1
      hunks[number] =
        { lines = at(row, row + 1), removed = { lines[row + 1] }, proposed = { "a", "b " .. number } }
    end
    local uri = child:open("long.txt", lines)
    -- As one piece of work, so that nothing is drawn between.
    child:lua(
      [[
      local params = ...
      local client = vim.lsp.get_clients({ name = "hashline" })[1]
      client.handlers["hashline/pendingEdits"](nil, params, { client_id = client.id })
      local ns = vim.api.nvim_get_namespaces().hashline
      drawn = function()
        return vim.tbl_map(function(mark)
          return mark[2]
        end, vim.tbl_filter(function(mark)
          return mark[4].virt_lines ~= nil
        end, vim.api.nvim_buf_get_extmarks(0, ns, 0, -1, { details = true })))
      end
      at_first = drawn()
      vim.cmd("2990 | Hashline next")
      where = { vim.fn.line("."), vim.fn.line("w0") }
    ]],
      list(uri, 0, { edit(hunks) })
    )
    local first = child:lua("return at_first")
    t.eq({ first[1], first[2], first[3] }, { 2, 5, 8 }, "in sight")
    t.ok(#first < 1000, "not all of them at once")
    t.ok(child:screen():find("b 997", 1, true), child:screen())
    t.eq(child:lua("return where[1]"), 2991)
    child:wait("#drawn() == 1000")
  end
)

t.test(
  "a decision among many hunks: those out of sight are not drawn for their count, and have it when seen",
  function()
    local child = t.start(nil, { 12, 72 })
    local lines, hunks = {}, {}
    for i = 1, 900 do
      lines[i] = "line " .. i
    end
    for number = 1, 300 do
      local row = 3 * number - 1
      hunks[number] =
        { lines = at(row, row + 1), removed = { lines[row + 1] }, proposed = { "new " .. number } }
    end
    local uri = child:open("long.txt", lines)
    child:lua([[
    under_way, drawn = 0, 0
    local defer, virtual = vim.defer_fn, require("hashline.virtual")
    vim.defer_fn = function(callback, ms)
      under_way = under_way + 1
      return defer(function()
        callback()
        under_way = under_way - 1
      end, ms)
    end
    local made = virtual.lines
    virtual.lines = function(...)
      drawn = drawn + 1
      return made(...)
    end
  ]])
    child:push("hashline/pendingEdits", list(uri, 0, { edit(hunks) }))
    child:screen() -- with the first signs there is less room, and what is seen is drawn again
    child:wait("drawn >= 300 and under_way == 0")
    child:lua("drawn = 0")
    hunks[300].proposed = { "other" }
    hunks[2].decision, hunks[2].state = "rejected", "withdrawn"
    child:push("hashline/pendingEdits", list(uri, 0, { edit(hunks) }))
    child:wait("under_way == 0")
    local drawn = child:lua("return drawn")
    t.ok(drawn > 3 and drawn < 12, ("%d were drawn: those in sight, and one that changed"):format(drawn))
    t.ok(child:screen():find("#1 · 299 left", 1, true), child:screen())
    child:type("450Gzt")
    t.ok(child:screen():find("#151 · 299 left", 1, true), child:screen())
    child:type("G")
    t.ok(child:screen():find("#299 · 299 left", 1, true), child:screen())
  end
)

--- The virtual lines of the only hunk: each chunk with what highlights it, but for the blanks at the end.
local function drawn(child)
  return child:lua([[
    local ns = vim.api.nvim_get_namespaces().hashline
    local mark = vim.api.nvim_buf_get_extmarks(0, ns, 0, -1, { details = true, limit = 1 })[1]
    return vim.tbl_map(function(line)
      return vim.list_slice(line, 1, #line - 1)
    end, vim.list_slice(mark[4].virt_lines, 2))
  ]])
end

t.test("proposed lines keep the colours of their language, as far as the buffer has them", function()
  local child = t.start()
  local uri = child:open("greet.lua", { "local function greet()", "  return 1", "end" })
  local hunk = { lines = at(1, 2), removed = { "  return 1" }, proposed = { "  return 23, nil", "\t-- ż" } }
  local function push()
    child:push("hashline/pendingEdits", list(uri, 0, { edit({ hunk }) }))
  end
  push()
  t.eq(drawn(child)[1], {
    { "  return ", "HashlineAdded" },
    { "23, nil", "HashlineAddedWord" },
  }, "a plain buffer has plain proposals")
  child:cmd("set filetype=lua")
  child:lua("vim.treesitter.start(0)")
  push()
  t.eq(drawn(child), {
    {
      { "  ", "HashlineAdded" },
      { "return", { "HashlineAdded", "@keyword.return.lua" } },
      { " ", "HashlineAdded" },
      { "23", { "HashlineAddedWord", "@number.lua" } },
      { ",", { "HashlineAddedWord", "@punctuation.delimiter.lua" } },
      { " ", "HashlineAddedWord" },
      { "nil", { "HashlineAddedWord", "@constant.builtin.lua" } },
    },
    { { "        ", "HashlineAdded" }, { "-- ż", { "HashlineAdded", "@comment.lua" } } },
  })
  child:cmd("set nowrap")
  hunk.proposed = { "return " .. ("x"):rep(1000) }
  push()
  t.eq(drawn(child)[1][1][2], "HashlineAdded", "a long line is not looked at")
end)

t.test("proposed lines keep the colours of a syntax, where there is no parser", function()
  local child = t.start()
  local uri = child:open("greet.js", GREET)
  child:cmd("syntax on | set filetype=javascript")
  local hunk = { lines = at(2, 2), proposed = { "  return 'ż' // why", "  // 1" } }
  child:push("hashline/pendingEdits", list(uri, 0, { edit({ hunk }) }))
  t.eq(drawn(child), {
    {
      { "  ", "HashlineAdded" },
      { "return", { "HashlineAdded", "javaScriptStatement" } },
      { " ", "HashlineAdded" },
      { "'ż'", { "HashlineAdded", "javaScriptStringS" } },
      { " ", "HashlineAdded" },
      { "// why", { "HashlineAdded", "javaScriptLineComment" } },
    },
    { { "  ", "HashlineAdded" }, { "// 1", { "HashlineAdded", "javaScriptLineComment" } } },
  })
  t.eq(child:lua("return { #vim.fn.getbufinfo({ buflisted = 1 }), #vim.api.nvim_list_wins() }"), { 1, 1 })
end)

t.test("nothing an agent does moves the cursor, the focus or the windows", function()
  local child = t.start({ notify = true })
  local uri = child:open("greet.js", GREET)
  child:type("jA")
  local before =
    child:lua("return { vim.fn.mode(), vim.fn.getpos('.'), vim.api.nvim_list_wins(), vim.fn.tabpagenr('$') }")
  child:push("hashline/pendingEdits", list(uri, 0, { edit({ replacement }) }))
  child:push(
    "hashline/pendingEdits",
    list(uri .. ".other", vim.NIL, { edit({ replacement }, { id = "other" }) })
  )
  child:wait("#notified == 1")
  t.eq(
    child:lua("return { vim.fn.mode(), vim.fn.getpos('.'), vim.api.nvim_list_wins(), vim.fn.tabpagenr('$') }"),
    before
  )
  t.eq(child:lua("return #vim.api.nvim_list_bufs()"), 1, "no buffer was made for the other file")
end)
