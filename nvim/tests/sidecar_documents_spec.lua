--- The same over the life of documents, buffers and the sidecar itself.
local t = ...
local patience = require("patience")
local Scene = require("scene")
local three = require("three_edits")
local with = Scene.with

local FILE = Scene.FILE
local SAVED, UNSAVED, APPLIED = three.SAVED, three.UNSAVED, three.APPLIED

t.test(":e! with a held edit: it comes back where its lines are", function()
  local scene = Scene.start({})
  local child = scene.child
  -- Far enough from the beginning for its place to be certain, whatever is put in there.
  local long = vim.list_extend({ "// 1", "// 2", "// 3", "// 4" }, FILE)
  local path = scene:open("greet.js", table.concat(long, "\n") .. "\n")
  local agent = scene:agent(path)
  agent:edit(path, agent:read(path), Scene.THREE)
  scene:shows({ "1 held 5-6", "2 held 9-10", "3 held 13-13" })
  child:type("ggOone<CR>two<Esc>")
  scene:shows({ "1 held 7-8", "2 held 11-12", "3 held 15-15" })
  child:cmd("edit!")
  t.eq(child:lines(), long)
  scene:shows({ "1 held 5-6", "2 held 9-10", "3 held 13-13" }, "after a reload that takes typing back")
  local elsewhere = vim.list_extend({ "// from elsewhere" }, long)
  vim.fn.writefile(elsewhere, path)
  child:cmd("checktime")
  scene:has(elsewhere)
  scene:shows({ "1 held 6-7", "2 held 10-11", "3 held 14-14" }, "after a reload of what others wrote")
  child:cmd("Hashline accept!")
  scene:shows({})
  scene:has(with(elsewhere, {
    { 15, 14, { 'farewell("world");' } },
    { 11, 11, { "  const bye = `Bye, ${name}.`;", "  return bye;" } },
    { 7, 7, { "  return `Hello, ${name}!`;" } },
  }))
  child:type("u")
  scene:shows({ "1 held 6-7", "2 held 10-11", "3 held 14-14" })
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
  vim.fn.writefile(vim.list_extend(vim.fn.readfile(path), { "// from elsewhere" }), path)
  child:cmd("edit " .. vim.fn.fnameescape(path))
  child:wait(
    "#(require('hashline.state').of_buffer(vim.api.nvim_get_current_buf()) or { entries = {} }).entries == 2"
  )
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
    "first.js:2 claude-code · #1 · +1 -1 · return `Hello, ${name}!`;",
    "first.js:6 claude-code · #2 · +2 -1 · const bye = `Bye, ${name}.`;",
    'first.js:9 claude-code · #3 · +1 · farewell("world");',
    'second.js:2 codex · #1 · -1 · return "Hello, " + name;',
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
  local path, agent, read = three.read(t, scene)
  local edited = agent:edit(path, read, Scene.THREE)
  scene:shows({ "1 held 2-3", "2 held 6-7", "3 held 10-10" })
  local hears = agent:calling("await_review", { timeout_s = 30 })
  scene:go("Hello")
  t.ok(not hears(), "it waits")
  child:cmd("Hashline reject we greet with a colon")
  t.wait(hears, "it hears")
  local text = hears().text
  t.ok(text:find('hunk 1 · rejected · the person says: "we greet with a colon"\n', 1, true), text)
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
  local path, agent, read = three.read(t, scene)
  local function status()
    child:lua("notified = {}")
    child:cmd("Hashline status")
    return child:wait("notified[1]")
  end
  local said = status()
  t.ok(said:find("1 buffer · 0 hunks to review\nagents: claude-code\nsocket: /", 1, true), said)
  t.ok(said:find(child.folder, 1, true), said)
  agent:edit(path, read, Scene.THREE)
  scene:shows({ "1 held 2-3", "2 held 6-7", "3 held 10-10" })
  scene:go("Bye")
  child:type("x")
  scene:wait_conflict("2")
  said = status()
  t.ok(said:find("3 hunks to review, 1 conflicted", 1, true), said)
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
    local path, agent, read = three.read(t, scene)
    agent:edit(path, read, Scene.THREE)
    scene:shows({ "1 held 2-3", "2 held 6-7", "3 held 10-10" })
    local function started()
      return child:lua("return vim.api.nvim_get_proc_children(vim.fn.getpid())")
    end
    local processes = started()
    t.eq(#processes, 1, vim.inspect(processes))
    if how == "after it was killed" then
      vim.uv.kill(processes[1], "sigkill")
      child:wait("#notified > 0")
      local said = table.concat(child:notified(), "\n")
      t.ok(said:find("ended by itself", 1, true), said)
      t.eq(child:lines(), UNSAVED)
    end
    child:cmd("Hashline restart")
    t.wait(function()
      local now = started()
      return #now == 1 and now[1] ~= processes[1]
    end, "another process")
    t.eq(child:lines(), UNSAVED, "the text is the person's")
    scene:shows({ "1 held 2-3", "2 held 6-7", "3 held 10-10" }, "they are in the record")
    scene:reads(agent, path)
    child:type("ggOmore<Esc>")
    scene:shows({ "1 held 3-4", "2 held 7-8", "3 held 11-11" })
    child:cmd("Hashline accept!")
    scene:has(vim.list_extend({ "more" }, APPLIED))
    scene:reads(agent, path)
  end)
end

t.test(
  "edits that are held when Neovim quits are there the next time, where their lines are by then",
  function()
    local lines = {}
    for number = 1, 40 do
      lines[number] = ("line %d of the file"):format(number)
    end
    local first = Scene.start({})
    local path = first:open("long.txt", table.concat(lines, "\n") .. "\n")
    local agent = first:agent(path)
    agent:edit(path, agent:read(path), {
      { "replace", "line 10 of", "ten" },
      { "replace", "line 20 of", "twenty" },
      { "replace", "line 30 of", "thirty" },
    })
    first:shows({ "1 held 9-10", "2 held 19-20", "3 held 29-30" })
    -- It answers no more.
    pcall(first.child.cmd, first.child, "qall!")
    t.ok(vim.fn.jobwait({ first.child.chan }, patience.LONGEST_MS)[1] >= 0, "Neovim ends")
    -- Another program puts a line in far above, and changes one right beside the second.
    local changed = vim.list_extend({ "from elsewhere" }, lines)
    changed[22] = "line 21, changed elsewhere"
    vim.fn.writefile(changed, path)

    local next = Scene.start({}, nil, first)
    next.child:cmd("edit " .. vim.fn.fnameescape(path))
    next:shows({ "1 held 10-11", "2 conflicted 20-21", "3 held 30-31" })
    t.eq(next.child:lines(), changed, "nothing is put into the text by itself")
    next.child:cmd("11")
    next.child:cmd("Hashline accept")
    changed[11] = "ten"
    next:has(changed)
    next.child:cmd("21")
    next.child:cmd("Hashline reject")
    next:shows({ "3 held 30-31" })
    next.child:cmd("31")
    next.child:cmd("Hashline accept")
    changed[31] = "thirty"
    next:has(changed)
    next:shows({})
  end
)
