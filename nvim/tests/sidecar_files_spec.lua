--- With the real sidecar: an agent removes and renames the file of an open buffer, and the person decides.
local t = ...
local Scene = require("scene")

local SAVED = table.concat(Scene.FILE, "\n") .. "\n"

local function exists(path)
  return vim.uv.fs_stat(path) ~= nil
end

--- Decides about the hunk of the file, which stands above its first line.
local function decide(scene, verb)
  scene.child:cmd("1 | Hashline " .. verb)
end

--- Rejects an edit that is decided already, as a command of the person's own may.
local function reject(scene, edit)
  scene.child:lua(
    [[
      local client = vim.lsp.get_clients({ name = "hashline" })[1]
      client:request("hashline/decide", { decision = "reject", edit = ... }, function(_, result)
        refused = result.refused[1]
      end)
    ]],
    edit
  )
end

t.test("a removal: accepted, the buffer goes; rejected afterwards, the file is back", function()
  local scene = Scene.start({})
  local child = scene.child
  local path = scene:open("greet.js", SAVED)
  local agent = scene:agent(path)
  local edit = agent:call("delete_file", { path = path }):edit()
  scene:shows({ "1 held 0-0" })
  t.ok(child:screen():find("to be deleted", 1, true), child:screen())
  decide(scene, "accept")
  t.wait(function()
    return not exists(path)
  end, "it is removed")
  child:wait("vim.api.nvim_buf_get_name(0) == ''")
  t.eq(child:notified(), {})
  t.wait(function()
    return agent:call("list_edits", { path = path }).text:find("accepted", 1, true)
  end, "it is accepted")
  reject(scene, edit)
  t.wait(function()
    return exists(path)
  end, "it is back")
  t.eq(Scene.bytes(path), SAVED)
end)

t.test("another name: accepted, the buffer follows with its other edits; rejected, it goes back", function()
  local scene = Scene.start({})
  local child = scene.child
  local path = scene:open("greet.js", SAVED)
  local agent = scene:agent(path)
  agent:edit(path, agent:read(path), Scene.THREE)
  scene:shows({ "1 held 1-2", "2 held 5-6", "3 held 9-9" })
  local new = vim.fs.joinpath(scene.folder, "lib/hello.js")
  local edit = agent:call("move_file", { source = path, destination = new }):edit()
  scene:shows({ "1 held 0-0", "1 held 1-2", "2 held 5-6", "3 held 9-9" })
  local buf = child:lua("return vim.fn.bufnr()")
  decide(scene, "accept")
  child:wait("vim.api.nvim_buf_get_name(0) == ...", new)
  t.eq({ exists(path), Scene.bytes(new) }, { false, SAVED })
  scene:shows({ "1 held 1-2", "2 held 5-6", "3 held 9-9" }, "under the new name")
  scene:reads(agent, new)
  t.eq({ child:notified(), child:lua("return vim.fn.bufnr()") }, { {}, buf })
  scene:go("Bye")
  child:cmd("Hashline accept")
  scene:shows({ "1 held 1-2", "3 held 10-10" })
  -- What is not saved is not moved.
  reject(scene, edit)
  child:wait("refused and refused.message:find('Save it first', 1, true)")
  t.eq({ exists(path), exists(new) }, { false, true })
  child:cmd("silent write")
  reject(scene, edit)
  t.wait(function()
    return exists(path)
  end, "it goes back")
  child:wait("vim.api.nvim_buf_get_name(0) == ...", path)
  scene:shows({ "1 held 1-2", "3 held 10-10" }, "under the old name")
  t.ok(Scene.bytes(path):find("return bye;", 1, true), "with what was accepted")
  child:cmd("silent write")
end)

t.test("files that are not open: created, removed, renamed, edited, in one message", function()
  local scene = Scene.start({ notify = true }, { 24, 110 })
  local child = scene.child
  local path = scene:open("greet.js", SAVED)
  local function at(name)
    return vim.fs.joinpath(scene.folder, name)
  end
  for _, name in ipairs({ "closed.js", "old.js", "mv.js" }) do
    Scene.write(at(name), SAVED)
  end
  local agent = scene:agent(path)
  local read, closed = agent:read(path), agent:read(at("closed.js"))
  agent:edit(path, read, Scene.THREE)
  agent:edit(at("closed.js"), closed, { { "delete", "Bye" } })
  agent:call("write_file", { path = at("new.js"), content = "new\n" })
  agent:call("delete_file", { path = at("old.js") })
  agent:call("move_file", { source = at("mv.js"), destination = at("moved.js") })
  child:wait("#notified == 1")
  t.eq(child:notified(), {
    "claude-code: 3 hunks here, moved.js renamed, new.js created, old.js deleted, 1 in closed.js. :Hashline review",
  })
end)

t.test("what is not saved is neither removed nor renamed, and the person is told", function()
  local scene = Scene.start({})
  local child = scene.child
  local path = scene:open("greet.js", SAVED)
  local agent = scene:agent(path)
  agent:call("delete_file", { path = path })
  scene:shows({ "1 held 0-0" })
  child:type("Gomine<Esc>")
  scene:shows({ "1 held 0-0" }, "with the list for the text as it is")
  decide(scene, "accept")
  child:wait("#notified > 0")
  t.ok(child:notified()[1]:find("Save it first", 1, true), child:notified()[1])
  t.ok(exists(path) and child:lines()[#child:lines()] == "mine", "nothing is lost")
  child:cmd("silent write")
  decide(scene, "accept")
  t.wait(function()
    return not exists(path)
  end, "saved, it is removed")
end)
