--- Which hunks there are to decide, where they are, and which of them is meant.
local t = ...
local hunks = require("hashline.hunks")
local messages = require("messages")

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

t.test("many changes move lines as each of them does, one after the other", function()
  local seed = os.time()
  math.randomseed(seed)
  for round = 1, 2000 do
    local changes, line_count = {}, 40
    for _ = 1, math.random(0, 12) do
      local above = changes[#changes]
      -- Mostly from the end to the beginning.
      local most = above and math.random() < 0.8 and above.first or line_count
      local last = math.random(0, most)
      local first = math.random(math.max(last - 3, 0), last)
      local new_last = first + math.random(0, 4)
      changes[#changes + 1] = { first = first, last = last, new_last = new_last }
      line_count = line_count + new_last - last
    end
    local together, apart = {}, {}
    for number = 1, 12 do
      local start = math.random(0, 40)
      local stop = math.min(start + math.random(0, 3), 40)
      together[number], apart[number] = { lines = at(start, stop) }, { lines = at(start, stop) }
    end
    together[13], apart[13] = {}, {}
    hunks.shift_all(together, changes)
    for _, entry in ipairs(apart) do
      for _, change in ipairs(entry.lines and changes or {}) do
        hunks.shift(entry.lines, change.first, change.last, change.new_last)
      end
    end
    t.eq(together, apart, ("seed %d, round %d"):format(seed, round))
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
    local all = entries()
    local position = hunks.onward(all, case[1], case[2])
    t.eq(name(all[(position - 1) % #all + 1]), case[3], vim.inspect(case))
  end
  t.eq({ hunks.onward({}, 0, 1), hunks.onward({}, 0, -1) }, { 1, 0 }, "on to the next file, or back")
end)

t.test("where a hunk is, in words", function()
  t.eq(
    vim.tbl_map(hunks.where, { at(0, 0), at(5, 5), at(5, 6), at(5, 8) }),
    { "before line 1", "after line 5", "line 6", "lines 6 to 8" }
  )
end)

t.test("what becomes of a file, in words, and what can be done about it", function()
  local function line(file, state, more)
    local hunk = vim.tbl_extend("force", { file = file, state = state }, more or {})
    return hunks.file_line(messages.hunk(hunk), "/project/mv.js")
  end
  t.eq({
    line("remove the file", "held"),
    line("remove the file", "inText"),
    line("make the file", "held"),
    line("make the file", "inText"),
    line("rename the file to /project/moved.js", "held"),
    line("rename the file to " .. vim.fn.getcwd() .. "/lib/mv.js", "held"),
    line("rename the file to /project/mv.js", "inText"),
    line("remove the file", "conflicted", { ways = { "reject" } }),
    line("do what no version did", "held"),
  }, {
    "to be deleted: accept or reject",
    "deleted: keep or undo",
    "to be created: accept or reject",
    "created: keep or undo",
    "mv.js → moved.js: accept or reject",
    "mv.js → lib/mv.js: accept or reject",
    "renamed: keep or undo",
    "to be deleted: reject",
    "do what no version did: accept or reject",
  })
end)
