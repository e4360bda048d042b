--- The same while the person types: at ten keys a second, in insert mode, and in the editor's undo.
local t = ...
local people = require("people")
local Scene = require("scene")
local three = require("three_edits")
local with = Scene.with
local await, pause = people.await, people.pause

local FILE = Scene.FILE
local SAVED, UNSAVED, APPLIED = three.SAVED, three.UNSAVED, three.APPLIED

-- ---- at ten keys a second -------------------------------------------------------------------------------------

local EDITS, KEY_MS, THINK_MS = 20, 100, 500

--- One Neovim with a person who types and an agent who thinks.
local function at_the_keys(mode)
  local scene = Scene.start({ mode = { open = mode } }, { 60, 72 })
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
    local everybody = {}
    for _, desk in ipairs(desks) do
      for _, person in ipairs({ type_on, work, desk.mode == "propose" and accept_all or nil }) do
        everybody[#everybody + 1] = function()
          person(desk)
        end
      end
    end
    people.side_by_side(everybody)
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
  local path, agent, read = three.read(t, scene)
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
  local path, agent, read = three.read(t, scene)
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
