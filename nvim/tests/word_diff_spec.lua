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
