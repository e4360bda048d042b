--- With the real sidecar: names that files had and others have by now, while the editor has some of the files open. What is open is renamed
--- and removed by the editor when the person accepts that; what is not is changed at once.
local t = ...
local Chain = require("chain")

--- A removed file comes back after the one that took its name has left it.

t.test("a removed file that was open comes back, after a closed one had its name", function()
  local chain = Chain.start({ p = "p\n", q = "q\n" }, { "p" })
  local removed = chain:removes("p")
  chain:holds({ p = "p\n", q = "q\n" }, { p = "p\n" }, "what is open stays until that is accepted")
  chain:accepts(removed)
  chain:holds({ q = "q\n" }, {}, "removed")
  local moved = chain:moves("q", "p")
  chain:holds({ p = "q\n" }, {}, "what is closed moves at once")
  local said = chain:mcpdiff(4, "reject", removed)
  t.ok(said:find(moved, 1, true), said)
  chain:holds({ p = "q\n" }, {}, "the name is taken")
  chain:decides("reject", moved)
  chain:holds({ q = "q\n" }, {}, "the name is free")
  chain:reopens()
  chain:reopens()
  chain:decides("reject", removed)
  chain:holds({ p = "p\n", q = "q\n" }, {})
  chain:decides("reject", moved)
  chain:is_over()
end)

t.test("a removed file comes back, after one that is open had its name", function()
  local chain = Chain.start({ p = "p\n", q = "q\n" }, { "q" })
  local removed = chain:removes("p")
  chain:holds({ q = "q\n" }, { q = "q\n" }, "what is closed is removed at once")
  local moved = chain:moves("q", "p")
  chain:holds({ q = "q\n" }, { q = "q\n" }, "what is open keeps its name")
  chain:accepts(moved)
  chain:holds({ p = "q\n" }, { p = "q\n" }, "moved")
  local said = chain:mcpdiff(4, "reject", removed)
  t.ok(said:find(moved, 1, true), said)
  chain:holds({ p = "q\n" }, { p = "q\n" }, "the name is taken")
  chain:reopens()
  chain:decides("reject", moved)
  chain:holds({ q = "q\n" }, { q = "q\n" }, "it goes back")
  chain:decides("reject", removed)
  chain:holds({ p = "p\n", q = "q\n" }, { q = "q\n" })
  chain:is_over()
end)

t.test("a removed file comes back, after one that is open was to have its name", function()
  local chain = Chain.start({ p = "p\n", q = "q\n" }, { "q" })
  local removed = chain:removes("p")
  local moved = chain:moves("q", "p")
  chain:holds({ q = "q\n" }, { q = "q\n" })
  chain:decides("reject", moved)
  chain:decides("reject", removed)
  chain:holds({ p = "p\n", q = "q\n" }, { q = "q\n" })
  chain:is_over()
end)

--- A name that an agent made and removed.

t.test("a file that is open moves to a name that was made and removed, and stays decidable", function()
  local chain = Chain.start({ q = "q\n" }, { "q" })
  chain:makes("n", "new\n")
  chain:removes("n")
  local moved = chain:moves("q", "n")
  chain:holds({ q = "q\n" }, { q = "q\n" })
  chain:accepts(moved)
  chain:holds({ n = "q\n" }, { n = "q\n" })
  for _, anew in ipairs({
    function()
      chain.scene.child:cmd("Hashline restart")
      chain:open({ "n" })
    end,
    function()
      chain:restarts({ "n" })
    end,
  }) do
    anew()
    chain:holds({ n = "q\n" }, { n = "q\n" }, "anew")
    chain:mcpdiff(0, "reject", moved)
    chain:holds({ q = "q\n" }, { q = "q\n" }, "rejected")
    chain:stands("rejected", moved)
    chain:mcpdiff(0, "accept", moved)
    chain:holds({ n = "q\n" }, { n = "q\n" }, "accepted again")
    chain:stands("accepted", moved)
  end
  chain:mcpdiff(0, "reject", "-c", chain.conversation)
  chain:holds({ q = "q\n" }, { q = "q\n" }, "without the conversation")
  chain:is_over()
  chain:mcpdiff(0, "accept", "-c", chain.conversation)
  chain:holds({ n = "q\n" }, { n = "q\n" }, "with it")
  chain:is_over()
end)

t.test("a closed file moves to a name that was made, opened and removed, and stays decidable", function()
  local chain = Chain.start({ q = "q\n" }, {})
  local made = chain:makes("n", "new\n")
  chain:open({ "n" })
  local removed = chain:removes("n")
  chain:holds({ q = "q\n", n = "new\n" }, { n = "new\n" })
  chain:accepts(removed)
  chain:holds({ q = "q\n" }, {})
  local moved = chain:moves("q", "n")
  chain:holds({ n = "q\n" }, {})
  chain:restarts({})
  chain:decides("reject", moved)
  chain:holds({ q = "q\n" }, {})
  chain:mcpdiff(0, "accept", made)
  chain:holds({ q = "q\n" }, {})
  chain:is_over()
  chain:mcpdiff(0, "accept", moved)
  chain:holds({ n = "q\n" }, {})
  chain:mcpdiff(0, "reject", "-c", chain.conversation)
  chain:holds({ q = "q\n" }, {})
  chain:mcpdiff(0, "accept", "-c", chain.conversation)
  chain:holds({ n = "q\n" }, {})
  chain:is_over()
end)

--- Conversations in which names are used again.

--- Rejects the conversation and accepts it again, twice. Before and after that are files and texts.
local function to_and_fro(chain, before, after)
  for _ = 1, 2 do
    chain:mcpdiff(0, "reject", "-c", chain.conversation)
    chain:holds(before[1], before[2], "without the conversation")
    chain:is_over()
    chain:mcpdiff(0, "accept", "-c", chain.conversation)
    chain:holds(after[1], after[2], "with it again")
    chain:is_over()
  end
end

--- Accepts the conversation first, that changes nothing. `first`: what is open then.
local function accepted_to_and_fro(chain, before, after, first)
  chain:holds(after[1], first or after[2], "with the conversation")
  chain:mcpdiff(0, "accept", "-c", chain.conversation)
  chain:holds(after[1], first or after[2], "accepted")
  chain:is_over()
  to_and_fro(chain, before, after)
end

t.test("moved away and written anew, with the moved file open", function()
  local chain = Chain.start({ a = "a\n" }, { "a" })
  chain:accepts(chain:moves("a", "a.bak"))
  chain:holds({ ["a.bak"] = "a\n" }, { ["a.bak"] = "a\n" })
  chain:makes("a", "new\n")
  accepted_to_and_fro(
    chain,
    { { a = "a\n" }, { a = "a\n" } },
    { { a = "new\n", ["a.bak"] = "a\n" }, { ["a.bak"] = "a\n" } }
  )
end)

t.test("moved away and written anew, with the new file open", function()
  local chain = Chain.start({ a = "a\n" }, {})
  chain:moves("a", "a.bak")
  chain:makes("a", "new\n")
  chain:open({ "a" })
  accepted_to_and_fro(
    chain,
    { { a = "a\n" }, {} },
    { { a = "new\n", ["a.bak"] = "a\n" }, {} },
    { a = "new\n" }
  )
end)

t.test("two names swapped, with the one open that gets the third in between", function()
  local chain = Chain.start({ a = "a\n", b = "b\n" }, { "a" })
  chain:accepts(chain:moves("a", "t"))
  chain:holds({ t = "a\n", b = "b\n" }, { t = "a\n" })
  chain:moves("b", "a")
  chain:accepts(chain:moves("t", "b"))
  accepted_to_and_fro(
    chain,
    { { a = "a\n", b = "b\n" }, { a = "a\n" } },
    { { a = "b\n", b = "a\n" }, { b = "a\n" } }
  )
end)

t.test("two names swapped, with the other one open", function()
  local chain = Chain.start({ a = "a\n", b = "b\n" }, { "b" })
  chain:moves("a", "t")
  chain:accepts(chain:moves("b", "a"))
  chain:holds({ a = "b\n", t = "a\n" }, { a = "b\n" })
  chain:moves("t", "b")
  accepted_to_and_fro(
    chain,
    { { a = "a\n", b = "b\n" }, { b = "b\n" } },
    { { a = "b\n", b = "a\n" }, { a = "b\n" } }
  )
end)

t.test("two names swapped stay so while one of the files is not saved", function()
  local chain = Chain.start({ a = "a\n", b = "b\n" }, { "a" })
  chain:accepts(chain:moves("a", "t"))
  chain:holds({ t = "a\n", b = "b\n" }, { t = "a\n" })
  chain:moves("b", "a")
  chain:accepts(chain:moves("t", "b"))
  local files = { a = "b\n", b = "a\n" }
  chain:holds(files, { b = "a\n" })
  chain.scene.child:cmd("buffer " .. vim.fs.joinpath(chain.scene.folder, "b"))
  chain.scene.child:type("Gomine<Esc>")
  chain.scene:reads(chain.agent, vim.fs.joinpath(chain.scene.folder, "b"))
  local unsaved = { b = "a\nmine\n(not saved)" }
  chain:mcpdiff(0, "accept", "-c", chain.conversation)
  chain:holds(files, unsaved, "nothing is to be done for it")
  chain:is_over()
  local said = chain:mcpdiff(1, "reject", "-c", chain.conversation)
  t.ok(said:find("not saved", 1, true), said)
  chain:holds(files, unsaved, "nothing is rejected")
  chain:is_over()
  chain.scene.child:cmd("silent write")
  chain:mcpdiff(0, "reject", "-c", chain.conversation)
  chain:holds({ a = "a\nmine\n", b = "b\n" }, { a = "a\nmine\n" })
  chain:is_over()
end)

t.test("a file that is open and one that is not are renamed by the acceptance of the conversation", function()
  local chain = Chain.start({ a = "a\n", b = "b\n" }, { "a" })
  chain:moves("a", "c")
  chain:moves("b", "d")
  chain:holds({ a = "a\n", d = "b\n" }, { a = "a\n" }, "what is open is held")
  for _ = 1, 2 do
    chain:mcpdiff(0, "accept", "-c", chain.conversation)
    chain:holds({ c = "a\n", d = "b\n" }, { c = "a\n" })
    chain:is_over()
    chain:mcpdiff(0, "reject", "-c", chain.conversation)
    chain:holds({ a = "a\n", b = "b\n" }, { a = "a\n" })
    chain:is_over()
  end
end)

--- Accepted again after both were rejected.

t.test("moved and made in its place, both rejected, both accepted again, with the moved file open", function()
  local chain = Chain.start({ p = "p\n" }, { "p" })
  local moved = chain:moves("p", "x")
  chain:accepts(moved)
  chain:holds({ x = "p\n" }, { x = "p\n" })
  local made = chain:makes("p", "new\n")
  chain:decides("reject", made)
  chain:holds({ x = "p\n" }, { x = "p\n" })
  chain:mcpdiff(0, "reject", moved)
  chain:holds({ p = "p\n" }, { p = "p\n" })
  chain:is_over()
  for _ = 1, 2 do
    chain:mcpdiff(0, "accept", moved)
    chain:mcpdiff(0, "accept", made)
    chain:holds({ p = "new\n", x = "p\n" }, { x = "p\n" })
    chain:is_over()
    chain:mcpdiff(0, "reject", made)
    chain:mcpdiff(0, "reject", moved)
    chain:holds({ p = "p\n" }, { p = "p\n" })
    chain:is_over()
  end
end)

t.test("moved and made in its place, both rejected, both accepted again, with the new file open", function()
  local chain = Chain.start({ p = "p\n" }, {})
  local moved = chain:moves("p", "x")
  local made = chain:makes("p", "new\n")
  chain:open({ "p" })
  chain:decides("reject", made)
  chain:holds({ x = "p\n" }, {})
  chain:decides("reject", moved)
  chain:holds({ p = "p\n" }, {})
  chain:is_over()
  chain:reopens()
  chain:accepts(moved)
  chain:holds({ x = "p\n" }, {})
  chain:mcpdiff(0, "accept", made)
  chain:holds({ p = "new\n", x = "p\n" }, {})
  chain:is_over()
end)

--- Edited and removed; made, moved and removed.

t.test("edited and removed, both held: saved in between, or not at all", function()
  local chain = Chain.start({ p = "one\ntwo\n", q = "q\n" }, { "p" })
  local edited = chain:edits("p", "two", "2")
  local removed = chain:removes("p")
  chain:edits("q", "q", "Q")
  local before = { p = "one\ntwo\n", q = "Q\n" }
  chain:holds(before, { p = "one\ntwo\n" })
  local said = chain:mcpdiff(1, "accept", "-c", chain.conversation)
  t.ok(said:find("save the file", 1, true), said)
  chain:holds(before, { p = "one\ntwo\n" }, "nothing is decided")
  chain:stands("pending", edited, removed)
  chain:mcpdiff(0, "accept", edited)
  chain:holds(before, { p = "one\n2\n(not saved)" })
  chain.scene.child:cmd("silent wall")
  chain:mcpdiff(0, "accept", "-c", chain.conversation)
  chain:holds({ q = "Q\n" }, {})
  chain:is_over()
  chain:mcpdiff(0, "reject", "-c", chain.conversation)
  chain:holds({ p = "one\ntwo\n", q = "q\n" }, {})
  chain:is_over()
end)

t.test("edited and removed in a closed file, with another edit in an open one", function()
  local chain = Chain.start({ p = "one\ntwo\n", q = "q\n" }, { "q" })
  chain:edits("p", "two", "2")
  chain:removes("p")
  chain:edits("q", "q", "Q")
  chain:holds({ q = "q\n" }, { q = "q\n" })
  chain:mcpdiff(0, "accept", "-c", chain.conversation)
  chain:holds({ q = "q\n" }, { q = "Q\n(not saved)" })
  chain:is_over()
  to_and_fro(
    chain,
    { { p = "one\ntwo\n", q = "q\n" }, { q = "q\n(not saved)" } },
    { { q = "q\n" }, { q = "Q\n(not saved)" } }
  )
end)

t.test("made, opened, moved and removed", function()
  local chain = Chain.start({}, {})
  chain:makes("n", "n\n")
  chain:open({ "n" })
  chain:accepts(chain:moves("n", "m"))
  chain:holds({ m = "n\n" }, { m = "n\n" })
  chain:removes("m")
  chain:holds({ m = "n\n" }, { m = "n\n" })
  chain:mcpdiff(0, "accept", "-c", chain.conversation)
  chain:holds({}, {})
  chain:is_over()
  to_and_fro(chain, { {}, {} }, { {}, {} })
end)

t.test("made, opened and moved: all of it is unmade in the editor", function()
  local chain = Chain.start({}, {})
  chain:makes("n", "n\n")
  chain:open({ "n" })
  chain:accepts(chain:moves("n", "m"))
  chain:holds({ m = "n\n" }, { m = "n\n" })
  chain:mcpdiff(0, "reject", "-c", chain.conversation)
  chain:holds({}, {})
  chain:is_over()
  chain:mcpdiff(0, "accept", "-c", chain.conversation)
  chain:holds({ m = "n\n" }, {})
  chain:is_over()
end)

--- What the editor does not do.

t.test("where the editor does not remove a file nothing that follows is decided, and it says why", function()
  local chain = Chain.start({ p = "p\n", q = "q\n" }, { "p" })
  local removed = chain:removes("p")
  local edited = chain:edits("q", "q", "Q")
  chain.scene.child:cmd("buffer " .. vim.fs.joinpath(chain.scene.folder, "p"))
  chain.scene.child:type("i")
  local said = chain:mcpdiff(1, "accept", "-c", chain.conversation)
  t.ok(said:find("you are typing in it", 1, true) and not said:find("Accepted", 1, true), said)
  chain:holds({ p = "p\n", q = "Q\n" }, { p = "p\n" })
  chain:stands("pending", removed, edited)
  chain.scene.child:type("<Esc>")
  chain:mcpdiff(0, "accept", "-c", chain.conversation)
  chain:holds({ q = "Q\n" }, {})
  chain:is_over()
end)
