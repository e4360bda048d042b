--- Many hunks accepted at once while the person types: no key is lost, and each hunk is in the text once.
local t = ...
local people = require("people")
local Scene = require("scene")
local await = people.await

local HUNKS, EVERY, KEY_MS = 400, 4, 100

--- Notes the most of the processor's time that one turn of Neovim's loop takes: as long a key may wait.
local WATCH = [[
  longest_turn = 0
  local began
  vim.uv.new_check():start(function()
    began = os.clock()
  end)
  vim.uv.new_prepare():start(function()
    if began then
      longest_turn = math.max(longest_turn, (os.clock() - began) * 1e3)
    end
  end)
]]

--- The lines before anything is typed, and the operations of the agent.
local function work()
  local lines, operations = {}, {}
  for number = 1, HUNKS do
    lines[#lines + 1] = ("old %d."):format(number)
    operations[number] = { "replace", ("old %d."):format(number), ("NEW %d."):format(number) }
    for line = 2, EVERY do
      lines[#lines + 1] = ("line %d of %d"):format(line, number)
    end
  end
  lines[#lines + 1] = "the end"
  return lines, operations
end

t.test(
  "400 hunks are accepted at once while the person types ten keys a second, and no key is lost",
  function()
    local scene = Scene.start({}, { 40, 72 })
    local child = scene.child
    local lines, operations = work()
    local saved = table.concat(lines, "\n") .. "\n"
    local path = scene:open("long.txt", saved)
    child:type("GA, unsaved<Esc>")
    local agent = scene:agent(path)
    agent:edit(path, agent:read(path), operations)
    t.wait(function()
      return #scene:hunks() == HUNKS
    end, "all hunks are offered")

    local typed, over = 0, false
    local longest = {}
    local function type_on()
      child:type("3GA")
      local started = vim.uv.hrtime()
      while not over do
        typed = typed + 1
        vim.rpcrequest(child.chan, "nvim_input", "k")
        local next_key = started + typed * KEY_MS * 1e6
        await(function()
          return vim.uv.hrtime() >= next_key
        end)
      end
    end
    local function accept_all()
      people.pause(5 * KEY_MS)
      child:lua(WATCH)
      people.pause(5 * KEY_MS)
      longest.before = child:lua("local longest = longest_turn; longest_turn = 0; return longest")
      -- Asked once: the sidecar itself makes anew what a key came before. Asked again before its next list, it says that nothing waits.
      child:cmd("Hashline accept!")
      await(function()
        return #scene:hunks() == 0
      end)
      longest.meanwhile = child:lua("return longest_turn")
      people.pause(5 * KEY_MS)
      over = true
    end
    people.side_by_side({ type_on, accept_all })
    child:type("<Esc>")

    for number = 1, HUNKS do
      lines[EVERY * (number - 1) + 1] = ("NEW %d."):format(number)
    end
    lines[3] = lines[3] .. ("k"):rep(typed)
    lines[#lines] = "the end, unsaved"
    scene:has(lines)
    scene:shows({})
    scene:reads(agent, path)
    t.eq(child:notified(), {}, "nothing for the person to read")
    t.eq(Scene.bytes(path), saved, "nothing is saved")
    t.note(
      ("     %d keys; the longest turn of Neovim's loop, in the processor's time: %.1f ms before, %.1f ms meanwhile"):format(
        typed,
        longest.before,
        longest.meanwhile
      )
    )
  end
)
