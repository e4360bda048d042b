--- The plugin, the sidecar and an agent, all of them real: what a person lives through, key by key.
local t = ...
local Scene = require("scene")
local three = require("three_edits")
local with = Scene.with

local SAVED, UNSAVED, APPLIED = three.SAVED, three.UNSAVED, three.APPLIED

t.test("propose: three held edits move along, are accepted, rejected, typed over, taken back", function()
  local scene = Scene.start({})
  local child = scene.child
  local path, agent, read = three.read(t, scene)
  -- Typing comes between the read and the edit.
  child:type("gg3Onot yet<Esc>")
  scene:reads(agent, path) -- it is sent
  local edited = agent:edit(path, read, Scene.THREE)
  t.ok(edited.text:find("· pending · held", 1, true), edited.text)
  t.ok(edited.text:find("carried", 1, true), edited.text)
  scene:shows({ "1 held 5-6", "2 held 9-10", "3 held 13-13" })
  local text = with(UNSAVED, { { 1, 0, { "not yet", "not yet", "not yet" } } })
  t.eq(child:lines(), text, "nothing is in the text yet")

  -- And after it: above, between and below the hunks.
  child:type("ggdd")
  scene:go("function farewell")
  child:type("O// how to part<CR>// from somebody<Esc>")
  child:type("Goand on<Esc>")
  text =
    with(text, { { 15, 14, { "and on" } }, { 9, 8, { "// how to part", "// from somebody" } }, { 1, 1, {} } })
  t.eq(child:lines(), text)
  scene:shows({ "1 held 4-5", "2 held 10-11", "3 held 14-14" }, "the hunks move along")

  scene:go("Hello")
  child:cmd("Hashline accept")
  local accepted = with(text, { { 5, 5, { "  return `Hello, ${name}!`;" } } })
  scene:has(accepted, "accepted")
  scene:shows({ "2 held 10-11", "3 held 14-14" })

  child:type("u")
  scene:has(text, "u takes the acceptance back")
  scene:shows({ "1 held 4-5", "2 held 10-11", "3 held 14-14" }, "and it is pending again")
  child:type("<C-r>")
  scene:has(accepted, "redo makes it again")
  scene:shows({ "2 held 10-11", "3 held 14-14" }, "and it is accepted again")

  scene:go('greet("world")')
  child:cmd("Hashline reject we never part")
  scene:shows({ "2 held 10-11" })
  t.eq(child:lines(), accepted, "a rejection of a held hunk changes nothing")

  scene:go("Bye")
  child:type("cwthrow<Esc>")
  scene:shows({ "2 conflicted 10-11" }, "typed over")
  t.ok(child:screen():find("#2 · 1 left · +2 -1", 1, true), child:screen())
  child:type("u")
  scene:shows({ "2 held 10-11" }, "no longer once the typing is undone")
  child:type("jddu")
  scene:shows({ "2 held 10-11" }, "a line beside it")
  child:type("kdd")
  scene:wait_conflict("2")
  child:type("u")
  scene:shows({ "2 held 10-11" })

  t.eq(Scene.bytes(path), SAVED, "the disk is untouched")
  child:cmd("write")
  t.eq(Scene.bytes(path), table.concat(accepted, "\n") .. "\n", "until :w, which adds the newline")
  scene:shows({ "2 held 10-11" }, "what is held is not saved, and goes on")
  scene:go("Bye")
  child:cmd("Hashline accept")
  scene:has(with(accepted, { { 11, 11, { "  const bye = `Bye, ${name}.`;", "  return bye;" } } }))
  scene:shows({})
  scene:reads(agent, path)

  local outcome = agent:call("await_review", { edit_ids = { edited:edit() }, timeout_s = 30 }).text
  for _, said in ipairs({
    "hunk 1 · accepted\n",
    "hunk 2 · accepted\n",
    'hunk 3 · rejected · the person says: "we never part"\n',
  }) do
    t.ok(outcome:find(said, 1, true), outcome)
  end
end)

-- ---- apply mode -----------------------------------------------------------------------------------------------

local MINE = "  return bye; // or not"

for _, case in ipairs({
  { "undo with my changes", 1, { UNSAVED[7] }, {} },
  { "keep my lines", 2, { UNSAVED[7], MINE }, {} },
  { "cancel", 3, { APPLIED[7], MINE }, { "2 edited 5-7" } },
}) do
  local name, number, lines, left = unpack(case)
  t.test("apply: keep one, undo one, type inside the third, whose rejection asks: " .. name, function()
    local scene = Scene.start({ mode = { open = "apply" } })
    local child = scene.child
    local path, agent, edited = three.apply(t, scene)
    scene:go('farewell("world")')
    child:cmd("Hashline keep")
    scene:shows({ "1 inText 2-3", "2 inText 6-8" }, "one is kept")
    t.eq(child:lines(), APPLIED)
    scene:go("Hello")
    child:cmd("Hashline undo")
    local text = with(APPLIED, { { 3, 3, { UNSAVED[3] } } })
    scene:has(text, "one is undone")
    scene:shows({ "2 inText 6-8" })
    child:type("ggdd")
    table.remove(text, 1)
    scene:go("return bye")
    child:type("A // or not<Esc>")
    text[7] = MINE
    scene:shows({ "2 edited 5-7" }, "it is shown as edited")
    child:type(":Hashline undo<CR>")
    child:type(number .. "<CR>")
    scene:has(with(text, { { 6, 7, lines } }), name)
    scene:shows(left)
    scene:reads(agent, path)
    t.eq(Scene.bytes(path), SAVED)
    local outcome = agent:call("await_review", { edit_ids = { edited:edit() }, timeout_s = 30 }).text
    local second = number == 3 and "in the text, changed by the person" or "rejected"
    for _, said in ipairs({ "hunk 1 · rejected\n", "hunk 2 · " .. second, "hunk 3 · accepted\n" }) do
      t.ok(outcome:find(said, 1, true), outcome)
    end
    if number < 3 then
      child:type("u")
      scene:has(text, "the rejection is taken back")
      scene:shows({ "2 edited 5-7" }, "and it is to be decided again")
    end
  end)
end

t.test("apply: u over a delivery makes it held and pending", function()
  local scene = Scene.start({ mode = { open = "apply" } })
  local child = scene.child
  local path, agent = three.apply(t, scene)
  child:type("u")
  scene:has(UNSAVED, "one step for all three")
  scene:shows({ "1 held 2-3", "2 held 6-7", "3 held 10-10" })
  child:type("ggOup here<Esc>")
  scene:shows({ "1 held 3-4", "2 held 7-8", "3 held 11-11" }, "it stays out, and moves along")
  child:type("u")
  scene:shows({ "1 held 2-3", "2 held 6-7", "3 held 10-10" })
  child:type("<C-r><C-r>")
  scene:shows({ "1 held 3-4", "2 held 7-8", "3 held 11-11" }, "there is nothing else to redo")
  child:type("u")
  scene:go("Bye")
  child:cmd("Hashline accept")
  scene:has(with(UNSAVED, { { 7, 7, { APPLIED[7], APPLIED[8] } } }), "it can be accepted")
  scene:shows({ "1 held 2-3", "3 held 11-11" })
  child:type("u")
  scene:has(UNSAVED)
  scene:shows({ "1 held 2-3", "2 held 6-7", "3 held 10-10" })
  scene:reads(agent, path)
end)

-- ---- without the plugin ---------------------------------------------------------------------------------------

t.test("no plugin, propose: the same by code actions, with conflict and undo", function()
  local scene = Scene.start(false)
  local child = scene.child
  scene:serve({})
  local path, agent, read = three.read(t, scene)
  child:type("gg3Onot yet<Esc>")
  scene:reads(agent, path)
  agent:edit(path, read, Scene.THREE)
  scene:hints({ 5, 9, 13 })
  child:type("ggdd")
  child:type("Goand on<Esc>")
  scene:hints({ 4, 8, 12 })
  local text = with(UNSAVED, { { 12, 11, { "and on" } }, { 1, 0, { "not yet", "not yet" } } })
  t.eq(child:lines(), text)

  scene:go("Hello")
  local accept, reject = "Accept (claude-code 1 of 3)", "Reject (claude-code 1 of 3)"
  scene:offers({ accept, reject, "Accept all 3 hunks", "Reject all 3 hunks" })
  scene:take(accept)
  local accepted = with(text, { { 5, 5, { "  return `Hello, ${name}!`;" } } })
  scene:has(accepted)
  scene:offers({ "Accept all 2 hunks", "Reject all 2 hunks" })
  child:type("u")
  scene:has(text, "u takes the acceptance back")
  scene:offers({ accept, reject, "Accept all 3 hunks", "Reject all 3 hunks" }, "and it is pending again")
  scene:take(accept)
  scene:has(accepted)

  scene:go('greet("world")')
  scene:take("Reject (claude-code 3 of 3)")
  scene:offers({ "Accept the hunk", "Reject the hunk" })
  t.eq(child:lines(), accepted)

  scene:go("Bye")
  child:type("cwthrow<Esc>")
  local ways = {
    "Keep mine (claude-code 2 of 3)",
    "Take the agent's (claude-code 2 of 3)",
    "Keep both (claude-code 2 of 3)",
  }
  scene:offers(ways, "typed over", true)
  child:type("u")
  local second = { "Accept (claude-code 2 of 3)", "Reject (claude-code 2 of 3)" }
  scene:offers(second, "no longer once the typing is undone", true)
  child:type("cwthrow<Esc>")
  scene:take("Keep both")
  local both = with(accepted, { { 9, 9, { '  return "throw, " + name;', APPLIED[7], APPLIED[8] } } })
  scene:has(both, "both")
  scene:offers({})
  child:type("u")
  scene:has(with(accepted, { { 9, 9, { '  return "throw, " + name;' } } }), "both taken back")
  scene:offers(ways, "and it is conflicted again", true)
  child:type("u")
  scene:offers(second, "and it is held again", true)
  t.eq(Scene.bytes(path), SAVED, "the disk is untouched")
  child:cmd("write")
  t.eq(Scene.bytes(path), table.concat(accepted, "\n") .. "\n", "until :w")
  scene:take(second[1])
  scene:has(with(accepted, { { 9, 9, { APPLIED[7], APPLIED[8] } } }))
  scene:offers({})
  scene:reads(agent, path)
end)

t.test("no plugin, apply: keep, undo, the ways out of an edited one; u makes it held", function()
  local scene = Scene.start(false)
  local child = scene.child
  scene:serve({ mode = { open = "apply" } })
  local path, agent, read = three.read(t, scene)
  agent:edit(path, read, Scene.THREE)
  scene:has(APPLIED)
  scene:go("Hello")
  scene:offers({ "Keep (claude-code 1 of 3)", "Undo (claude-code 1 of 3)" }, "in the text", true)
  child:type("u")
  scene:has(UNSAVED)
  scene:go("Hello")
  scene:offers({ "Accept (claude-code 1 of 3)", "Reject (claude-code 1 of 3)" }, "held and pending", true)
  child:type("<C-r>")
  scene:has(APPLIED)
  scene:go("Hello")
  scene:offers({ "Keep (claude-code 1 of 3)", "Undo (claude-code 1 of 3)" }, "in the text again", true)
  scene:take("Keep (")
  scene:offers({}, "kept", true)
  t.eq(child:lines(), APPLIED)
  scene:go('farewell("world")')
  scene:take("Undo (")
  local text = with(APPLIED, { { 12, 12, {} } })
  scene:has(text)
  scene:go("return bye")
  child:type("A // or not<Esc>")
  local ways = {
    "Keep (claude-code 2 of 3)",
    "Undo it, my changes too (claude-code 2 of 3)",
    "Undo it, keep my lines (claude-code 2 of 3)",
  }
  scene:offers(ways, "edited", true)
  scene:take(ways[3])
  scene:has(with(text, { { 7, 8, { UNSAVED[7], "  return bye; // or not" } } }))
  scene:offers({}, "all is decided")
  child:type("u")
  scene:has(with(text, { { 8, 8, { "  return bye; // or not" } } }))
  scene:go("return bye")
  scene:offers(ways, "edited again", true)
  scene:take(ways[2])
  scene:has(with(text, { { 7, 8, { UNSAVED[7] } } }))
  scene:offers({})
  scene:reads(agent, path)
  t.eq(Scene.bytes(path), SAVED)
end)
