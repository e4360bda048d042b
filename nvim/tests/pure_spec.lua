--- What needs no editor: placing, choosing and comparing, and the settings.
local t = ...
local config = require("hashline.config")
local hunks = require("hashline.hunks")
local locator = require("hashline.locator")
local messages = require("messages")
local words = require("hashline.words")

local at = messages.at

t.test("lines move along with changes", function()
  for _, case in ipairs({
    -- lines from to, change first last new_last, lines afterwards
    { 5, 7, 0, 0, 2, 7, 9, "lines typed above" },
    { 5, 7, 1, 3, 1, 3, 5, "lines deleted above" },
    { 5, 7, 7, 7, 9, 5, 7, "lines typed below" },
    { 5, 7, 5, 5, 6, 6, 8, "a line typed right above" },
    { 5, 7, 6, 6, 7, 5, 8, "a line typed inside" },
    { 5, 7, 5, 6, 6, 5, 7, "a line changed in place" },
    { 5, 7, 5, 6, 5, 5, 6, "the first line deleted" },
    { 5, 7, 6, 7, 6, 5, 6, "the last line deleted" },
    { 5, 7, 4, 8, 4, 4, 4, "all deleted, and around" },
    { 5, 7, 6, 9, 6, 5, 6, "deleted across the end" },
    { 5, 7, 3, 6, 3, 3, 4, "deleted across the beginning" },
    { 5, 5, 5, 5, 6, 6, 6, "a line typed at a place" },
    { 5, 5, 4, 4, 5, 6, 6, "a line typed above a place" },
    { 5, 5, 4, 5, 4, 4, 4, "the line before a place deleted" },
    { 5, 5, 5, 6, 5, 5, 5, "the line after a place deleted" },
    { 5, 5, 4, 6, 4, 4, 4, "both deleted" },
    { 0, 0, 0, 0, 1, 0, 0, "a line typed at the very beginning" },
    { 5, 7, 0, 9, 3, 3, 3, "everything replaced by less" },
  }) do
    local lines = at(case[1], case[2])
    hunks.shift(lines, case[3], case[4], case[5])
    t.eq(lines, at(case[6], case[7]), case[8])
  end
end)

t.test("a hunk that is part of another is left to that one", function()
  local whole = messages.hunk({ number = 1, lines = at(1, 2) })
  local part = messages.hunk({ number = 2, lines = at(2, 2), partOf = "a:1" })
  t.eq(#hunks.entries({ { id = "a", hunks = { whole, part } } }), 1)
end)

local function entries()
  return hunks.entries({
    messages.edit({
      { lines = at(2, 4), removed = { "a", "b" }, proposed = { "c" } },
      { lines = at(8, 8), proposed = { "d" } },
      { lines = at(9, 10), removed = { "e" } },
      { decision = "accepted", state = "inText", lines = at(20, 21) },
      { state = "withdrawn", lines = at(30, 31) },
    }),
    messages.edit({ { lines = at(0, 0), proposed = { "f" } } }, { id = "second" }),
  })
end

local function name(entry)
  return entry and (entry.edit.id == "second" and "second" or "first") .. entry.hunk.number
end

t.test("only undecided hunks count, in text order", function()
  t.eq(vim.tbl_map(name, entries()), { "second1", "first1", "first2", "first3" })
end)

t.test("the hunk at a row", function()
  for row, expected in pairs({
    [0] = "second1",
    [2] = "first1",
    [3] = "first1",
    [7] = "first2",
    [8] = "first2",
    [9] = "first3",
  }) do
    t.eq(name(hunks.at(entries(), row)), expected, "row " .. row)
  end
  t.eq(hunks.at(entries(), 5), nil)
end)

t.test("hunks that touch lines", function()
  t.eq(vim.tbl_map(name, hunks.touching(entries(), 3, 8)), { "first1", "first2" })
  t.eq(vim.tbl_map(name, hunks.touching(entries(), 4, 7)), {})
end)

t.test("next and previous, with counts and around the end", function()
  for _, case in ipairs({
    { 0, 1, "first1" },
    { 2, 1, "first2" },
    { 3, 2, "first3" },
    { 9, 1, "second1" },
    { 0, -1, "first3" },
    { 9, -2, "first1" },
    { 5, 5, "first2" },
    { 2, -1, "second1" },
  }) do
    t.eq(name((hunks.following(entries(), case[1], case[2]))), case[3], vim.inspect(case))
  end
  t.eq(hunks.following({}, 0, 1), nil)
end)

t.test("changed words", function()
  local in_old, in_new = words.between('  return "world";', '  return "hello";')
  t.eq({ in_old, in_new }, { { { 10, 15 } }, { { 10, 15 } } })
  t.eq({ words.between("a", "a") }, { {}, {} })
  t.eq({ words.between("one thing", "something else entirely") }, { {}, {} }, "too little in common")
  t.eq({ words.between("naïve x", "naïve y") }, { { { 7, 8 } }, { { 7, 8 } } }, "bytes, not characters")
end)

t.test("changed words, where more lines come than go: beside the line that each resembles", function()
  local in_old, in_new = words.paired(
    { "export function count(items) {" },
    { "/** How many there are. */", "export function count(items, kind) {" }
  )
  t.eq({ in_old[1], in_new[1], in_new[2] }, { {}, nil, { { 27, 33 } } })
  in_old, in_new = words.paired({ "a = 1", "gone", "c = 3" }, { "a = 10", "c = 30" })
  t.eq({ in_old[1], in_old[3], in_new[1], in_new[2] }, {
    { { 4, 5 } },
    { { 4, 5 } },
    { { 4, 6 } },
    { { 4, 6 } },
  })
  t.eq({ words.paired({ "same", "one" }, { "same", "1" }) }, { { [2] = {} }, { [2] = {} } })
end)

t.test("settings: defaults, and those that are right", function()
  local rules = { { agent = "codex", mode = "apply" }, { glob = "docs/**", mode = "propose" } }
  local markers = { ".git", { "Cargo.toml", "package.json" } }
  local values, problems =
    config.resolve({ mode = { open = "apply", rules = rules }, max_lines = 5, root_markers = markers })
  t.eq(problems, {})
  t.eq({ values["mode.open"], values["mode.disk"], values.max_lines }, { "apply", "apply", 5 })
  t.eq({ values["mode.rules"], values.root_markers }, { rules, markers })
  for _, setting in ipairs(config.schema) do
    t.eq(setting.kind.problem(setting.default), nil, setting.key .. ": the default is right")
  end
end)

for _, case in ipairs({
  { { signs = "yes" }, '`signs` is "yes"; expected a boolean' },
  { { max_lines = 0 }, "`max_lines` is 0; expected a whole number from 1" },
  { { max_lines = 1.5 }, "`max_lines` is 1.5; expected a whole number from 1" },
  { { mode = { open = "later" } }, '`mode.open` is "later"; expected one of "propose", "apply"' },
  { { mode = 3 }, "`mode` is 3; expected a table" },
  { { binary = { "x" } }, '`binary` is { "x" }; expected a string' },
  {
    { root_markers = { ".git", 4 } },
    '`root_markers` is { ".git", 4 } (at `root_markers[2]`); expected a list, each a string or a list, each a string',
  },
  {
    { mode = { rules = { { agent = "codex", mode = "apply" }, { agent = "codex" } } } },
    "(at `mode.rules[2].mode`); expected a list, each a table of `mode`",
  },
  {
    { mode = { rules = { { globs = "x", mode = "apply" } } } },
    "(at `mode.rules[1].globs`); expected a list",
  },
  { { colour = 3 }, "there is no setting `colour` (found 3); expected one of enabled, binary," },
  { { http = { port = 1 } }, "there is no setting `http.port` (found 1); expected one of enabled, binary," },
  { "x", 'the settings are "x"; expected a table' },
}) do
  t.test("a setting that is wrong: " .. case[2], function()
    local values, problems = config.resolve(case[1])
    t.eq(#problems, 1)
    t.ok(problems[1]:find(case[2], 1, true), problems[1])
    for _, setting in ipairs(config.schema) do
      t.eq(values[setting.key], setting.default, setting.key .. " stays at its default")
    end
  end)
end

t.test("the binary: setting, environment, and a sentence when there is none", function()
  local sh = vim.fn.exepath("sh")
  t.eq(locator.find(sh, nil), { path = sh, source = "the setting `binary`" })
  t.eq(locator.find("", sh), { path = sh, source = "$HASHLINE_BIN" })
  local found, sentence = locator.find("/no/such/file", nil)
  t.eq(found, nil)
  t.ok(sentence:find("the setting `binary` says /no/such/file", 1, true), sentence)
end)

t.test("the help page and the types have every setting as the schema says it", function()
  local plugin = vim.fs.dirname(t.here)
  local help = table.concat(vim.fn.readfile(plugin .. "/doc/hashline.txt"), "\n")
  t.ok(help:find(table.concat(config.help(), "\n"), 1, true), "regenerate with nvim/tests/help.lua")
  t.eq(
    vim.fn.readfile(plugin .. "/lua/hashline/settings.lua"),
    config.types(),
    "regenerate with nvim/tests/help.lua"
  )
end)
