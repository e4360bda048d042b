--- Which words differ between the lines that go and those that come.
local t = ...
local words = require("hashline.word_diff")

t.test("changed words", function()
  local in_old, in_new = words.between('  return "world";', '  return "hello";')
  t.eq({ in_old, in_new }, { { { 10, 15 } }, { { 10, 15 } } })
  t.eq({ words.between("a", "a") }, { {}, {} })
  t.eq({ words.between("one thing", "something else entirely") }, { {}, {} }, "too little in common")
  t.eq({ words.between("naïve x", "naïve y") }, { { { 7, 8 } }, { { 7, 8 } } }, "bytes, not characters")
end)

t.test("changes with one character between them are one", function()
  t.eq(
    { words.between("  return 3.14 * radius * radius", "  return Math.PI * radius * radius") },
    { { { 9, 13 } }, { { 9, 16 } } }
  )
  t.eq({ words.between("call(one, two) or nothing", "call(1, 2) or nothing") }, {
    { { 5, 8 }, { 10, 13 } },
    { { 5, 6 }, { 8, 9 } },
  }, "two are two")
  t.eq(
    { words.between("a == b and other(thing)", "a.x == b and other(thing)") },
    { {}, { { 1, 3 } } },
    "what only comes"
  )
end)

t.test("a line of which more than 60 % changed is marked as a whole", function()
  t.eq({ words.between("stays so " .. ("x"):rep(11), "stays so " .. ("y"):rep(11)) }, {
    { { 9, 20 } },
    { { 9, 20 } },
  })
  t.eq({ words.between("stays " .. ("x"):rep(14), "stays " .. ("y"):rep(14)) }, { {}, {} })
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
