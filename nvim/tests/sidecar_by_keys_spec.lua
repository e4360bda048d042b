--- With the real sidecar, by keys alone, as somebody reviews who knows them: three edits of an open file, one of which the person has typed
--- over and one that is rejected with a reason, a new file, a removal and a rename. How many keys that takes is counted.
local t = ...
local review = require("review_screen")
local Scene = require("scene")

local SAVED = table.concat(Scene.FILE, "\n") .. "\n"

local function exists(path)
  return vim.uv.fs_stat(path) ~= nil
end

--- A person who presses keys, each of which counts.
---@param child Child
---@return fun(keys: string) press
---@return fun(): integer counted
local function person(child)
  local count = 0
  return function(keys)
    local _, special = keys:gsub("<%a+>", "")
    count = count + special + vim.fn.strchars((keys:gsub("<%a+>", "")))
    child:type(keys)
  end, function()
    return count
  end
end

t.test("three edits, a new file, a removal, a rename, one conflict, one rejection with a reason", function()
  local scene = Scene.start({ keys = true }, { 40, 110 })
  local child = scene.child
  local path = scene:open("greet.js", SAVED)
  local function at(name)
    return vim.fs.joinpath(scene.folder, name)
  end
  Scene.write(at("old.js"), SAVED)
  Scene.write(at("mv.js"), SAVED)
  local agent = scene:agent(path)
  agent:edit(path, agent:read(path), Scene.THREE)
  agent:call("write_file", { path = at("new.js"), content = "new\n" })
  agent:call("delete_file", { path = at("old.js") })
  agent:call("move_file", { source = at("mv.js"), destination = at("moved.js") })
  child:wait("(vim.g.hashline_status_dict or {}).pending == 7")
  child:type("6GA // mine<Esc>")
  scene:wait_conflict(2)

  local press, counted = person(child)
  --- Waits for the cursor to be on a hunk, as a person looks before the next key.
  local function sees(line)
    local seen
    t.wait(function()
      seen = review.line(child)
      return vim.startswith(seen, line)
    end, function()
      return ("the cursor is in %q and not in %q\n%s"):format(seen, line, child:screen())
    end)
  end
  child:lua("began = os.clock()")
  press("\\hv")
  sees("▎ #2 · line 6 · +2 -1 · conflicted")
  press("a2<CR>") -- take the agent's
  sees("▎ #3 · after line ")
  child:echoed()
  press("R1<CR>")
  child:wait("#vim.tbl_filter(function(line) return line:find('Told', 1, true) end, echoed) > 0")
  local told = child:echoed()
  t.eq(told[#told], 'Rejected. Told claude-code: "wrong approach". 5 left in 4 files')
  sees("▎ renamed")
  press("a")
  sees("▎ created")
  press("A")
  sees("▎ deleted")
  press("a")
  review.waits_for(t, child, "▎ deleted · accepted")
  press("J")
  sees("▎ #1 · line 2 · +1 -1 · held")
  press("a")
  t.wait(function()
    return review.totals(child):find("nothing is left to review", 1, true)
  end, "all is decided")
  press("q")
  child:wait("vim.fn.tabpagenr('$') == 1")
  local seconds = child:lua("return os.clock() - began")

  t.eq(
    child:lines(),
    Scene.with(Scene.FILE, {
      { 6, 6, { "  const bye = `Bye, ${name}.`;", "  return bye;" } },
      { 2, 2, { "  return `Hello, ${name}!`;" } },
    })
  )
  t.eq({ exists(at("new.js")), exists(at("old.js")), exists(at("mv.js")), exists(at("moved.js")) }, {
    true,
    false,
    false,
    true,
  })
  t.wait(function()
    return agent:call("list_edits", { path = path }).text:find("wrong approach", 1, true)
  end, "the agent is told why")
  t.eq({ child:notified(), child:lua("return vim.fn.expand('%:t')") }, { {}, "greet.js" })
  t.note(("     %d keys; Neovim took %.2f s of the processor's time meanwhile"):format(counted(), seconds))
  t.eq(counted(), 15)
end)
