--- The three edits that most tests with the real sidecar are about: the file with unsaved work, and what an agent does to it.
local Scene = require("scene")
local with = Scene.with

local M = {}

M.SAVED = table.concat(Scene.FILE, "\n") -- no final newline

--- The file with unsaved work in its first and last line, which is what the agent gets to read.
M.UNSAVED = with(Scene.FILE, { { 10, 10, { "// the end, nearly" } }, { 1, 0, { "// a draft" } } })

--- Opens the file, types, and lets an agent edit three places of what is there now.
---@param t table the runner
---@param scene Scene
---@return string path
---@return table agent
---@return table read
function M.read(t, scene)
  local path = scene:open("greet.js", M.SAVED)
  scene.child:type("ggO// a draft<Esc>GA, nearly<Esc>")
  t.eq(scene.child:lines(), M.UNSAVED)
  local agent = scene:agent(path)
  local read = agent:read(path)
  t.eq(read:lines(), M.UNSAVED, "the agent reads what is not saved")
  return path, agent, read
end

--- The text with what the agent of `read` does to it.
M.APPLIED = with(M.UNSAVED, {
  { 11, 10, { 'farewell("world");' } },
  { 7, 7, { "  const bye = `Bye, ${name}.`;", "  return bye;" } },
  { 3, 3, { "  return `Hello, ${name}!`;" } },
})

--- What an agent is told of edits that go in at once: the text shows them already, or a slow editor does not show them yet.
local IN_TEXT = "It is in the editor's text; the disk has it when the person saves."
local ON_ITS_WAY = "It is still on its way into the editor's text, which does not show it yet; "
  .. "nobody has to accept it. Go on by this file_hash: your reads show it already. The disk has it when the person saves."

--- Three edits that went into the text at once.
---@param t table the runner
---@param scene Scene
---@return string path
---@return table agent
---@return table edited
function M.apply(t, scene)
  local path, agent, read = M.read(t, scene)
  local edited = agent:edit(path, read, Scene.THREE)
  local told = assert(edited.text:match("^[^\n]*\n([^\n]*)"), edited.text)
  t.ok(told == IN_TEXT or told == ON_ITS_WAY, edited.text)
  scene:has(M.APPLIED, "all three are put into the text")
  scene:shows({ "1 inText 2-3", "2 inText 6-8", "3 inText 11-12" })
  t.eq(Scene.bytes(path), M.SAVED, "and not onto the disk")
  return path, agent, edited
end

return M
