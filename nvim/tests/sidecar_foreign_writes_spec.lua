--- Other programs that write to files which are open, with the real sidecar.
local t = ...
local Scene = require("scene")

local SAVED = table.concat(Scene.FILE, "\n") .. "\n"

--- A scene with a file that somebody has begun to change.
local function with_unsaved_work(keys)
  local scene = Scene.start({})
  local path = scene:open("greet.js", SAVED)
  -- So that the sidecar knows of a text that the file and the editor have in common.
  scene:reads(scene:agent(path), path)
  scene.child:type(keys)
  return scene, path
end

--- Another program changes a line of the file.
local function write(path, at, line)
  local lines = vim.deepcopy(Scene.FILE)
  lines[at] = line
  vim.fn.writefile(lines, path)
  return lines
end

t.test("what another program writes below unsaved work is held on it, and accepted", function()
  local scene, path = with_unsaved_work("ggO// typed<Esc>")
  write(path, 6, '  return "Farewell, " + name;')
  scene:shows({ "1 held 6-7" })
  local unsaved = vim.list_extend({ "// typed" }, Scene.FILE)
  t.eq(scene.child:lines(), unsaved, "the text stays as it is")
  scene.child:cmd("Hashline accept!")
  unsaved[7] = '  return "Farewell, " + name;'
  scene:has(unsaved)
  scene.child:cmd("write!")
  t.eq(Scene.bytes(path), table.concat(unsaved, "\n") .. "\n")
  scene:shows({})
end)

t.test(
  "what another program writes in the place of unsaved work is a conflict, and either is kept",
  function()
    local scene, path = with_unsaved_work("6GA // mine<Esc>")
    local mine = scene.child:lines()
    write(path, 6, '  return "Farewell, " + name;')
    scene:shows({ "1 conflicted 5-6" })
    t.eq(scene.child:lines(), mine)
    scene.child:type("u")
    scene:shows({ "1 held 5-6" }, "what is undone is no conflict any more")
    scene.child:type("<C-r>")
    scene:shows({ "1 conflicted 5-6" })
    scene.child:cmd("6")
    scene.child:cmd("Hashline reject")
    scene:shows({})
    t.eq(scene.child:lines(), mine)
  end
)

t.test("a text without unsaved work is read again, and nothing is to be decided", function()
  local scene = Scene.start({})
  local path = scene:open("greet.js", SAVED)
  scene:reads(scene:agent(path), path)
  local written = write(path, 6, '  return "Farewell, " + name;')
  scene.child:cmd("checktime")
  scene:has(written)
  vim.wait(1500)
  scene:shows({})
  scene.child:type("ggO// typed<Esc>")
  written[2] = '  return "Hi, " + name;'
  vim.fn.writefile(written, path)
  scene:shows({ "1 held 2-3" })
end)
