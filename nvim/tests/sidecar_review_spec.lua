--- The review with the real sidecar, through the keys that a person presses: files that are open and files that are not.
local t = ...
local Agent = require("agent")
local review = require("review_screen")
local Scene = require("scene")

local SAVED = table.concat(Scene.FILE, "\n") .. "\n"

local function exists(path)
  return vim.uv.fs_stat(path) ~= nil
end

--- A project with an open file and three that are not, and an agent in it.
local function start(settings)
  local scene = Scene.start(settings or {}, { 40, 110 })
  local path = scene:open("greet.js", SAVED)
  local function at(name)
    return vim.fs.joinpath(scene.folder, name)
  end
  for _, name in ipairs({ "closed.js", "old.js", "mv.js" }) do
    Scene.write(at(name), SAVED)
  end
  return scene, path, at, scene:agent(path)
end

--- What an agent does to all of them.
local function edit_all(agent, path, at)
  agent:edit(path, agent:read(path), Scene.THREE)
  agent:edit(at("closed.js"), agent:read(at("closed.js")), {
    { "delete", "the end" },
    { "replace", "Bye", '  return "So long, " + name;' },
  })
  agent:call("write_file", { path = at("new.js"), content = "new\n" })
  agent:call("delete_file", { path = at("old.js") })
  agent:call("move_file", { source = at("mv.js"), destination = at("moved.js") })
end

--- Waits until the files are these.
local function lists(child, expected, what)
  local found
  t.wait(function()
    found = review.lines(child, true)
    return vim.deep_equal(found, expected)
  end, function()
    return ("%s\n%s\n%s"):format(what or "the files", vim.inspect(found), child:screen())
  end)
end

--- Waits until the totals begin so.
local function totals(child, start_of_them)
  local found
  t.wait(function()
    found = review.totals(child)
    return vim.startswith(found, start_of_them)
  end, function()
    return ("the totals are %q, and not %q"):format(found, start_of_them)
  end)
end

--- Goes to the file that is listed so, and from there to its hunk.
local function go(child, file)
  child:cmd("wincmd h")
  child:type("/\\V" .. file .. "<CR>")
  child:type("<CR>")
end

t.test("files that are open and files that are not, decided by keys, one after the other", function()
  local scene, path, at, agent = start()
  local child = scene.child
  edit_all(agent, path, at)
  child:wait("vim.g.hashline_status_dict and vim.g.hashline_status_dict.pending == 9")
  child:cmd("Hashline review")
  lists(child, {
    "closed.js +1 -2 · 2 left",
    "greet.js +4 -2 · 3 left",
    "moved.js renamed · 1 left",
    "new.js created +1 · 2 left",
    "old.js deleted · 1 left",
  })
  t.eq(review.totals(child), "claude-code · 9 hunks in 5 files")
  t.eq(review.line(child), "▎ #1 · line 2 · +1 -1 · held", "where the person was")

  child:type("a")
  review.waits_for(t, child, "▎ #1 · +1 -1 · accepted")
  t.wait(function()
    return review.line(child) == "▎ #2 · line 6 · +2 -1 · held"
  end, "the cursor goes on")
  child:type("R3<CR>too long<CR>")
  review.waits_for(t, child, "▎ #2 · +2 -1 · rejected")
  t.wait(function()
    return agent:call("list_edits", { path = path }).text:find("too long", 1, true)
  end, "the agent is told why")
  child:type("u")
  review.waits_for(t, child, "▎ #2 · line 6 · +2 -1 · held")
  t.wait(function()
    return review.line(child) == "▎ #2 · line 6 · +2 -1 · held"
  end, "and the cursor goes to what was reopened")
  child:type("A")
  review.waits_for(t, child, "greet.js +4 -2 · decided", true)
  local buf = child:lua("return vim.fn.bufnr('greet.js')")
  local text = child:lua("return vim.api.nvim_buf_get_lines(..., 0, -1, true)", buf)
  t.eq(
    text,
    Scene.with(Scene.FILE, {
      { 10, 9, { 'farewell("world");' } },
      { 6, 6, { "  const bye = `Bye, ${name}.`;", "  return bye;" } },
      { 2, 2, { "  return `Hello, ${name}!`;" } },
    }),
    "all of it is in the text"
  )

  go(child, "old.js")
  t.eq(review.line(child), "▎ deleted")
  child:type("r")
  t.wait(function()
    return exists(at("old.js"))
  end, "it is back")
  go(child, "moved.js")
  child:type("a")
  review.waits_for(t, child, "moved.js renamed · decided", true)
  go(child, "new.js")
  child:type("X")
  t.wait(function()
    return not exists(at("new.js"))
  end, "what was created is gone")
  go(child, "closed.js")
  t.eq(review.line(child), "▎ #1 · line 6 · +1 -1 · in the text")
  child:type("r")
  t.wait(function()
    return Scene.bytes(at("closed.js")):find('return "Bye, "', 1, true)
  end, "the line is as it was, in a file that is not open")
  totals(child, "claude-code · 9 hunks in 5 files · 8 decided")
  t.wait(function()
    return review.line(child):find("#2 · after line 9 · -1 · in the text", 1, true)
  end, "one is left")
  child:type("a")
  totals(child, "claude-code · 9 hunks in 5 files · 9 decided · nothing is left to review")
  t.eq(child:notified(), {})
  child:type("q")
  t.eq(
    { child:lua("return vim.fn.expand('%:t')"), child:lua("return vim.fn.tabpagenr('$')") },
    { "greet.js", 1 }
  )
end)

t.test("held files that are not open: made, removed and renamed when that is accepted", function()
  local scene, path, at, agent = start({ mode = { disk = "propose" } })
  local child = scene.child
  agent:call("write_file", { path = at("new.js"), content = "new\n" })
  agent:call("delete_file", { path = at("old.js") })
  agent:call("move_file", { source = at("mv.js"), destination = at("moved.js") })
  child:wait("(vim.g.hashline_status_dict or {}).pending == 4")
  child:cmd("Hashline review")
  lists(child, {
    "mv.js → moved.js · 1 left",
    "new.js to be created +1 · 2 left",
    "old.js to be deleted · 1 left",
  })
  t.ok(not exists(at("new.js")) and exists(at("old.js")) and exists(at("mv.js")), "nothing is done")
  go(child, "new.js")
  child:type("A")
  t.wait(function()
    return exists(at("new.js")) and Scene.bytes(at("new.js")) == "new\n"
  end, "it is made")
  go(child, "old.js")
  child:type("a")
  t.wait(function()
    return not exists(at("old.js"))
  end, "it is removed")
  go(child, "mv.js")
  child:type("a")
  t.wait(function()
    return exists(at("moved.js")) and not exists(at("mv.js"))
  end, "it is renamed")
  totals(child, "claude-code · 4 hunks in 3 files · 4 decided")
  t.eq({ child:notified(), exists(path) }, { {}, true })
end)

t.test(
  "another agent comes while it is open, and is shown alone; typing beside it makes a conflict",
  function()
    local scene, path, at, agent = start()
    local child = scene.child
    agent:edit(path, agent:read(path), Scene.THREE)
    scene:shows({ "1 held 1-2", "2 held 5-6", "3 held 9-9" })
    child:cmd("Hashline review")
    child:type("J")
    local codex = scene:agent_of_the_disk()
    local other = require("agent").start(scene.folder, scene.state, "codex")
    other:edit(at("closed.js"), other:read(at("closed.js")), { { "delete", "the end" } })
    lists(child, {
      "claude-code",
      "greet.js +4 -2 · 3 left",
      "codex",
      "closed.js -1 · 1 left",
    })
    t.eq(review.line(child), "▎ #2 · line 6 · +2 -1 · held", "the cursor stays")
    child:lua("vim.ui.select = function(items, _, choose) choose(items[3]) end")
    child:type("f")
    t.eq(review.totals(child), "codex alone · 1 hunk in 1 file")
    child:type("A")
    totals(child, "codex alone · 1 hunk in 1 file · 1 decided")
    child:lua("vim.ui.select = function(items, _, choose) choose(items[1]) end")
    child:type("f")
    lists(child, {
      "claude-code",
      "greet.js +4 -2 · 3 left",
      "codex",
      "closed.js -1 · decided",
    })
    t.eq(review.line(child), "▎ #1 · -1 · accepted", "the cursor stays")
    child:cmd("botright sbuffer greet.js")
    child:type("ggOtop<Esc>")
    review.waits_for(t, child, "▎ #2 · line 7 · +2 -1 · held")
    child:type("3GA // mine<Esc>")
    review.waits_for(t, child, "▎ Conflict: ")
    review.waits_for(t, child, '!   return "Hello, " + name; // mine')
    totals(child, "claude-code, codex · 4 hunks in 2 files, 1 conflicted · 1 decided")
    child:type("u")
    review.waits_for(t, child, "▎ #1 · line 3 · +1 -1 · held")
    child:cmd("quit")
    go(child, "greet.js")
    child:type("J<CR>")
    t.eq(
      { child:lua("return vim.fn.expand('%:t')"), child:cursor()[1] },
      { "greet.js", 7 },
      "to the hunk in its file"
    )
  end
)

t.test(
  "500 hunks in 50 files that are not open: a file is accepted, a hunk rejected, and nothing else changes",
  function()
    local scene, _, at, agent = start()
    local child = scene.child
    local lines, operations = {}, {}
    for i = 1, 10 do
      vim.list_extend(lines, { ("old %d."):format(i), "", "", "" })
      operations[i] = { "replace", ("old %d."):format(i), ("new %d."):format(i) }
    end
    local text = table.concat(lines, "\n") .. "\n"
    for number = 1, 50 do
      local path = at(("many %02d.txt"):format(number))
      Scene.write(path, text)
      agent:edit(path, agent:read(path), operations)
    end
    child:wait("(vim.g.hashline_status_dict or {}).pending == 500")
    child:cmd("Hashline review")
    t.eq(review.totals(child), "claude-code · 500 hunks in 50 files")
    child:lua([[
    drawn = 0
    vim.api.nvim_buf_attach(0, false, { on_lines = function(_, _, _, from, _, to) drawn = drawn + to - from end })
  ]])
    child:type("24)")
    child:type("A")
    totals(child, "claude-code · 500 hunks in 50 files · 10 decided")
    t.wait(function()
      return review.line(child):find("▎ #1 · line 1 · +1 -1 · in the text", 1, true)
    end, "on to the next file")
    child:type("r")
    totals(child, "claude-code · 500 hunks in 50 files · 11 decided")
    t.eq(Scene.bytes(at("many 26.txt")):sub(1, 6), "old 1.")
    t.eq(Scene.bytes(at("many 25.txt")):sub(1, 6), "new 1.")
    local drawn = child:lua("return drawn")
    t.ok(drawn > 11 and drawn < 120, drawn .. " lines were drawn")
    t.eq(child:notified(), {})
  end
)
