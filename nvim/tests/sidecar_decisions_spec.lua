--- Wider decisions, with the real sidecar: of a conversation, of files that are not open, of lines that the person changed.
local t = ...
local Scene = require("scene")
local three = require("three_edits")
local with = Scene.with

--- Two files that an agent works on in one conversation: one is open, the other is not.
local function two_files()
  local scene = Scene.start({ mode = { disk = "propose" } })
  local open = scene:open("open.js", three.SAVED .. "\n")
  local closed = vim.fs.joinpath(scene.folder, "closed.js")
  vim.fn.writefile(Scene.FILE, closed)
  local agent = scene:agent(open)
  local function edit(path, operations, conversation)
    return agent:edit(path, agent:read(path), operations, { mcp_conversation_id = conversation })
  end
  edit(open, { { "replace", "Hello", "  return `Hello, ${name}!`;" } }, "conv_one")
  edit(closed, { { "delete", "Bye" } }, "conv_one")
  edit(closed, { { "insert_after", "// the end", "// indeed" } }, "conv_two")
  scene.child:wait("#require('hashline.state').places() == 3")
  return scene, agent, open, closed
end

local LEFT = "#require('hashline.state').places() == "

t.test("a conversation is accepted in the open file and in the one that is not", function()
  local scene, _, open, closed = two_files()
  local child = scene.child
  scene:go("Hello")
  child:cmd("Hashline conversation accept")
  scene:has(with(Scene.FILE, { { 2, 2, { "  return `Hello, ${name}!`;" } } }))
  child:wait(LEFT .. 1)
  t.eq(vim.fn.readfile(closed), with(Scene.FILE, { { 6, 6, {} } }), "the disk, where nobody has it open")
  t.eq(Scene.bytes(open), three.SAVED .. "\n", "and not the disk below an open file")
  t.eq(child:lua("return #vim.api.nvim_list_bufs()"), 1, "no buffer was made for it")
end)

t.test("in the list a file that is not open is decided, one hunk accepted and one rejected", function()
  local scene, agent, _, closed = two_files()
  local child = scene.child
  child:cmd("Hashline list")
  local function line_of(words)
    return child:lua(
      [[
        for row, item in ipairs(vim.fn.getqflist()) do
          if item.text:find(..., 1, true) then return row end
        end
      ]],
      words
    )
  end
  child:cmd(line_of("indeed") .. " | Hashline accept")
  child:wait(LEFT .. 2)
  t.eq(vim.fn.readfile(closed), vim.list_extend(vim.deepcopy(Scene.FILE), { "// indeed" }))
  child:wait("#vim.fn.getqflist() == 2")
  child:cmd(line_of("Bye") .. " | Hashline reject it is polite")
  child:wait(LEFT .. 1)
  t.eq(#vim.fn.readfile(closed), #Scene.FILE + 1)
  local said = agent:call("list_edits", { path = closed }).text
  t.ok(said:find("it is polite", 1, true), said)
end)

t.test("a hunk is accepted as the person would have it: one step, and the agent is told", function()
  local scene = Scene.start({})
  local child = scene.child
  local path, agent, read = three.read(t, scene)
  local edited = agent:edit(path, read, Scene.THREE)
  scene:shows({ "1 held 2-3", "2 held 6-7", "3 held 10-10" })
  scene:go("Bye")
  child:cmd("Hashline edit")
  child:type("gg^cwlet<Esc>")
  t.eq(child:lines()[1], "  let bye = `Bye, ${name}.`;")
  child:cmd("write")
  child:wait("#vim.api.nvim_list_wins() == 1")
  local text = with(three.UNSAVED, { { 7, 7, { "  let bye = `Bye, ${name}.`;", "  return bye;" } } })
  scene:has(text)
  scene:shows({ "1 held 2-3", "3 held 11-11" })
  local outcome = agent:call("await_review", { edit_ids = { edited:edit() }, timeout_s = 30 }).text
  t.ok(outcome:find("hunk 2 · ", 1, true) and outcome:find("let bye", 1, true), outcome)
  child:type("u")
  scene:has(three.UNSAVED, "one step")
  scene:shows({ "1 held 2-3", "2 held 6-7", "3 held 10-10" })
end)

t.test(
  "decisions are taken back, the last one first: a rejection, an acceptance, those of a whole file",
  function()
    local scene = Scene.start({})
    local child = scene.child
    local path, agent, read = three.read(t, scene)
    agent:edit(path, read, Scene.THREE)
    local held = { "1 held 2-3", "2 held 6-7", "3 held 10-10" }
    scene:shows(held)
    scene:go("Hello")
    child:cmd("Hashline accept")
    scene:shows({ "2 held 6-7", "3 held 10-10" })
    child:cmd("Hashline! reject")
    scene:shows({})
    child:cmd("Hashline reopen")
    scene:shows({ "2 held 6-7", "3 held 10-10" }, "what was rejected is offered again")
    child:cmd("Hashline reopen")
    scene:shows({ "1 inText 2-3", "2 held 6-7", "3 held 10-10" }, "what was accepted is kept or undone")
    scene:go("Hello, ${")
    child:cmd("Hashline undo")
    scene:shows({ "2 held 6-7", "3 held 10-10" })
    scene:has(three.UNSAVED)
    child:cmd("Hashline reopen")
    scene:shows(held)
    child:cmd("Hashline reopen")
    t.eq(child:notified(), { "hashline: no decision was made here that could be taken back" })
  end
)

t.test("a hunk of which the person leaves nothing", function()
  local scene = Scene.start({})
  local child = scene.child
  local path, agent, read = three.read(t, scene)
  agent:edit(path, read, { { "insert_after", 'greet("world")', 'farewell("world");' } })
  scene:shows({ "1 held 10-10" })
  scene:go('greet("world")')
  child:cmd("Hashline edit")
  child:type("dd")
  child:cmd("write")
  child:wait("#vim.api.nvim_list_wins() == 1")
  scene:shows({})
  t.eq(child:lines(), three.UNSAVED)
end)

t.test("the lines of a paragraph, by an operator", function()
  local scene = Scene.start({})
  local child = scene.child
  child:cmd("nmap gh <Plug>(HashlineAcceptMotion)")
  local path, agent, read = three.read(t, scene)
  agent:edit(path, read, Scene.THREE)
  scene:shows({ "1 held 2-3", "2 held 6-7", "3 held 10-10" })
  scene:go("Bye")
  child:type("ghip")
  scene:shows({ "1 held 2-3", "3 held 11-11" })
  scene:has(with(three.UNSAVED, { { 7, 7, { "  const bye = `Bye, ${name}.`;", "  return bye;" } } }))
end)

t.test("what was decided long ago goes out and in again from the history of the file", function()
  local scene = Scene.start({})
  local child = scene.child
  local path, agent, read = three.read(t, scene)
  agent:edit(path, read, Scene.THREE)
  scene:shows({ "1 held 2-3", "2 held 6-7", "3 held 10-10" })
  scene:go("Hello")
  child:cmd("Hashline accept")
  scene:shows({ "2 held 6-7", "3 held 10-10" })
  child:cmd("Hashline! reject not now")
  scene:shows({})
  child:cmd("write | bdelete")
  child:cmd("edit " .. path)
  child:wait_for_sidecar()
  child:cmd("Hashline history")
  child:wait("vim.bo.filetype == 'hashline'")
  local out = 'rejected · told "not now"'
  --- Waits until the hunks stand so, in their order.
  local function stand(expected)
    for number, state in ipairs(expected) do
      child:wait(("vim.fn.getline(%d):find(..., 1, true) ~= nil"):format(number + 1), state)
    end
  end
  stand({ "in the text", out, out })
  child:type("3Ga")
  stand({ "in the text", "in the text", out })
  child:type("2Gr")
  stand({ "rejected", "in the text", out })
  child:type("q")
  scene:has(with(three.UNSAVED, { { 7, 7, { "  const bye = `Bye, ${name}.`;", "  return bye;" } } }))
  scene:shows({}, "nothing is to be decided")
end)
