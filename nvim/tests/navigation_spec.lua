--- Going from hunk to hunk.
local t = ...
local messages = require("messages")
local three = require("three_hunks")
local at, edit, list = messages.at, messages.edit, messages.list

local LINES = three.LINES

t.test("next and previous, with counts, around the end, and back by the jump list", function()
  local child = three.start(t)
  local rows = {}
  for _, command in ipairs({ "next", "next", "next", "next", "prev", "next 2", "prev 2" }) do
    child:cmd("Hashline " .. command)
    rows[#rows + 1] = child:cursor()[1]
  end
  t.eq(rows, { 5, 20, 40, 5, 40, 20, 40 })
  t.eq(child:cursor()[2], 2, "on the first character")
  child:type("<C-o>")
  t.eq(child:cursor()[1], 20)
end)

t.test(
  "hunks that share a line are gone to one by one, and the one gone to is the one that is meant",
  function()
    local child = t.start()
    local uri = child:open("a.txt", LINES)
    child:push(
      "hashline/pendingEdits",
      list(uri, 0, {
        edit({
          { lines = at(4, 5), removed = { "  line 5" }, proposed = { "five" } },
          { lines = at(5, 5), proposed = { "more" } },
          { lines = at(5, 5), proposed = { "and more" } },
          { lines = at(9, 10), removed = { "  line 10" } },
        }),
      })
    )
    local function accepted()
      local before = #child:said("hashline/decide")
      child:cmd("Hashline accept")
      t.wait(function()
        return #child:said("hashline/decide") > before
      end, "it is decided")
      return child:said("hashline/decide")[before + 1].params.hunk
    end
    local seen = {}
    for _, command in ipairs({ "next", "next", "next", "next", "prev", "prev", "prev" }) do
      child:cmd("Hashline " .. command)
      child:settle()
      seen[#seen + 1] = { child:cursor()[1], accepted() }
    end
    t.eq(seen, { { 5, 1 }, { 5, 2 }, { 5, 3 }, { 10, 4 }, { 5, 3 }, { 5, 2 }, { 5, 1 } })
    child:cmd("Hashline next 2")
    child:type("kj")
    t.eq(accepted(), 1, "the cursor went elsewhere and came back: it is the line's own again")
  end
)

t.test("it says where one is, and shows the virtual lines below the last line of the window", function()
  local child = three.start(t)
  child:cmd("Hashline prev")
  t.screen(child, "next_hunk_at_the_end")
end)

t.test("nothing to go to", function()
  local child = t.start()
  child:open("b.txt", { "x" })
  child:cmd("Hashline next")
  t.eq(child:cursor(), { 1, 0 })
end)
