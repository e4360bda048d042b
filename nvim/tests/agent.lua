--- An agent: an MCP client that talks to a real `hashline mcp`, a process of its own, over its stdio.
local patience = require("patience")

local M = {}

local running = {}

---@class Answer
---@field text string what the tool said
---@field refused boolean
local Answer = {}
Answer.__index = Answer

--- The file hash that the answer names.
function Answer:hash()
  local hash = self.text:match("file_hash (%x+)")
  assert(hash, "no file hash in:\n" .. self.text)
  return hash
end

--- The lines that the answer shows, without their tags.
---@return string[]
function Answer:lines()
  local found = {}
  for line in vim.gsplit(self.text, "\n", { plain = true }) do
    found[#found + 1] = line:match("^%d+:%x%x|(.*)$")
  end
  return found
end

--- The anchor of the only line that holds these words.
function Answer:anchor(words)
  local anchor
  for line in vim.gsplit(self.text, "\n", { plain = true }) do
    local found, content = line:match("^(%d+:%x%x)|(.*)$")
    if found and content:find(words, 1, true) then
      assert(not anchor, ("%q stands more than once in:\n%s"):format(words, self.text))
      anchor = found
    end
  end
  assert(anchor, ("%q is not in:\n%s"):format(words, self.text))
  return anchor
end

--- The id of the edit, as far as agents are shown it.
function Answer:edit()
  local id = self.text:match("· edit (%x+)")
  assert(id, "no edit in:\n" .. self.text)
  return id
end

---@class Agent
local Agent = {}
Agent.__index = Agent

--- Starts the router as an agent's program would, and says hello.
---@param root string
---@param state string where it looks for editors
---@param name string? what the agent calls itself
---@return Agent
function M.start(root, state, name)
  local agent = setmetatable({ next = 0, answers = {}, rest = "" }, Agent)
  agent.process = vim.system({ vim.env.HASHLINE_BIN, "mcp", "--root", root, "--state-dir", state }, {
    cwd = root,
    stdin = true,
    stdout = function(_, data)
      agent.rest = agent.rest .. (data or "")
      for line, rest in agent.rest:gmatch("([^\n]*)\n()") do
        agent:take(line)
        agent.taken = rest
      end
      agent.rest = agent.rest:sub(agent.taken or 1)
      agent.taken = nil
    end,
    stderr = function(_, data)
      agent.complaints = (agent.complaints or "") .. (data or "")
    end,
  })
  running[#running + 1] = agent
  agent:ask("initialize", {
    protocolVersion = "2025-11-25",
    capabilities = vim.empty_dict(),
    clientInfo = { name = name or "claude-code", version = "1" },
  })
  agent:send({ method = "notifications/initialized" })
  return agent
end

function M.stop_all()
  for _, agent in ipairs(running) do
    agent.process:write(nil)
  end
  for _, agent in ipairs(running) do
    agent.process:wait(patience.LONGEST_MS) -- ends it, if it does not go by itself
  end
  running = {}
end

function Agent:take(line)
  local message = vim.json.decode(line)
  if message.id and not message.method then
    self.answers[message.id] = message
  end
end

function Agent:send(message)
  message.jsonrpc = "2.0"
  self.process:write(vim.json.encode(message) .. "\n")
end

--- Asks something, and gives back what tells whether it is answered: nil, or the result.
function Agent:asking(method, params)
  self.next = self.next + 1
  local id = self.next
  self:send({ id = id, method = method, params = params })
  return function()
    local answer = self.answers[id]
    if answer and answer.error then
      error(method .. ": " .. vim.inspect(answer.error))
    end
    return answer and answer.result
  end
end

function Agent:ask(method, params)
  return patience.wait(self:asking(method, params), function()
    return ("%s is answered\n%s"):format(method, self.complaints or "")
  end)
end

local function as_answer(result)
  return setmetatable({ text = result.content[1].text, refused = result.isError == true }, Answer)
end

--- Calls a tool, and gives back what tells whether it has answered: nil, or the answer.
---@return fun(): Answer?
function Agent:calling(tool, arguments)
  local answer = self:asking("tools/call", { name = tool, arguments = arguments or vim.empty_dict() })
  return function()
    local result = answer()
    return result and as_answer(result)
  end
end

--- Calls a tool, which may refuse.
---@return Answer
function Agent:try(tool, arguments)
  return as_answer(self:ask("tools/call", { name = tool, arguments = arguments or vim.empty_dict() }))
end

--- Calls a tool, which must not refuse.
---@return Answer
function Agent:call(tool, arguments)
  local answer = self:try(tool, arguments)
  if answer.refused then
    error(("%s is refused: %s"):format(tool, answer.text), 2)
  end
  return answer
end

---@return Answer
function Agent:read(path, more)
  return self:call("read_text_file", vim.tbl_extend("keep", { path = path }, more or {}))
end

--- Edits by what was read: { { op, words of the line, content } }.
---@param path string
---@param read Answer
---@param operations { [1]: string, [2]: string, [3]: string? }[]
---@return Answer
function Agent:edit(path, read, operations, more)
  return self:call("edit_text_file", self.request(path, read, operations, more))
end

function Agent.request(path, read, operations, more)
  local made = vim.tbl_map(function(operation)
    return { op = operation[1], anchor = read:anchor(operation[2]), content = operation[3] }
  end, operations)
  return vim.tbl_extend("keep", { path = path, file_hash = read:hash(), operations = made }, more or {})
end

return M
