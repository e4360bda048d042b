--- A chain of what an agent does to files and the person decides about it, in a folder of which the editor has some files open.
local Child = require("child")
local Scene = require("scene")
local patience = require("patience")

local M = {}

---@class Chain
---@field scene Scene
---@field agent Agent
---@field conversation string?
local Chain = {}
Chain.__index = Chain

---@alias Files table<string, string> bytes by name

--- The editor has one file more open than the chain is about, so that its sidecar runs whatever becomes of the others.
local BESIDE = "beside.txt"

local function path_of(scene, name)
  return vim.fs.joinpath(scene.folder, name)
end

--- Opens files in the editor, and waits until the agent reads them there.
---@param names string[]
function Chain:open(names)
  for _, name in ipairs(names) do
    self.scene.child:cmd("edit " .. vim.fn.fnameescape(path_of(self.scene, name)))
    self.scene.child:wait_for_sidecar()
    self.scene:reads(self.agent, path_of(self.scene, name))
  end
end

--- A folder with these files, of which some are open.
---@param files Files
---@param open string[]
---@return Chain
function M.start(files, open)
  local scene = Scene.start({}, { 40, 120 })
  for name, bytes in pairs(files) do
    Scene.write(path_of(scene, name), bytes)
  end
  scene:open(BESIDE, "beside\n")
  local chain = setmetatable({ scene = scene, agent = scene:agent(path_of(scene, BESIDE)) }, Chain)
  chain:open(open)
  return chain
end

-- The agent ------------------------------------------------------------------------------------------------------

--- What a tool did, in the conversation of the chain.
---@return string edit
function Chain:call(tool, arguments)
  arguments.mcp_conversation_id = self.conversation
  local answer = self.agent:call(tool, arguments)
  self.conversation = self.conversation or answer.text:match("New mcp_conversation_id: ([%w_]+)")
  return answer:edit()
end

function Chain:makes(name, bytes)
  return self:call("write_file", { path = path_of(self.scene, name), content = bytes })
end

function Chain:removes(name)
  return self:call("delete_file", { path = path_of(self.scene, name) })
end

function Chain:moves(from, to)
  return self:call("move_file", { source = path_of(self.scene, from), destination = path_of(self.scene, to) })
end

--- Puts a line in the place of the one that has these words.
function Chain:edits(name, words, line)
  local path = path_of(self.scene, name)
  return self:call(
    "edit_text_file",
    self.agent.request(path, self.agent:read(path), { { "replace", words, line } })
  )
end

-- The person -----------------------------------------------------------------------------------------------------

--- Decides about an edit in the list of all that is to decide, wherever its file is.
---@param verb "accept"|"reject"
---@param edit string
function Chain:decides(verb, edit)
  patience.wait(function()
    return self.scene.child:lua(
      [[
        local verb, edit = ...
        local is_listed = vim.iter(require("hashline.state").places()):any(function(place)
          return vim.startswith(place.entry.name, edit)
        end)
        if not is_listed then
          return false
        end
        vim.cmd("Hashline list")
        for row, line in ipairs(vim.fn.getqflist()) do
          if vim.startswith(line.user_data.hashline, edit) then
            vim.cmd(row .. " | Hashline " .. verb)
            break
          end
        end
        vim.cmd("cclose")
        return true
      ]],
      verb,
      edit
    )
  end, function()
    return ("%s is in the list\n%s"):format(edit, self.scene.child:screen())
  end)
  self:is_answered()
end

--- Waits until the plugin has the answers to all that it asked: it remembers what was decided by those.
function Chain:is_answered()
  self.scene.child:wait("vim.tbl_isempty(vim.lsp.get_clients({ name = 'hashline' })[1].requests)")
end

--- Accepts, and waits until that is recorded: an agent that went on before would find the file as it was.
function Chain:accepts(edit)
  self:decides("accept", edit)
  self:stands("accepted", edit)
end

--- Takes the last decision back.
function Chain:reopens()
  self.scene.child:cmd("Hashline reopen")
  self:is_answered()
end

--- What `mcpdiff` in a terminal says, which ends with this code.
---@param code integer
---@param ... string
---@return string
function Chain:mcpdiff(code, ...)
  local command = { vim.env.HASHLINE_BIN, "diff", ... }
  vim.list_extend(command, { "-w", self.scene.folder, "--state-dir", self.scene.state })
  local ran = vim.system(command):wait()
  local said = ran.stdout .. ran.stderr
  if ran.code ~= code then
    error(("mcpdiff %s ends with %d: %s"):format(table.concat({ ... }, " "), ran.code, said), 2)
  end
  return said
end

--- Another editor in place of this one, with these files open.
---@param open string[]
function Chain:restarts(open)
  Child.stop_all()
  local scene = self.scene
  scene.child = Child.start({ binary = scene.binary }, { 40, 120 })
  scene.child:lua("vim.env.HASHLINE_STATE_DIR = ...; vim.fn.chdir(select(2, ...))", scene.state, scene.folder)
  self:open(vim.list_extend({ BESIDE }, open))
end

-- What is to be seen ---------------------------------------------------------------------------------------------

--- The files of the folder, but for the history and the one beside them.
---@return Files
local function tree(folder)
  local found = {}
  for name, kind in vim.fs.dir(folder) do
    if kind == "file" and name ~= BESIDE then
      found[name] = Scene.bytes(vim.fs.joinpath(folder, name))
    end
  end
  return found
end

--- The buffers with names, and what stands in them.
---@return Files
local function buffers(child, folder)
  local found = child:lua([[
    local found = {}
    for _, buf in ipairs(vim.api.nvim_list_bufs()) do
      local name = vim.api.nvim_buf_get_name(buf)
      if vim.api.nvim_buf_is_loaded(buf) and name ~= "" and vim.bo[buf].buftype == "" then
        local text = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, true), "\n") .. "\n"
        found[name] = text .. (vim.bo[buf].modified and "(not saved)" or "")
      end
    end
    return found
  ]])
  local named = {}
  for name, text in pairs(found) do
    local file = vim.fs.relpath(folder, name) or name
    if file ~= BESIDE then
      named[file] = text
    end
  end
  return named
end

--- Waits until the folder holds just these files, and the editor just these texts.
---@param files Files
---@param texts Files
---@param what string?
function Chain:holds(files, texts, what)
  local found
  patience.wait(function()
    found = { files = tree(self.scene.folder), texts = buffers(self.scene.child, self.scene.folder) }
    return vim.deep_equal(found, { files = files, texts = texts })
  end, function()
    local wanted = vim.inspect({ files = files, texts = texts })
    local told = vim.inspect(self.scene.child:notified())
    return ("%s\nwanted %s\nfound %s\ntold %s"):format(what or "the tree", wanted, vim.inspect(found), told)
  end)
end

--- Waits until edits are recorded so.
---@param status "pending"|"accepted"|"rejected"
---@param ... string
function Chain:stands(status, ...)
  local edits, found = { ... }, nil
  patience.wait(function()
    local recorded = vim.json.decode(self:mcpdiff(0, "status", "--json", "-n", "0")).edits
    found = {}
    for _, edit in ipairs(edits) do
      for _, one in ipairs(recorded) do
        if vim.startswith(one.edit_id, edit) then
          found[#found + 1] = one.status
        end
      end
    end
    return vim.deep_equal(found, vim.fn["repeat"]({ status }, #edits))
  end, function()
    return ("%s are %s: %s"):format(table.concat(edits, ", "), status, vim.inspect(found))
  end)
end

--- Waits until nothing is left to decide, in the editor and in the record.
function Chain:is_over()
  self.scene.child:wait([[#require("hashline.state").places() == 0]])
  patience.wait(function()
    local recorded = vim.json.decode(self:mcpdiff(0, "status", "--json", "-n", "0")).edits
    return #recorded > 0
      and vim.iter(recorded):all(function(edit)
        return edit.status ~= "pending"
      end)
  end, "nothing is left to decide in the record")
end

return M
