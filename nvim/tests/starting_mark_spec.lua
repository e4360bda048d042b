--- An agent at work while Neovim starts its sidecar, and the text is not saved by then. With HASHLINE_STARTING=0,1,3,6 the agent's calls
--- come after these seconds, and two busy programs take what they can of the machine.
local t = ...
local Scene = require("scene")

local SAVED = table.concat(Scene.FILE, "\n") .. "\n"
local UNSAVED = vim.list_extend({ "// typed" }, Scene.FILE)
local HELLO = { { "replace", "Hello", "  return `Hello, ${name}!`;" } }
local EDITED = vim.deepcopy(UNSAVED)
EDITED[3] = "  return `Hello, ${name}!`;"

local given = vim.env.HASHLINE_STARTING
local delays = vim.tbl_map(tonumber, vim.split(given or "0,1", ","))

--- What it does while others take what they can of the machine.
local function beside_others(work)
  local others = {}
  for _ = 1, given and 2 or 0 do
    others[#others + 1] = vim.system({ "sh", "-c", "while :; do :; done" })
  end
  local fine, failure = pcall(work)
  for _, other in ipairs(others) do
    other:kill("sigkill")
    other:wait()
  end
  if not fine then
    error(failure, 0)
  end
end

--- A scene whose sidecar takes its time, with a text that is not saved by then.
---@return Scene
---@return string path
local function starts(sidecar_after)
  local scene = Scene.start({})
  local program = vim.fn.readfile(scene.binary)
  table.insert(program, 2, "sleep " .. sidecar_after)
  vim.fn.writefile(program, scene.binary)
  local path = vim.fs.joinpath(scene.folder, "greet.js")
  vim.fn.writefile(Scene.FILE, path)
  return scene, path
end

local function opens(scene, path)
  scene.child:cmd("edit " .. vim.fn.fnameescape(path))
  scene.child:type("O// typed<Esc>")
end

local function passes(seconds)
  local over = false
  vim.defer_fn(function()
    over = true
  end, seconds * 1000)
  vim.wait(seconds * 1000 + 1000, function()
    return over
  end)
end

local function accepted(scene)
  local child = scene.child
  t.eq(child:lines(), UNSAVED)
  scene:shows({ "1 held 2-3" })
  child:cmd("Hashline accept!")
  scene:has(EDITED)
end

for _, delay in ipairs(delays) do
  t.test(
    ("a call %d s after the start waits for the sidecar, and edits the unsaved text"):format(delay),
    function()
      beside_others(function()
        local scene, path = starts(2)
        local agent = scene:agent_of_the_disk()
        opens(scene, path)
        passes(delay)
        agent:edit(path, agent:read(path), HELLO)
        t.eq(Scene.bytes(path), SAVED, "the disk is as it was")
        accepted(scene)
        t.wait(function()
          return #vim.fn.glob(scene.state .. "/sidecars/*.starting", true, true) == 0
        end, "the mark is taken away")
      end)
    end
  )

  t.test(
    ("without a mark, what a call %d s after the start wrote is held in the unsaved text"):format(delay),
    function()
      beside_others(function()
        local scene, path = starts(delay + 1)
        scene.child:lua("vim.env.HASHLINE_STATE_DIR = ...", scene.folder .. "/elsewhere")
        local agent = scene:agent_of_the_disk()
        opens(scene, path)
        passes(delay)
        agent:edit(path, agent:read(path), HELLO)
        scene.child:wait_for_sidecar()
        accepted(scene)
      end)
    end
  )
end

t.test("the mark names the folder and the process, and is nobody else's to read", function()
  local scene, path = starts(2)
  opens(scene, path)
  local marks = vim.fn.glob(scene.state .. "/sidecars/*.starting", true, true)
  t.eq(#marks, 1)
  local said = vim.json.decode(Scene.bytes(marks[1]))
  local age = os.time() * 1000 - said.started
  t.ok(age > -2000 and age < 60000, "made now: " .. said.started)
  said.started = nil
  t.eq(said, {
    pid = scene.child:lua("return vim.uv.os_getpid()"),
    host = vim.uv.os_gethostname(),
    roots = { scene.folder },
  })
  t.eq(
    { vim.fn.getfperm(marks[1]), vim.fn.getfperm(scene.state .. "/sidecars") },
    { "rw-------", "rwx------" }
  )
  scene.child:wait_for_sidecar()
end)

t.test("a sidecar that does not start is waited for no longer", function()
  local scene, path = starts(0)
  vim.fn.writefile({ "#!/bin/sh", "exit 3" }, scene.binary)
  opens(scene, path)
  t.wait(function()
    return vim.fn.isdirectory(scene.state .. "/sidecars") == 1
      and #vim.fn.glob(scene.state .. "/sidecars/*.starting", true, true) == 0
  end, "the mark is taken away")
end)
