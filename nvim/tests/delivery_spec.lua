--- workspace/applyEdit: exactly, as one undo step, or not at all.
local t = ...

local LINES = { "one", "two", "three", "four", "five" }

t.test(
  "in normal mode: applied, one undo step for all its hunks, the sidecar sees the text before the answer",
  function()
    local child = t.start()
    local uri = child:open("a.txt", LINES)
    child:type("ggAx<Esc>")
    local answer = child:deliver(uri, child:version(), { { 1, 2, "TWO\nTWO AND\n" }, { 4, 5, "" } })
    t.eq(answer, { applied = true })
    t.eq(child:mirror(uri).text, "onex\nTWO\nTWO AND\nthree\nfour\n")
    child:type("A!<Esc>")
    t.eq(child:lines(), { "onex!", "TWO", "TWO AND", "three", "four" })
    child:type("u")
    t.eq(child:lines(), { "onex", "TWO", "TWO AND", "three", "four" })
    child:type("u")
    t.eq(child:lines(), { "onex", "two", "three", "four", "five" })
    child:type("u")
    t.eq(child:lines(), LINES)
  end
)

for _, case in ipairs({ { "below", 2, 3 }, { "above", 0, 1 } }) do
  t.test(
    "in insert mode, " .. case[1] .. " the cursor: typing before, edit and typing after are three undo steps",
    function()
      local child = t.start()
      local uri = child:open("a.txt", LINES)
      child:type("jAabc")
      child:deliver(uri, child:version(), { { case[2], case[3], "NEW\nNEW TOO\n" } })
      child:type("def<Esc>")
      local function text(middle, replaced)
        local lines = vim.deepcopy(LINES)
        lines[2] = "two" .. middle
        if replaced then
          lines[case[2] + 1] = "NEW"
          table.insert(lines, case[2] + 2, "NEW TOO")
        end
        return lines
      end
      t.eq(child:lines(), text("abcdef", true))
      for step, expected in ipairs({ text("abc", true), text("abc", false), text("", false) }) do
        child:type("u")
        t.eq(child:lines(), expected, "undo " .. step)
      end
      for step, expected in ipairs({ text("abc", false), text("abc", true), text("abcdef", true) }) do
        child:type("<C-r>")
        t.eq(child:lines(), expected, "redo " .. step)
      end
      t.eq(child:mirror(uri).text, table.concat(child:lines(), "\n") .. "\n")
    end
  )
end

t.test("two edits in a buffer that is not shown are two undo steps", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  child:cmd("set hidden | enew")
  local function version()
    return child:lua("return vim.lsp.util.buf_versions[1]")
  end
  t.eq(child:deliver(uri, version(), { { 0, 1, "ONE\n" } }).applied, true)
  t.eq(child:deliver(uri, version(), { { 1, 2, "TWO\n" } }).applied, true)
  child:cmd("buffer 1")
  child:type("u")
  t.eq(child:lines(), { "ONE", "two", "three", "four", "five" })
end)

t.test("an edit for another version is not applied, and the answer says so", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  child:type("x")
  local version = child:version()
  child:type("x")
  local answer = child:deliver(uri, version, { { 1, 2, "TWO\n" } })
  t.eq(answer.applied, false)
  t.ok(answer.failureReason:find("is at version"), answer.failureReason)
  t.eq(child:deliver(uri, child:version() + 1, { { 1, 2, "TWO\n" } }).applied, false, "a later one")
  t.eq(child:lines()[2], "two")
end)

t.test("version 1 stands for the 0 of a document that was just opened", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  t.eq(child:deliver(uri, 1, { { 1, 2, "TWO\n" } }).applied, true)
  t.eq(child:lines()[2], "TWO")
end)

t.test("after an undo, b:changedtick runs ahead: the version that counts is the one that was sent", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  child:type("x")
  child:type("u")
  t.ok(child:lua("return vim.b.changedtick") > child:version())
  child:has_told_all(uri)
  t.eq(child:deliver(uri, child:mirror(uri).version, { { 1, 2, "TWO\n" } }).applied, true)
end)

t.test("all or nothing: two documents of which one is stale, overlaps, lines that are not there", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  local other = child:open("b.txt", LINES)
  child:type("x")
  local answer = child:fake("ask", {
    method = "workspace/applyEdit",
    params = {
      edit = {
        documentChanges = vim.tbl_map(function(target)
          return {
            textDocument = { uri = target[1], version = target[2] },
            edits = {
              {
                range = { start = { line = 0, character = 0 }, ["end"] = { line = 0, character = 1 } },
                newText = "Z",
              },
            },
          }
        end, { { uri, 0 }, { other, 1 } }),
      },
    },
  }).result
  t.eq(answer.applied, false)
  t.eq(child:lua("return vim.api.nvim_buf_get_lines(1, 0, 1, true)"), { "one" })
  answer = child:deliver(other, child:version(), { { 0, 2, "A\n" }, { 1, 3, "B\n" } })
  t.eq({ answer.applied, answer.failureReason }, { false, "two edits overlap" })
  answer = child:deliver(other, child:version(), { { 8, 9, "A\n" } })
  t.eq({ answer.applied, answer.failureReason }, { false, "a range lies outside the text" })
  child:cmd("setlocal nomodifiable")
  t.ok(child:deliver(other, child:version(), { { 0, 1, "A\n" } }).failureReason:find("not modifiable"))
  t.ok(child:deliver("file:///no/such/file", 1, { { 0, 1, "A\n" } }).failureReason:find("not open here"))
  t.eq(child:lua("return #vim.api.nvim_list_bufs()"), 2, "no buffer was made")
end)

t.test("cursor and screen stay: edits above the window, at the cursor, in a second window", function()
  local child = t.start()
  local lines = {}
  for i = 1, 100 do
    lines[i] = "line " .. i
  end
  local uri = child:open("long.txt", lines)
  child:type("50Gzt5j3l")
  child:cmd("split")
  child:type("80Gzt")
  local function where()
    return child:lua([[
      return vim.tbl_map(function(win)
        return vim.api.nvim_win_call(win, function()
          return { vim.fn.getline("w0"), vim.fn.getline("."), vim.fn.col(".") }
        end)
      end, vim.api.nvim_tabpage_list_wins(0))
    ]])
  end
  local before = where()
  t.eq({ before[1][2], before[2][2] }, { "line 80", "line 55" })
  child:deliver(uri, 1, { { 0, 0, "a\nb\nc\n" }, { 10, 20, "" } })
  t.eq(where(), before)
  child:cmd("wincmd j")
  local row = child:cursor()[1]
  child:deliver(uri, child:version(), { { row - 1, row, "line 55, but longer\nand more\n" } })
  t.eq(child:cursor(), { row, 3 }, "on a replaced line")
  child:deliver(uri, child:version(), { { row - 1, row - 1, "put before it\n" } })
  t.eq(child:cursor(), { row + 1, 3 }, "lines put right before the cursor's")
  child:deliver(uri, child:version(), { { row - 2, row + 3, "less\n" } })
  t.eq(child:cursor(), { row - 1, 3 }, "among lines that are replaced by fewer")
end)

for _, case in ipairs({
  { "lines", "5GVjj", "lines put above", { { 0, 0, "a\nb\n" } }, { "1", "2", "3", "4", "8", "9" } },
  { "lines, upwards", "7GVkk", "lines put above", { { 0, 0, "a\nb\n" } }, { "1", "2", "3", "4", "8", "9" } },
  { "lines", "5GVjj", "lines taken away above", { { 0, 2, "" } }, { "1", "2", "3", "4", "8", "9" } },
  { "lines", "5GVjj", "lines put right before", { { 4, 4, "a\nb\n" } }, { "1", "2", "3", "4", "8", "9" } },
  { "lines", "5GVjj", "its first line replaced", { { 4, 5, "five\n" } }, { "1", "2", "3", "4", "8", "9" } },
  {
    "characters",
    "5G3lvj",
    "lines put above",
    { { 0, 0, "a\nb\n" } },
    { "1", "2", "3", "4", "lin 6", "7", "8", "9" },
  },
  {
    "characters, upwards",
    "6G3lvk",
    "lines put above",
    { { 0, 0, "a\nb\n" } },
    { "1", "2", "3", "4", "lin 6", "7", "8", "9" },
  },
  {
    "a block",
    "5G1l<C-v>jl",
    "lines put above",
    { { 0, 0, "a\nb\n" } },
    { "1", "2", "3", "4", "le 5", "le 6", "7", "8", "9" },
  },
  {
    "a block to the ends",
    "5G1l<C-v>j$",
    "lines put above",
    { { 0, 0, "a\nb\n" } },
    { "1", "2", "3", "4", "l", "l", "7", "8", "9" },
  },
}) do
  local kind, keys, what, edits, left = unpack(case)
  t.test(("selected %s stay selected: %s (%s)"):format(kind, what, keys), function()
    local child = t.start()
    local lines = {}
    for i = 1, 9 do
      lines[i] = "line " .. i
    end
    local uri = child:open("a.txt", lines)
    child:type(keys)
    local function selected()
      return child:lua([[
        return {
          vim.fn.mode(),
          vim.fn.getregion(vim.fn.getpos("v"), vim.fn.getpos("."), { type = vim.fn.mode() }),
          vim.fn.line(".") < vim.fn.line("v"),
        }
      ]])
    end
    local before = selected()
    t.eq(child:deliver(uri, 1, edits).applied, true)
    if what ~= "its first line replaced" then
      t.eq(selected(), before)
    end
    child:type("d")
    local kept = vim.tbl_filter(function(line)
      return line ~= "a" and line ~= "b"
    end, child:lines())
    local expected = vim.tbl_map(function(line)
      return tonumber(line) and "line " .. line or line
    end, left)
    t.eq(kept, what == "lines taken away above" and vim.list_slice(expected, 3) or expected)
    t.eq(child:lua("return vim.fn.mode()"), "n")
  end)
end

t.test(
  "between an operator and its motion nothing is put in: the operator takes the lines that it is about",
  function()
    local child = t.start()
    local uri = child:open("a.txt", LINES)
    child:type("3Gd")
    t.eq(child:deliver(uri, 1, { { 0, 0, "a\nb\n" } }), {
      applied = false,
      failureReason = "the person is in the middle of a command",
    })
    child:type("j")
    t.eq(child:lines(), { "one", "two", "five" })
    t.eq(child:deliver(uri, child:version(), { { 0, 0, "a\nb\n" } }), { applied = true })
  end
)

for _, case in ipairs({
  { "given up", "d", "<Esc>" },
  { "carried out without a change", "y", "y" },
}) do
  local what, operator, rest = unpack(case)
  t.test("a delivery waits for the end of a command that is " .. what, function()
    local child = t.start()
    local uri = child:open("a.txt", LINES)
    child:type("3G" .. operator)
    child:begin_delivery(uri, 1, { { 0, 0, "a\nb\n" } })
    t.eq(child:lua("return delivered == nil and vim.fn.mode(1)"), "no")
    child:type(rest)
    t.eq(child:wait("delivered"), { applied = true })
    t.eq(child:lines(), { "a", "b", "one", "two", "three", "four", "five" })
    t.eq(child:lua("return #vim.api.nvim_get_autocmds({ event = 'ModeChanged', pattern = 'no*:*' })"), 0)
  end)
end

t.test("a delivery that waited for a command which changed the text is for another text", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  child:type("3Gd")
  child:begin_delivery(uri, 1, { { 0, 0, "a\nb\n" } })
  child:type("j")
  t.eq(child:wait("delivered").applied, false)
  t.eq(child:lines(), { "one", "two", "five" })
end)

t.test("what is selected to be typed over (Select mode) is typed over, and nothing else", function()
  local child = t.start()
  local uri = child:open("a.txt", { "one", "two", "three", "four" })
  child:type("3Gv$h<C-g>")
  t.eq(child:lua("return vim.fn.mode()"), "s")
  child:deliver(uri, 1, { { 0, 0, "a\nb\n" } })
  t.eq(child:lua("return vim.fn.mode()"), "s")
  child:type("new<Esc>")
  t.eq(child:lines(), { "a", "b", "one", "two", "new", "four" })
end)

t.test("what was selected is selected again where it is now", function()
  local child = t.start()
  local uri = child:open("a.txt", { "one", "two", "three", "four" })
  child:type("2GVj<Esc>")
  child:deliver(uri, 1, { { 0, 0, "a\nb\n" } })
  child:type("gvd")
  t.eq(child:lines(), { "a", "b", "one", "four" })
end)

t.test("while a completion menu is open the text stays right", function()
  local child = t.start()
  local uri = child:open("a.txt", { "wonderful", "wonder", "", "end" })
  child:type("3GAwon<C-n>")
  t.eq(child:lua("return vim.fn.pumvisible()"), 1)
  local answer = child:deliver(uri, child:version(), { { 0, 1, "A\nB\nC\n" } })
  child:type("<C-n>")
  child:type("!<Esc>")
  child:has_told_all(uri)
  t.eq(child:mirror(uri).text, table.concat(child:lines(), "\n") .. "\n")
  local lines = child:lines()
  t.eq(lines[#lines], "end")
  t.ok(lines[#lines - 1]:find("^won.*!$"), vim.inspect({ answer, lines }))
end)

t.test("no final newline, an empty file, dos line ends", function()
  local child = t.start()
  local uri = child:open("a.txt", { "one", "two" }, "b")
  t.eq(child:mirror(uri).text, "one\ntwo")
  child:deliver(uri, 1, { { 0, 1, "ONE\n" } })
  t.eq(child:mirror(uri).text, "ONE\ntwo")
  uri = child:open("dos.txt", { "one\r", "two\r" })
  t.eq(child:mirror(uri).text, "one\r\ntwo\r\n")
  child:deliver(uri, 1, { { 1, 2, "TWO\r\n" } })
  t.eq(child:mirror(uri).text, "one\r\nTWO\r\n")
end)

t.test("an edit that is in the text was applied, whatever becomes of the windows", function()
  local child = t.start()
  local uri = child:open("a.txt", LINES)
  child:lua("vim.fn.winrestview = function() error('no such view', 0) end")
  child:type("G")
  t.eq(child:deliver(uri, 1, { { 0, 0, "new\n" } }), { applied = true })
  t.eq(child:lines()[1], "new")
  t.ok(child:notified()[1]:find("no such view", 1, true), child:notified()[1])
end)

for _, think_ms in ipairs({ 0, 30 }) do
  t.test(
    ("20 edits while a person types, %d ms old when they are sent: all land, no key is lost"):format(think_ms),
    function()
      local child = t.start()
      local lines = {}
      for number = 1, 20 do
        vim.list_extend(lines, { "old " .. number, "between" })
      end
      local uri = child:open("a.txt", lines)
      child:lua(
        [[
        local params = ...
        vim.lsp.get_clients({ name = "hashline" })[1]:request("fake/deliver", params, function(_, result) delivered = result end)
      ]],
        { uri = uri, count = 20, think_ms = think_ms }
      )
      child:type("2GA")
      local typed, done, started = 0, false, vim.uv.hrtime()
      while not done or typed < 20 do
        typed = typed + 1
        -- Every tenth key is a line break: lines below it move.
        child:type(typed % 10 == 0 and "<CR>" or "k")
        done = child:lua("return delivered ~= nil")
        t.ok(typed < 400, "the edits never land")
        vim.wait(20, function()
          return false
        end)
      end
      child:type("<Esc>")
      child:has_told_all(uri)
      local text = table.concat(child:lines(), "\n") .. "\n"
      t.eq(child:mirror(uri).text, text)
      t.eq(select(2, text:gsub("NEW %d+", "")), 20, "edits in the text")
      t.eq(#child:said("hashline/cause"), 20, "changes that are said to be deliveries")
      t.ok(not text:find("old", 1, true), "each in its place")
      t.eq(select(2, text:gsub("k", "")), typed - math.floor(typed / 10), "keys in the text")
      local sent = child:lua("return delivered.sent")
      t.note(
        ("     %d keys, %d edits sent for 20, %.1f s"):format(typed, sent, (vim.uv.hrtime() - started) / 1e9)
      )
    end
  )
end

for _, case in ipairs({
  { "never", false, false },
  { "ifClean", false, true },
  { "ifClean", true, false },
  { "always", true, true },
}) do
  t.test(("saveAfterAccept %s, %s before"):format(case[1], case[2] and "changed" or "clean"), function()
    local child = t.start({ saveAfterAccept = case[1] })
    local messages = require("messages")
    local uri = child:open("a.txt", LINES)
    if case[2] then
      child:type("Gx")
    end
    local version = child:version()
    child:push(
      "hashline/pendingEdits",
      messages.list(uri, version, {
        messages.edit({ { lines = messages.at(0, 1), removed = { "one" }, proposed = { "ONE" } } }),
      })
    )
    child:has_told_all(uri)
    child:deliver(uri, version, { { 1, 2, "TWO\n" } })
    t.eq(child:lua("return vim.bo.modified"), true, "an agent's own edit is not saved")
    if not case[2] then
      child:cmd("write")
    end
    child:cmd("1 | Hashline accept")
    t.wait(function()
      return #child:said("hashline/decide") == 1
    end, "it is said")
    child:deliver(uri, child:version(), { { 0, 1, "ONE\n" } }, "Accept 3f2a9c1b:1")
    child:settle()
    t.eq(not child:lua("return vim.bo.modified"), case[3])
    child:deliver(uri, child:version(), { { 0, 1, "one\n" } }, "Undo 3f2a9c1b:1")
    child:settle()
    t.eq(child:lua("return vim.bo.modified"), true, "a rejection is not saved")
  end)
end
