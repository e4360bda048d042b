--- What statuslines show: buffer variables, and a User autocommand when they change.
local protocol = require("hashline.protocol")
local state = require("hashline.state")

local M = {}

---@class hashline.Status
---@field pending integer undecided hunks
---@field conflicted integer
---@field held integer
---@field in_text integer
---@field agents string[]
---@field waiting string[] the agents that wait for a decision, of whatever file
---@field read_only boolean
---@field files integer? that have undecided hunks, over all files

local waits_by_client = {} ---@type table<integer, string[]>

---@return string[]
local function waiting()
  local all = {}
  for _, agents in pairs(waits_by_client) do
    vim.list_extend(all, agents)
  end
  table.sort(all)
  return vim.fn.uniq(all) --[[@as string[] ]]
end

---@param entries hashline.Entry[]
---@param read_only boolean
---@return hashline.Status
local function count(entries, read_only)
  local status = {
    pending = #entries,
    conflicted = 0,
    held = 0,
    in_text = 0,
    agents = {},
    waiting = waiting(),
    read_only = read_only,
  }
  local seen = {}
  for _, entry in ipairs(entries) do
    local kind = entry.hunk.state
    if kind == "conflicted" then
      status.conflicted = status.conflicted + 1
    elseif kind == "held" then
      status.held = status.held + 1
    else
      status.in_text = status.in_text + 1
    end
    if not seen[entry.edit.agent] then
      seen[entry.edit.agent] = true
      status.agents[#status.agents + 1] = entry.edit.agent
    end
  end
  return status
end

---@param status hashline.Status
---@return string
local function words(status)
  if status.pending == 0 then
    return ""
  end
  local text = status.pending .. " pending"
  if status.files then
    text = ("%s in %d file%s"):format(text, status.files, status.files == 1 and "" or "s")
  end
  if status.conflicted > 0 then
    text = text .. (", %d conflicted"):format(status.conflicted)
  end
  if #status.waiting > 0 then
    text = ("%s, %s wait%s"):format(
      text,
      table.concat(status.waiting, ", "),
      #status.waiting == 1 and "s" or ""
    )
  end
  return text
end

---@param buf integer?
---@param document hashline.Document?
local function show_in(buf, document)
  if buf and vim.api.nvim_buf_is_valid(buf) then
    local status = count(document and document.entries or {}, document ~= nil and document.read_only)
    vim.b[buf].hashline_status_dict = status
    vim.b[buf].hashline_status = words(status)
  end
end

--- Shows what is so over all files, and tells that something has changed.
---@param data { buf: integer?, uri: string? } where
local function tell(data)
  local everything, documents = {}, state.all()
  for _, document in ipairs(documents) do
    vim.list_extend(everything, document.entries)
  end
  local status = count(everything, false)
  status.files = #documents
  vim.g.hashline_status_dict = status
  vim.g.hashline_status = words(status)
  vim.api.nvim_exec_autocmds("User", { pattern = "HashlineUpdate", modeline = false, data = data })
  vim.cmd.redrawstatus({ bang = true })
end

---@param document hashline.Document
function M.update(document)
  show_in(document.buf, document)
  tell({ buf = document.buf, uri = document.uri })
end

--- Agents of a client wait for decisions, or do no more.
---@param client_id integer
---@param agents string[]
function M.waits(client_id, agents)
  local before, now = waits_by_client[client_id], #agents > 0 and agents or nil
  waits_by_client[client_id] = now
  if vim.deep_equal(before, now) then
    return
  end
  for _, buf in ipairs(state.buffers()) do
    show_in(buf)
  end
  for _, document in ipairs(state.all()) do
    show_in(document.buf, document)
  end
  tell({})
end

--- A buffer is no longer the one of its document.
---@param buf integer
function M.clear(buf)
  show_in(buf)
end

--- Says what the sidecar says of itself.
function M.show()
  local clients = vim.lsp.get_clients({ name = "hashline" })
  if #clients == 0 then
    vim.notify("hashline: the sidecar is not running; :checkhealth hashline says why", vim.log.levels.WARN)
    return
  end
  for _, client in ipairs(clients) do
    protocol.ask(client, "hashline/status", vim.empty_dict(), function(failure, result)
      if failure then
        vim.notify("hashline: " .. (failure.message or vim.inspect(failure)), vim.log.levels.ERROR)
        return
      end
      local agents = #result.agents > 0 and table.concat(result.agents, ", ") or "none so far"
      local socket = result.socket
      vim.notify(
        table.concat({
          ("hashline %s · %s"):format(result.version, table.concat(result.roots, ", ")),
          ("%d buffer%s · %d hunk%s to review%s"):format(
            result.documents,
            result.documents == 1 and "" or "s",
            result.pending,
            result.pending == 1 and "" or "s",
            result.conflicted > 0 and (", %d conflicted"):format(result.conflicted) or ""
          ),
          "agents: " .. agents,
          "socket: " .. (socket and socket ~= vim.NIL and socket or "none"),
        }, "\n"),
        vim.log.levels.INFO
      )
    end)
  end
end

return M
