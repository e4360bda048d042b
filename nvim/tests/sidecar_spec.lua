--- The plugin, the sidecar and an agent, all of them real: what a person lives through, key by key.
local t = ...
local Agent = require("agent")
local Scene = require("scene")
local Terminal = require("terminal")
local with = Scene.with

local FILE = Scene.FILE
local SAVED = table.concat(FILE, "\n") -- no final newline

--- The file with unsaved work in its first and last line, which is what the agent gets to read.
local UNSAVED = with(FILE, { { 10, 10, { "// the end, nearly" } }, { 1, 0, { "// a draft" } } })

--- Opens the file, types, and lets an agent edit three places of what is there now.
local function three_edits(scene)
  local path = scene:open("greet.js", SAVED)
  scene.child:type("ggO// a draft<Esc>GA, nearly<Esc>")
  t.eq(scene.child:lines(), UNSAVED)
  local agent = scene:agent(path)
  local read = agent:read(path)
  t.eq(read:lines(), UNSAVED, "the agent reads what is not saved")
  return path, agent, read
end

t.test("propose: three held edits move along, are accepted, rejected, typed over, taken back", function()
  local scene = Scene.start({})
  local child = scene.child
  local path, agent, read = three_edits(scene)
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
  t.ok(child:screen():find("!", 1, true), "it is shown")
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

  local outcome = agent:call("await_review", { edit_ids = { edited:edit() }, timeout_s = 5 }).text
  for _, said in ipairs({
    "hunk 1 · accepted\n",
    "hunk 2 · accepted\n",
    "hunk 3 · rejected · the person says: we never part\n",
  }) do
    t.ok(outcome:find(said, 1, true), outcome)
  end
end)

-- ---- apply mode -----------------------------------------------------------------------------------------------

--- The text with what the agent of `three_edits` does to it.
local APPLIED = with(UNSAVED, {
  { 11, 10, { 'farewell("world");' } },
  { 7, 7, { "  const bye = `Bye, ${name}.`;", "  return bye;" } },
  { 3, 3, { "  return `Hello, ${name}!`;" } },
})

--- Three edits that went into the text at once.
local function three_in_text(scene)
  local path, agent, read = three_edits(scene)
  local edited = agent:edit(path, read, Scene.THREE)
  t.ok(edited.text:find("goes into the editor's text at once", 1, true), edited.text)
  scene:has(APPLIED, "all three are put into the text")
  scene:shows({ "1 inText 2-3", "2 inText 6-8", "3 inText 11-12" })
  t.eq(Scene.bytes(path), SAVED, "and not onto the disk")
  return path, agent, edited
end

for _, case in ipairs({
  { "undo with my changes", 1, { '  return "Bye, " + name;' }, {} },
  { "keep my lines", 2, { '  return "Bye, " + name;' }, {} },
  { "cancel", 3, nil, { "2 edited 5-7" } },
}) do
  local name, number, lines, left = unpack(case)
  t.test("apply: keep one, undo one, type inside the third, whose rejection asks: " .. name, function()
    local scene = Scene.start({ mode = { open = "apply" } })
    local child = scene.child
    local path, agent, edited = three_in_text(scene)
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
    text[7] = text[7] .. " // or not"
    scene:shows({ "2 edited 5-7" }, "it is shown as edited")
    local before = text
    child:type(":Hashline undo<CR>")
    child:type(number .. "<CR>")
    if lines then
      local rest = number == 1 and lines or { "(another text)" }
      if number == 2 then
        rest = { lines[1], text[7] }
      end
      text = with(text, { { 6, 7, rest } })
    end
    scene:has(text, name)
    scene:shows(left)
    scene:reads(agent, path)
    t.eq(Scene.bytes(path), SAVED)
    local outcome = agent:call("await_review", { edit_ids = { edited:edit() }, timeout_s = 5 }).text
    local second = number == 3 and "in the text, changed by the person" or "rejected"
    for _, said in ipairs({ "hunk 1 · rejected\n", "hunk 2 · " .. second, "hunk 3 · accepted\n" }) do
      t.ok(outcome:find(said, 1, true), outcome)
    end
    if number < 3 then
      child:type("u")
      scene:has(before, "the rejection is taken back")
      scene:shows({ "2 edited 5-7" }, "and it is to be decided again")
    end
  end)
end

t.test("apply: u over a delivery makes it held and pending", function()
  local scene = Scene.start({ mode = { open = "apply" } })
  local child = scene.child
  local path, agent = three_in_text(scene)
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
  local path, agent, read = three_edits(scene)
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
  local path, agent, read = three_edits(scene)
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

-- ---- at ten keys a second -------------------------------------------------------------------------------------

local EDITS, KEY_MS, THINK_MS = 20, 100, 500

--- Lets several people go on side by side. Each is a function that waits by yielding what it waits for.
local function side_by_side(people, longest_ms)
  local threads = vim.tbl_map(function(person)
    return { run = coroutine.create(person) }
  end, people)
  local till = vim.uv.hrtime() + longest_ms * 1e6
  local over
  repeat
    over = true
    for _, thread in ipairs(threads) do
      if not thread.awaited or thread.awaited() then
        thread.awaited = nil
        if coroutine.status(thread.run) ~= "dead" then
          local fine, awaited = coroutine.resume(thread.run)
          t.ok(fine, awaited)
          thread.awaited = awaited
        end
      end
      over = over and coroutine.status(thread.run) == "dead"
    end
    vim.wait(3)
    t.ok(vim.uv.hrtime() < till, "they never come to an end")
  until over
end

local function await(condition)
  coroutine.yield(condition)
end

local function pause(ms)
  local till = vim.uv.hrtime() + ms * 1e6
  await(function()
    return vim.uv.hrtime() >= till
  end)
end

--- One Neovim with a person who types and an agent who thinks.
local function at_the_keys(mode)
  local scene = Scene.start({ mode = { open = mode } }, { longest_ms = 60000, size = { 60, 72 } })
  local lines = {}
  for number = 1, EDITS do
    vim.list_extend(lines, { ("old %d."):format(number), "between" })
  end
  lines[#lines + 1] = "the end"
  local desk = {
    mode = mode,
    scene = scene,
    child = scene.child,
    reads = 0,
    carried = 0,
    refused = {},
    typed = 0,
    breaks = 0,
  }
  desk.saved = table.concat(lines, "\n")
  desk.path = scene:open("long.txt", desk.saved)
  desk.child:type("ggA unsaved<Esc>")
  desk.agent = scene:agent(desk.path)
  return desk
end

--- Whether an edit that the agent was told is in the text stands in it.
local function is_there(desk, number)
  return vim.tbl_contains(desk.child:lines(), ("NEW %d"):format(number))
end

--- Looks, thinks, edits; never looks twice for one edit.
local function work(desk)
  local agent = desk.agent
  desk.edits = {}
  for number = 1, EDITS do
    local reading = agent:calling("read_text_file", { path = desk.path })
    await(reading)
    desk.reads = desk.reads + 1
    pause(THINK_MS)
    local words = number == 1 and "old 1. unsaved" or ("old %d."):format(number)
    local request = agent.request(desk.path, reading(), { { "replace", words, ("NEW %d"):format(number) } })
    local editing = agent:calling("edit_text_file", request)
    await(editing)
    local answer = editing()
    if answer.refused then
      table.insert(desk.refused, answer.text)
    else
      desk.edits[number] = answer:edit()
    end
    if answer.text:find("carried", 1, true) then
      desk.carried = desk.carried + 1
    end
  end
  -- All of them are in the text in the end; none is said to be before it is.
  repeat
    pause(50)
    local listing = agent:calling("list_edits", { path = desk.path })
    await(listing)
    local landed = 0
    for number, id in pairs(desk.edits) do
      local line = listing().text:match("edit " .. id .. "[^\n]*")
      if line:find("· accepted", 1, true) or line:find("· in the text", 1, true) then
        t.ok(is_there(desk, number), ("said to be in the text, and is not: %s"):format(line))
        landed = landed + 1
      end
    end
  until landed == #desk.edits
  desk.over = true
end

--- Ten keys a second, every twelfth of them a line break, in a line that no edit is about.
local function type_on(desk)
  desk.child:type("20GA")
  local started = vim.uv.hrtime()
  while not desk.over do
    desk.typed = desk.typed + 1
    local is_break = desk.typed % 12 == 0
    desk.breaks = desk.breaks + (is_break and 1 or 0)
    vim.rpcrequest(desk.child.chan, "nvim_input", is_break and "<CR>" or "k")
    local next_key = started + desk.typed * KEY_MS * 1e6
    await(function()
      return vim.uv.hrtime() >= next_key
    end)
  end
end

--- The person accepts what is offered, without leaving insert mode.
local function accept_all(desk)
  while not desk.over do
    local held = desk.child:lua([[
      local document = require("hashline.state").of_buffer(vim.api.nvim_get_current_buf())
      return #vim.tbl_filter(function(entry) return not entry.hunk.deciding end, document and document.entries or {})
    ]])
    if held > 0 then
      desk.child:cmd("Hashline accept!")
    end
    pause(150)
  end
end

-- Both modes at once, each in a Neovim of its own: the time is that of one, and the claim is the same.
t.test(
  "ten keys a second, half a second of thought: 20 of 20 edits land, in either mode, and no key is lost",
  function()
    local desks = { at_the_keys("apply"), at_the_keys("propose") }
    local people = {}
    for _, desk in ipairs(desks) do
      for _, person in ipairs({ type_on, work, desk.mode == "propose" and accept_all or nil }) do
        people[#people + 1] = function()
          person(desk)
        end
      end
    end
    side_by_side(people, 50000)
    for _, desk in ipairs(desks) do
      desk.child:type("<Esc>")
      t.eq(desk.refused, {}, desk.mode)
      t.eq({ #desk.edits, desk.reads }, { EDITS, EDITS }, desk.mode .. ": one look for each edit")
      -- The list for the text as it is comes some time after the last key.
      local left = desk.mode == "propose" and 0 or EDITS
      t.wait(function()
        return #desk.scene:hunks() == left
      end, ("%s: %d hunks are left to decide"):format(desk.mode, left))
      local text = table.concat(desk.child:lines(), "\n")
      t.eq(select(2, text:gsub("NEW %d+\n", "")), EDITS, desk.mode .. ": edits in the text")
      t.ok(not text:find("old", 1, true), "each in its place")
      t.eq(select(2, text:gsub("k", "")), desk.typed - desk.breaks, desk.mode .. ": keys in the text")
      t.eq(#desk.child:lines(), 2 * EDITS + 1 + desk.breaks, desk.mode .. ": lines in the text")
      desk.scene:reads(desk.agent, desk.path)
      t.ok(desk.carried >= EDITS / 2, "the person types between look and edit")
      t.eq(desk.child:notified(), {}, desk.mode .. ": nothing for the person to read")
      t.eq(Scene.bytes(desk.path), desk.saved, "nothing is saved")
      t.note(
        ("     %s: %d keys, %d edits, %d of them carried"):format(
          desk.mode,
          desk.typed,
          #desk.edits,
          desk.carried
        )
      )
    end
  end
)

-- ---- all kinds of things --------------------------------------------------------------------------------------

t.test("accepted in insert mode: typing, acceptance and typing are three steps", function()
  local scene = Scene.start({})
  local child = scene.child
  local path, agent, read = three_edits(scene)
  agent:edit(path, read, Scene.THREE)
  scene:shows({ "1 held 2-3", "2 held 6-7", "3 held 10-10" })
  scene:go("function farewell")
  child:type("Oabc")
  scene:shows({ "1 held 2-3", "2 held 7-8", "3 held 11-11" })
  child:cmd("Hashline accept!")
  local function text(typed, applied)
    local lines = vim.deepcopy(applied and APPLIED or UNSAVED)
    table.insert(lines, 6, typed)
    return lines
  end
  scene:has(text("abc", true))
  t.eq(child:lua("return vim.api.nvim_get_mode().mode"), "i", "the person types on")
  child:type("def<Esc>")
  t.eq(child:lines(), text("abcdef", true))
  scene:shows({})
  child:type("u")
  t.eq(child:lines(), text("abc", true), "first the typing behind it")
  scene:shows({})
  child:type("u")
  t.eq(child:lines(), text("abc", false), "then the acceptance")
  scene:shows({ "1 held 2-3", "2 held 7-8", "3 held 11-11" }, "which makes it pending")
  child:type("u")
  t.eq(child:lines(), UNSAVED, "then the typing before it")
  scene:shows({ "1 held 2-3", "2 held 6-7", "3 held 10-10" })
  child:type("<C-r><C-r><C-r>")
  t.eq(child:lines(), text("abcdef", true))
  scene:shows({})
  scene:reads(agent, path)
end)

t.test(
  "lines typed right where an insert is held: the plugin puts them where the sidecar does, at once",
  function()
    local scene = Scene.start({})
    local child = scene.child
    local path = scene:open("greet.js", SAVED .. "\n")
    local agent = scene:agent(path)
    agent:edit(path, agent:read(path), {
      { "insert_before", "function greet", "// first" },
      { "insert_after", 'greet("world")', 'farewell("world");' },
      { "insert_after", "the end", "// last" },
    })
    local held = { "1 held 0-0", "2 held 9-9", "3 held 10-10" }
    scene:shows(held)
    for _, keys in ipairs({
      "10GOabc<Esc>",
      "9Goabc<Esc>",
      "9GA<CR>abc<Esc>",
      "10GO<Esc>",
      "ggO<Esc>",
      "Goabc<Esc>",
      "GO<Esc>",
    }) do
      local row = child:lua(
        [[
      local keys = ...
      vim.api.nvim_feedkeys(vim.keycode(keys), "xt", false)
      guess = {}
      for _, entry in ipairs(require("hashline.state").of_buffer(vim.api.nvim_get_current_buf()).entries) do
        guess[#guess + 1] = ("%d held %d-%d"):format(entry.hunk.number, entry.lines.start, entry.lines["end"])
      end
      return vim.api.nvim_win_get_cursor(0)[1]
    ]],
        keys
      )
      local guess = child:lua("return guess")
      t.ok(not vim.deep_equal(guess, held), "something moves with " .. keys)
      local drawn = child:screen()
      scene:shows(guess, ("after %s in line %d"):format(keys, row))
      t.eq(child:screen(), drawn, "and nothing jumps when the sidecar's list comes")
      child:type("u")
      scene:shows(held)
    end
  end
)

t.test("typing after an acceptance is undone first, and is no reason to offer it again", function()
  local scene = Scene.start({})
  local child = scene.child
  local path, agent, read = three_edits(scene)
  agent:edit(path, read, Scene.THREE)
  scene:shows({ "1 held 2-3", "2 held 6-7", "3 held 10-10" })
  scene:go("Bye")
  child:cmd("Hashline accept")
  scene:shows({ "1 held 2-3", "3 held 11-11" })
  child:type("ggOone<Esc>Gotwo<Esc>ggdd")
  scene:shows({ "1 held 2-3", "3 held 11-11" })
  child:type("uu")
  scene:shows({ "1 held 3-4", "3 held 12-12" })
  child:type("u")
  scene:shows({ "1 held 2-3", "3 held 11-11" }, "it stays accepted")
  child:type("u")
  scene:shows({ "1 held 2-3", "2 held 6-7", "3 held 10-10" }, "until it is its turn")
  t.eq(child:lines(), UNSAVED)
  child:type("u")
  t.eq(child:lines(), with(UNSAVED, { { 11, 11, { "// the end" } } }), "and typing from before the edit")
  scene:shows({ "1 held 2-3", "2 held 6-7", "3 held 10-10" })
  scene:reads(agent, path)
end)

for _, mode in ipairs({ "propose", "apply" }) do
  t.test("line ends of DOS stay: " .. mode, function()
    local scene = Scene.start({ mode = { open = mode } })
    local child = scene.child
    local saved = table.concat(FILE, "\r\n") .. "\r\n"
    local path = scene:open("dos.js", saved)
    t.eq(child:lua("return vim.bo.fileformat"), "dos")
    child:type("ggO// a draft<Esc>")
    local agent = scene:agent(path)
    agent:edit(
      path,
      agent:read(path),
      vim.list_extend({ { "insert_after", "the end", "// and more\n// and all" } }, Scene.THREE)
    )
    if mode == "propose" then
      scene:shows({ "1 held 2-3", "2 held 6-7", "3 held 10-10", "4 held 11-11" })
      child:cmd("Hashline accept!")
    end
    local lines = with(FILE, {
      { 11, 10, { "// and more", "// and all" } },
      { 10, 9, { 'farewell("world");' } },
      { 6, 6, { APPLIED[7], APPLIED[8] } },
      { 2, 2, { APPLIED[3] } },
      { 1, 0, { "// a draft" } },
    })
    scene:has(lines)
    scene:reads(agent, path)
    child:type("u")
    scene:shows({ "1 held 2-3", "2 held 6-7", "3 held 10-10", "4 held 11-11" })
    child:type("<C-r>")
    scene:has(lines)
    t.eq(Scene.bytes(path), saved)
    child:cmd("write")
    t.eq(Scene.bytes(path), table.concat(lines, "\r\n") .. "\r\n")
    scene:reads(agent, path)
  end)
end

t.test(
  "a file without a final newline keeps the lack of it, whatever is typed and accepted at its end",
  function()
    local scene = Scene.start({})
    local child = scene.child
    local path = scene:open("end.txt", "one\ntwo")
    child:cmd("setlocal nofixendofline")
    local agent = scene:agent(path)
    local edited = agent:edit(path, agent:read(path), { { "insert_after", "two", "three" } })
    scene:shows({ "1 held 2-2" })
    for _, keys in ipairs({
      "Gofour<Esc>",
      "Gdd",
      "ggOzero<Esc>",
      "Go<CR>five<Esc>",
      "Gdd",
      "u",
      "uu",
      "GAx<Esc>",
      "u",
    }) do
      child:type(keys)
      scene:reads(agent, path) -- to the last byte
    end
    child:type("ggVGd")
    scene:reads(agent, path)
    child:type("u")
    scene:reads(agent, path)
    local before = child:lines()
    t.eq(#scene:hunks(), 1, vim.inspect(before))
    child:cmd("Hashline accept!")
    t.wait(function()
      return agent:call("list_edits", { path = path }).text:find(edited:edit() .. "[^\n]*accepted")
    end, "it is accepted")
    scene:reads(agent, path)
    child:cmd("write")
    t.eq(Scene.bytes(path), table.concat(child:lines(), "\n"))
  end
)

t.test(":e! with a held edit: it comes back where its lines are", function()
  local scene = Scene.start({})
  local child = scene.child
  local path = scene:open("greet.js", SAVED .. "\n")
  local agent = scene:agent(path)
  agent:edit(path, agent:read(path), Scene.THREE)
  scene:shows({ "1 held 1-2", "2 held 5-6", "3 held 9-9" })
  child:type("ggOone<CR>two<Esc>")
  scene:shows({ "1 held 3-4", "2 held 7-8", "3 held 11-11" })
  child:cmd("edit!")
  t.eq(child:lines(), FILE)
  scene:shows({ "1 held 1-2", "2 held 5-6", "3 held 9-9" }, "after a reload that takes typing back")
  vim.fn.writefile(vim.list_extend({ "// from elsewhere" }, FILE), path)
  child:cmd("checktime")
  scene:has(vim.list_extend({ "// from elsewhere" }, FILE))
  scene:shows({ "1 held 2-3", "2 held 6-7", "3 held 10-10" }, "after a reload of what others wrote")
  child:cmd("Hashline accept!")
  scene:shows({})
  scene:has(with(APPLIED, { { 12, 13, { APPLIED[12], "// the end" } }, { 1, 1, { "// from elsewhere" } } }))
  child:type("u")
  scene:shows({ "1 held 2-3", "2 held 6-7", "3 held 10-10" })
  scene:reads(agent, path)
end)

t.test("a document is closed and opened again: its held edits wait", function()
  local scene = Scene.start({})
  local child = scene.child
  local path = scene:open("greet.js", SAVED .. "\n")
  local agent = scene:agent(path)
  agent:edit(path, agent:read(path), Scene.THREE)
  scene:shows({ "1 held 1-2", "2 held 5-6", "3 held 9-9" })
  child:cmd("enew | bwipeout #")
  child:cmd("Hashline list")
  t.eq(#child:lua("return vim.fn.getqflist()"), 3, "they are listed while it is closed")
  child:cmd("cclose")
  t.wait(function()
    return agent:read(path).text:find("world", 1, true)
  end, "agents go on reading it")
  t.eq(Scene.bytes(path), SAVED .. "\n", "the disk stays as it is")
  child:cmd("edit " .. vim.fn.fnameescape(path))
  scene:shows({ "1 held 1-2", "2 held 5-6", "3 held 9-9" }, "they are back")
  scene:go("Bye")
  child:cmd("Hashline accept")
  scene:shows({ "1 held 1-2", "3 held 10-10" })
  child:cmd("write | enew | bwipeout #")
  vim.fn.writefile(vim.list_extend({ "// from elsewhere" }, vim.fn.readfile(path)), path)
  child:cmd("edit " .. vim.fn.fnameescape(path))
  scene:shows({ "1 held 2-3", "3 held 11-11" }, "after a change on the disk, too")
  scene:reads(agent, path)
end)

t.test("two buffers, two agents: each hunk in its file, the list has all of them", function()
  local scene = Scene.start({})
  local child = scene.child
  local first = scene:open("first.js", SAVED)
  child:cmd("set hidden")
  local second = scene:open("second.js", SAVED .. "\n")
  local agent, other = scene:agent(second), scene:agent(second, "codex")
  agent:edit(first, agent:read(first), Scene.THREE)
  other:edit(second, other:read(second), { { "delete", "Hello" } })
  scene:shows({ "1 held 1-2" })
  child:wait("#require('hashline.state').all() == 2")
  child:cmd("Hashline list")
  local function list()
    return child:lua([[
      return vim.tbl_map(function(item)
        return ("%s:%d %s"):format(vim.fs.basename(vim.api.nvim_buf_get_name(item.bufnr)), item.lnum, item.text)
      end, vim.fn.getqflist())
    ]])
  end
  t.eq(list(), {
    "first.js:2 claude-code · hunk 1 of 3 · +1 -1 · return `Hello, ${name}!`;",
    "first.js:6 claude-code · hunk 2 of 3 · +2 -1 · const bye = `Bye, ${name}.`;",
    'first.js:9 claude-code · hunk 3 of 3 · +1 · farewell("world");',
    'second.js:2 codex · hunk 1 of 1 · -1 · return "Hello, " + name;',
  })
  child:cmd("cclose")
  child:cmd("Hashline accept!")
  scene:has(with(FILE, { { 2, 2, {} } }))
  scene:shows({})
  child:cmd("buffer 1")
  t.eq(child:lines(), FILE, "the other file is as it was")
  scene:shows({ "1 held 1-2", "2 held 5-6", "3 held 9-9" })
  child:cmd("Hashline reject!")
  scene:shows({})
  t.eq(child:lines(), FILE)
  child:cmd("Hashline list")
  t.eq(child:lua("return vim.bo.buftype"), "", "no list of nothing")
  scene:reads(agent, first)
  t.eq({ Scene.bytes(first), Scene.bytes(second) }, { SAVED, SAVED .. "\n" })
end)

t.test("an agent that waits for the review hears of it with the reason", function()
  local scene = Scene.start({})
  local child = scene.child
  local path, agent, read = three_edits(scene)
  local edited = agent:edit(path, read, Scene.THREE)
  scene:shows({ "1 held 2-3", "2 held 6-7", "3 held 10-10" })
  local hears = agent:calling("await_review", { timeout_s = 30 })
  scene:go("Hello")
  t.ok(not hears(), "it waits")
  child:cmd("Hashline reject we greet with a colon")
  t.wait(hears, "it hears")
  local text = hears().text
  t.ok(text:find("hunk 1 · rejected · the person says: we greet with a colon\n", 1, true), text)
  t.ok(text:find("hunk 2 · held", 1, true), text)
  hears = agent:calling("await_review", { timeout_s = 30 })
  scene:go("Bye")
  child:cmd("Hashline accept")
  t.wait(hears, "it hears of the next")
  t.ok(hears().text:find("hunk 2 · accepted\n", 1, true), hears().text)
  t.eq(child:lua("return vim.trim(vim.fn.getline(7))"), vim.trim(APPLIED[7]), "when it is in the text")
  hears = agent:calling("await_review", { edit_ids = { edited:edit() }, timeout_s = 30 })
  child:type("u")
  scene:shows({ "2 held 6-7", "3 held 10-10" }, "an acceptance that is taken back")
  child:cmd("Hashline accept!")
  t.wait(hears, "it hears of the rest")
  scene:shows({})
  scene:has(with(UNSAVED, { { 11, 10, { APPLIED[12] } }, { 7, 7, { APPLIED[7], APPLIED[8] } } }))
  scene:reads(agent, path)
end)

t.test(":Hashline status, before and while there is something to decide", function()
  local scene = Scene.start({})
  local child = scene.child
  local path, agent, read = three_edits(scene)
  local function status()
    child:lua("notified = {}")
    child:cmd("Hashline status")
    return child:wait("notified[1]")
  end
  local said = status()
  t.ok(
    said:find(
      "documents open: 1 · hunks to decide: 0 (0 conflicted)\nagents: claude-code\nsocket: /",
      1,
      true
    ),
    said
  )
  t.ok(said:find(child.folder, 1, true), said)
  agent:edit(path, read, Scene.THREE)
  scene:shows({ "1 held 2-3", "2 held 6-7", "3 held 10-10" })
  scene:go("Bye")
  child:type("x")
  scene:wait_conflict("2")
  said = status()
  t.ok(said:find("hunks to decide: 3 (1 conflicted)", 1, true), said)
  t.eq(child:lua("return vim.b.hashline_status"), "3 pending, 1 conflicted")
end)

t.test("saveAfterAccept writes what is accepted, and nothing else", function()
  local scene = Scene.start({ saveAfterAccept = "ifClean" })
  local child = scene.child
  local path = scene:open("greet.js", SAVED .. "\n")
  local agent = scene:agent(path)
  agent:edit(path, agent:read(path), Scene.THREE)
  scene:shows({ "1 held 1-2", "2 held 5-6", "3 held 9-9" })
  scene:go("Hello")
  child:cmd("Hashline accept")
  local first = with(FILE, { { 2, 2, { APPLIED[3] } } })
  t.wait(function()
    return Scene.bytes(path) == table.concat(first, "\n") .. "\n"
  end, "the acceptance is saved")
  scene:shows({ "2 held 5-6", "3 held 9-9" })
  child:type("u")
  scene:shows({ "1 held 1-2", "2 held 5-6", "3 held 9-9" })
  t.eq(child:lua("return vim.bo.modified"), true, "what is taken back is not saved")
  scene:go("Bye")
  child:cmd("Hashline accept")
  scene:shows({ "1 held 1-2", "3 held 10-10" })
  t.eq(Scene.bytes(path), table.concat(first, "\n") .. "\n", "nor is a file with unsaved work")
  t.eq(child:lua("return vim.bo.modified"), true)
end)

for _, how in ipairs({ "by :Hashline restart", "after it was killed" }) do
  t.test("the sidecar starts anew " .. how, function()
    local scene = Scene.start({})
    local child = scene.child
    local path, agent, read = three_edits(scene)
    agent:edit(path, read, Scene.THREE)
    scene:shows({ "1 held 2-3", "2 held 6-7", "3 held 10-10" })
    local processes = vim.fn.systemlist({ "pgrep", "-P", tostring(child:lua("return vim.fn.getpid()")) })
    t.eq(#processes, 1, vim.inspect(processes))
    if how == "after it was killed" then
      vim.uv.kill(tonumber(processes[1]), "sigkill")
      child:wait("#notified > 0")
      local said = table.concat(child:notified(), "\n")
      t.ok(said:find("ended by itself", 1, true), said)
      t.eq(child:lines(), UNSAVED)
    end
    child:cmd("Hashline restart")
    t.wait(function()
      local now = vim.fn.systemlist({ "pgrep", "-P", tostring(child:lua("return vim.fn.getpid()")) })
      return #now == 1 and now[1] ~= processes[1]
    end, "another process")
    t.eq(child:lines(), UNSAVED, "the text is the person's")
    scene:reads(agent, path)
    agent:edit(path, agent:read(path), Scene.THREE)
    child:wait("#(require('hashline.state').of_buffer(1) or { entries = {} }).entries == 3")
    child:type("ggOmore<Esc>")
    scene:shows({ "1 held 3-4", "2 held 7-8", "3 held 11-11" })
    child:cmd("Hashline accept!")
    scene:has(vim.list_extend({ "more" }, APPLIED))
    scene:reads(agent, path)
  end)
end

-- ---- in a terminal --------------------------------------------------------------------------------------------

local INIT = [[
vim.opt.runtimepath:prepend(vim.env.HASHLINE_NVIM)
vim.g.hashline = { binary = vim.env.HASHLINE_SIDECAR }
vim.o.termguicolors = true
vim.o.number = true
vim.o.statusline = " %f %m%=%{get(b:, 'hashline_status', '')} "
vim.cmd("set noswapfile shortmess+=I noruler")
vim.keymap.set("n", "]h", "<Plug>(HashlineNext)")
vim.keymap.set("n", "ga", "<Plug>(HashlineAccept)")
vim.keymap.set("n", "gr", "<Plug>(HashlineReject)")
]]

local CART = {
  "// what is in the cart",
  "export function total(items) {",
  "  let sum = 0;",
  "  for (const item of items) {",
  "    sum += item.price;",
  "  }",
  "  return sum;",
  "}",
  "",
  "export function count(items) {",
  "  return items.length;",
  "}",
}

--- What a picture says, row by row, without its blanks.
local function said_by(svg)
  local rows, order = {}, {}
  for y, words in svg:gmatch('<text x="[^"]*" y="([^"]*)"[^>]*>([^<]*)</text>') do
    if not rows[y] then
      rows[y], order[#order + 1] = "", y
    end
    rows[y] = rows[y] .. words:gsub("%s", "")
  end
  return vim.tbl_map(function(y)
    return rows[y]
  end, order)
end

t.test(
  "in a terminal: a held edit is seen, in colours, accepted and taken back by keys; and its picture",
  function()
    local binary, state = Scene.sidecar()
    local folder = vim.fn.tempname()
    vim.fn.mkdir(folder, "p")
    vim.fn.writefile(vim.split(INIT, "\n"), folder .. "/init.lua")
    vim.fn.mkdir(folder .. "/shop")
    vim.fn.writefile(CART, folder .. "/shop/cart.js")
    local nvim = { vim.env.NVIM_BINARY, "-n", "-i", "NONE", "--clean", "-u", "../init.lua", "cart.js" }
    local env = { HASHLINE_NVIM = vim.fs.dirname(t.here), HASHLINE_SIDECAR = binary }
    local columns, rows = 80, 18
    local terminal = Terminal.start({ columns, rows }, folder .. "/shop", nvim, env)
    terminal:has("what is in the cart")
    terminal:keys("A, gift wrap not counted yet", "Escape")
    local agent = Agent.start(folder .. "/shop", state)
    local read
    t.wait(function()
      read = agent:read("cart.js")
      return read.text:find("gift wrap not counted yet", 1, true)
    end, "the agent reads what is not saved")
    agent:edit("cart.js", read, {
      { "replace", "item.price", "    sum += item.price * item.quantity;" },
      { "insert_after", "let sum", "  if (items.length === 0) return sum;" },
    })
    local held = {
      "    1 // what is in the cart, gift wrap not counted yet",
      "    2 export function total(items) {",
      "_   3   let sum = 0;",
      "      ▎ claude-code · hunk 1 of 2 · +1 · :Hashline accept | reject",
      "        if (items.length === 0) return sum;",
      "    4   for (const item of items) {",
      "-   5     sum += item.price;",
      "      ▎ claude-code · hunk 2 of 2 · +1 -1 · :Hashline accept | reject",
      "          sum += item.price * item.quantity;",
      "    6   }",
      "    7   return sum;",
      "    8 }",
      "    9",
      "   10 export function count(items) {",
      "   11   return items.length;",
      "   12 }",
      (" cart.js [+]%s2 pending"):format((" "):rep(58)),
      "hashline: 2 hunks to decide (claude-code)",
    }
    terminal:begins(held, "the proposal")
    local capture = terminal:coloured()

    local path = vim.fs.joinpath(vim.fs.dirname(t.here), "doc", "held_edit.svg")
    local drawn = vim
      .system(
        { "python3", t.here .. "/picture.py", tostring(columns), tostring(rows) },
        { stdin = capture, text = true }
      )
      :wait(5000)
    t.eq(drawn.code, 0, drawn.stderr)
    if vim.env.HASHLINE_UPDATE_SCREENS == "1" then
      vim.fn.writefile(vim.split(vim.trim(drawn.stdout), "\n"), path)
    end
    -- Colours differ from one Neovim to the next; the words do not.
    t.eq(said_by(Scene.bytes(path)), said_by(drawn.stdout), "the picture in the README shows another screen")

    terminal:keys("]h")
    held[18] = "hunk 1 of 2 · claude-code · at line 4 · +1 · held"
    terminal:begins(held, "the place")
    terminal:keys("]h")
    local accepted = vim.list_slice(held, 1, 6)
    accepted[7] = "    5     sum += item.price * item.quantity;"
    vim.list_extend(accepted, vim.list_slice(held, 10, 16))
    for round = 1, 6 do
      terminal:keys("ga")
      terminal:begins(accepted, "the acceptance, in round " .. round)
      terminal:keys("u")
      terminal:begins(vim.list_slice(held, 1, 17), "the acceptance taken back, in round " .. round)
    end
    terminal:keys("gr")
    accepted[7] = "    5     sum += item.price;"
    terminal:begins(accepted, "the rejection")
    t.eq(Scene.bytes(folder .. "/shop/cart.js"), table.concat(CART, "\n") .. "\n", "nothing is saved")
    terminal:keys(":qa!", "Enter")
    terminal:ends("Neovim ends")
    t.wait(function()
      return vim.trim(vim.fn.system({ "pgrep", "-f", state })):find(tostring(agent.process.pid)) ~= nil
        and #vim.fn.systemlist({ "pgrep", "-f", state }) == 1
    end, "and its sidecar with it: only the agent is left")
  end
)

t.test("hashline demo --editor nvim: an offer to decide, and nothing left behind", function()
  Scene.sidecar() -- says what is missing
  local folder = vim.fn.tempname()
  vim.fn.mkdir(folder, "p")
  local demo = { vim.env.HASHLINE_BIN, "demo", "--editor", "nvim", "--nvim", vim.env.NVIM_BINARY }
  local terminal = Terminal.start({ 90, 26 }, t.repository, demo, { TMPDIR = folder })
  terminal:has("// draft: greetings, not saved yet", "the unsaved work")
  terminal:has("▎ demo-agent · hunk 1 of 3 · +1 -1 · :Hashline accept | reject", "the offer")
  terminal:has('  farewell("world");', "all of it")
  local playing = vim.fn.systemlist({ "pgrep", "-f", folder })
  t.ok(#playing >= 3, "Neovim, the sidecar and the router: " .. vim.inspect(playing))
  terminal:keys(":Hashline next", "Enter")
  terminal:keys(":Hashline accept", "Enter")
  terminal:has("▎ demo-agent · hunk 2 of 3")
  terminal:wait(function(screen)
    return not screen:find("hunk 1 of 3", 1, true) and screen:find("return `Hello, ${name}!`;", 1, true)
  end, "the first is accepted")
  terminal:keys(":Hashline reject!", "Enter")
  terminal:wait(function(screen)
    return not screen:find("▎", 1, true)
  end, "the others are rejected")
  terminal:keys(":qa!", "Enter")
  terminal:ends("it ends with Neovim")
  t.wait(function()
    return #vim.fn.systemlist({ "pgrep", "-f", folder }) == 0
  end, "no process is left")
  t.eq(vim.fn.glob(folder .. "/hashline-demo-*"), "", "nor its folder")
  t.eq(vim.fn.globpath(folder, "hashline-[0-9]*/*"), "", "nor a socket")
end)
