--- A scene on real parts: a Neovim with somebody at the keys, the sidecar (`hashline lsp`), an agent beside it.
local Agent = require("agent")
local Child = require("child")
local patience = require("patience")

local M = {}

M.FILE = {
  "function greet(name) {",
  '  return "Hello, " + name;',
  "}",
  "",
  "function farewell(name) {",
  '  return "Bye, " + name;',
  "}",
  "",
  'greet("world");',
  "// the end",
}

--- What the agent of most tests does: three places in one call.
M.THREE = {
  { "replace", "Hello", "  return `Hello, ${name}!`;" },
  { "replace", "Bye", "  const bye = `Bye, ${name}.`;\n  return bye;" },
  { "insert_after", 'greet("world")', 'farewell("world");' },
}

---@class Scene
---@field child Child
---@field folder string the project
---@field state string where sidecars and agents find each other
---@field binary string
local Scene = {}
Scene.__index = Scene

local function expectation(what, expected, found)
  return ("%s\n  expected %s\n  found    %s"):format(what, vim.inspect(expected), vim.inspect(found))
end

--- The sidecar as the plugin is to start it: one that keeps to a folder of the test's.
---@param state string? that of an earlier one, which holds the key by which a history is the person's own
---@return string binary
---@return string state
function M.sidecar(state)
  local hashline = vim.env.HASHLINE_BIN or ""
  if vim.fn.executable(hashline) == 0 then
    error(
      "these tests are about the real sidecar: set HASHLINE_BIN to a hashline binary (tests/run does; by hand, "
        .. "`cargo build --release` and HASHLINE_BIN=target/release/hashline)",
      0
    )
  end
  local folder = vim.fn.tempname()
  vim.fn.mkdir(folder, "p")
  local binary = folder .. "/hashline"
  state = state or folder .. "/state"
  vim.fn.writefile({ "#!/bin/sh", ("exec '%s' \"$@\" --state-dir '%s'"):format(hashline, state) }, binary)
  vim.fn.setfperm(binary, "rwx------")
  return binary, state
end

---@param settings table? of the plugin; false: no plugin
---@param size { [1]: integer, [2]: integer }? lines and columns
---@param before Scene? what the same person had open before
---@return Scene
function M.start(settings, size, before)
  local binary, state = M.sidecar(before and before.state)
  local child = Child.start(
    settings and vim.tbl_extend("keep", settings, { binary = binary }) or { binary = binary },
    size or { 24, 90 },
    { plugin = settings ~= false }
  )
  child:lua("vim.env.HASHLINE_STATE_DIR = ...", state)
  return setmetatable({ child = child, folder = child.folder, state = state, binary = binary }, Scene)
end

--- Opens a new file that has these bytes.
---@return string path
function Scene:open(name, bytes)
  local path = vim.fs.joinpath(self.folder, name)
  M.write(path, bytes)
  self.child:cmd("edit " .. vim.fn.fnameescape(path))
  self.child:wait_for_sidecar()
  return path
end

--- An agent that has found the editor: it reads what is in it.
---@return Agent
function Scene:agent(path, name)
  local agent = Agent.start(self.folder, self.state, name)
  self:reads(agent, path)
  return agent
end

--- An agent that knows of no editor yet.
---@return Agent
function Scene:agent_of_the_disk()
  return Agent.start(self.folder, self.state)
end

--- Waits until an agent reads what the editor has, to the last byte.
---@return Answer
function Scene:reads(agent, path)
  local text, read
  patience.wait(function()
    text = self.child:lua([[
      local ending = vim.bo.fileformat == "dos" and "\r\n" or "\n"
      local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), ending)
      return vim.bo.endofline and text .. ending or text
    ]])
    read = agent:read(path, { view = "buffer" })
    return read:hash() == vim.fn.sha256(text):sub(1, 12) and read.text:find(" Open in ", 1, true)
  end, function()
    return ("the agent reads what the editor has\n%s\nand not\n%s"):format(text, read.text)
  end)
  return read
end

--- The undecided hunks as the plugin has them once it has the list for this very text, each in a line:
--- "1 held 2-3" is hunk 1, held, from line 2 up to line 3 (0-based, exclusive).
---@return string[]
function Scene:hunks()
  return self.child:lua([[
    local buf = vim.api.nvim_get_current_buf()
    local document = require("hashline.state").of_buffer(buf)
    if not document or #document.edits == 0 then return {} end
    if document.version ~= (vim.lsp.util.buf_versions[buf] or 0) then return { "(no list for this text)" } end
    return vim.tbl_map(function(entry)
      local lines = entry.lines and ("%d-%d"):format(entry.lines.start, entry.lines["end"]) or "nowhere"
      local deciding = entry.hunk.deciding and " deciding" or ""
      return ("%d %s %s%s"):format(entry.hunk.number, entry.hunk.state, lines, deciding)
    end, document.entries)
  ]])
end

--- Waits until the hunks are these.
function Scene:shows(expected, what)
  local found
  patience.wait(function()
    found = self:hunks()
    return vim.deep_equal(found, expected)
  end, function()
    return expectation(what or "the hunks", expected, found) .. "\n" .. self.child:screen()
  end)
end

--- Waits until a hunk is conflicted, wherever it is shown.
function Scene:wait_conflict(number)
  local found
  patience.wait(function()
    found = table.concat(self:hunks(), ", ")
    return found:find(number .. " conflicted", 1, true)
  end, function()
    return ("hunk %s is conflicted: %s\n%s"):format(number, found, self.child:screen())
  end)
end

--- Waits until the buffer has these lines.
function Scene:has(expected, what)
  local found
  patience.wait(function()
    found = self.child:lines()
    return vim.deep_equal(found, expected)
  end, function()
    local diff = vim.text.diff or vim.diff -- its name before 0.12
    local compared = diff(table.concat(expected, "\n") .. "\n", table.concat(found, "\n") .. "\n")
    return ("%s\n%s"):format(what or "these lines", compared)
  end)
end

--- Without the plugin: what a person writes into init.lua for any language server.
---@param settings table of the sidecar
function Scene:serve(settings)
  self.child:lua(
    [[
      local binary, root, settings = ...
      vim.api.nvim_create_autocmd("BufReadPost", {
        callback = function()
          vim.lsp.start({
            name = "hashline",
            cmd = { binary, "lsp" },
            root_dir = root,
            init_options = { hashline = settings },
          })
        end,
      })
      titles, wanted = nil, nil
      vim.ui.select = function(items, options, choose)
        titles = vim.tbl_map(options.format_item, items)
        for at, title in ipairs(titles) do
          if wanted and vim.startswith(title, wanted) then
            return choose(items[at], at)
          end
        end
        choose(nil, nil)
      end
    ]],
    self.binary,
    self.folder,
    settings
  )
end

--- Asks for the code actions at the cursor by the key that Neovim has for them, and takes the one that begins so.
---@param wanted string?
---@return string[] titles
function Scene:actions(wanted)
  local child = self.child
  child:lua("titles, wanted, notified = nil, ..., {}", wanted)
  child:type("gra")
  return child:wait([[titles or (#notified > 0 and { "(" .. notified[1] .. ")" })]])
end

--- Waits until the actions offered at the cursor begin with these words, in this order.
---@param about_hunk boolean? leave out those about the whole file
function Scene:offers(beginnings, what, about_hunk)
  local found
  patience.wait(function()
    found = self:actions()
    if found[1] == "(No code actions available)" then
      found = {}
    end
    if about_hunk then
      found = vim.tbl_filter(function(title)
        return not title:find(" in this file", 1, true)
      end, found)
    end
    for at = 1, math.max(#found, #beginnings) do
      if not vim.startswith(found[at] or "", beginnings[at] or "(nothing more)") then
        return false
      end
    end
    return true
  end, function()
    return expectation(what or "the actions", beginnings, found)
  end)
end

--- Takes the action that begins so.
function Scene:take(wanted)
  local found = self:actions(wanted)
  for _, title in ipairs(found) do
    if vim.startswith(title, wanted) then
      return
    end
  end
  error(("%s is not offered, but %s"):format(wanted, vim.inspect(found)), 2)
end

--- Waits until the diagnostics stand in these lines, 0-based.
function Scene:hints(lines)
  local found
  patience.wait(function()
    found = self.child:lua("return vim.tbl_map(function(d) return d.lnum end, vim.diagnostic.get(0))")
    table.sort(found)
    return vim.deep_equal(found, lines)
  end, function()
    return expectation("the lines of the hints", lines, found)
  end)
end

--- Puts the cursor on the only line that holds these words, as a person does.
function Scene:go(words)
  self.child:type("gg0/\\V" .. words .. "<CR>")
  local line = self.child:lines()[self.child:cursor()[1]]
  assert(line:find(words, 1, true), ("the cursor is not on %q but on %q"):format(words, line))
end

--- Makes a file of these bytes.
function M.write(path, bytes)
  local file = assert(io.open(path, "wb"))
  file:write(bytes)
  file:close()
end

---@return string the bytes of a file
function M.bytes(path)
  local file = assert(io.open(path, "rb"))
  local bytes = file:read("*a")
  file:close()
  return bytes
end

--- Lines with some put in the place of others: { { first, last, { lines } } }, 1-based, from the last to the first.
function M.with(lines, changes)
  local out = vim.deepcopy(lines)
  for _, change in ipairs(changes) do
    for _ = change[1], change[2] do
      table.remove(out, change[1])
    end
    for at, line in ipairs(change[3]) do
      table.insert(out, change[1] + at - 1, line)
    end
  end
  return out
end

return M
