--- The sidecar as Neovim's LSP client sees it: starting it, bringing buffers to it, its messages.
local cause = require("hashline.cause")
local config = require("hashline.config")
local delivery = require("hashline.delivery")
local events = require("hashline.events")
local hunk_keys = require("hashline.hunk_keys")
local locator = require("hashline.locator")
local protocol = require("hashline.protocol")
local render = require("hashline.render")
local reopen = require("hashline.reopen")
local starting_mark = require("hashline.starting_mark")
local state = require("hashline.state")
local status = require("hashline.status")
local tracking = require("hashline.tracking")
local pinned_binary = require("hashline.pinned_binary")

local M = {}

M.version = "0.1.0" -- of this plugin

local NAME = "hashline"

M.missing = nil ---@type string? why there is no binary, said once
local unfit = {} ---@type table<string, boolean> binaries that speak another protocol
local stopping = {} ---@type table<integer, boolean> clients that are to end

local handlers = {
  ["hashline/pendingEdits"] = function(_, list, context)
    state.receive(protocol.without_nulls(list), context.client_id)
  end,
  ["hashline/waiting"] = function(_, params, context)
    status.waits(context.client_id, params.agents)
  end,
  ["workspace/applyEdit"] = function(_, params, context)
    return delivery.apply(params, assert(vim.lsp.get_client_by_id(context.client_id)))
  end,
  ["textDocument/publishDiagnostics"] = function(failure, params, context)
    if config.get("diagnostics") then
      vim.lsp.handlers["textDocument/publishDiagnostics"](failure, params, context)
    end
  end,
}

--- Whether a path marks its folder as a project. An empty .git is no repository: sandboxes of agents put one where there is none.
---@param path string
---@return boolean
local function marks_a_project(path)
  return vim.fs.basename(path) ~= ".git" or vim.fn.isdirectory(path) == 0 or vim.fs.dir(path)() ~= nil
end

--- The folder that a buffer belongs to.
---@param buf integer
---@return string
function M.root(buf)
  local above = { upward = true, limit = math.huge, path = vim.fs.dirname(vim.api.nvim_buf_get_name(buf)) }
  for _, markers in ipairs(config.get("root_markers")) do
    for _, path in ipairs(vim.fs.find(markers, above)) do
      if marks_a_project(path) then
        return vim.fs.dirname(path)
      end
    end
  end
  return vim.fn.getcwd()
end

--- Whether a buffer is one that the sidecar is to know: a file that is being edited.
---@param buf integer
---@return boolean
function M.is_for(buf)
  if not vim.api.nvim_buf_is_loaded(buf) or vim.bo[buf].buftype ~= "" then
    return false
  end
  local name = vim.api.nvim_buf_get_name(buf)
  -- A buffer without a name has no URI of its own in Neovim; one with a scheme belongs to another plugin.
  if name == "" or name:match("^%a[%w+.-]+://") then
    return false
  end
  return config.get("enabled") and vim.b[buf].hashline_enabled ~= false
end

---@param buf integer
---@return vim.lsp.Client?
function M.of_buffer(buf)
  return vim.lsp.get_clients({ name = NAME, bufnr = buf })[1]
end

local watched = {} ---@type table<integer, boolean> buffers
local renamed = {} ---@type table<integer, boolean> buffers

---@param buf integer
local function forget(buf)
  render.clear(buf)
  hunk_keys.detach(buf)
  state.detach(buf)
end

--- Watches a buffer for as long as it is loaded.
---@param buf integer
local function watch(buf)
  if watched[buf] then
    return
  end
  watched[buf] = true
  vim.api.nvim_buf_attach(buf, false, {
    on_lines = function(_, _, tick, first, last, new_last)
      tracking.heed_loss(buf)
      state.changed(buf, { version = tick, first = first, last = last, new_last = new_last })
      cause.changed(buf, tick)
    end,
    on_changedtick = function()
      cause.undone(buf)
    end,
    on_reload = function()
      if renamed[buf] then
        -- Neovim would close the document under the first name, which another buffer may have by now.
        M.leave(buf)
      elseif state.is_attached(buf) then
        state.attach(buf) -- the document is closed and opened again: versions count anew
      end
    end,
    on_detach = function()
      watched[buf], renamed[buf] = nil, nil
      forget(buf)
    end,
  })
end

---@param client_id integer
---@param code integer
---@param signal integer
local function ended(code, signal, client_id)
  vim.schedule(function()
    cause.forget(client_id)
    events.forget(client_id)
    reopen.ended(client_id)
    status.waits(client_id, {})
    state.forget(client_id)
    if not stopping[client_id] and vim.v.exiting == vim.NIL then
      vim.notify(
        ("hashline: the sidecar ended by itself (exit code %d, signal %d); :Hashline restart starts it anew"):format(
          code,
          signal
        ),
        vim.log.levels.WARN
      )
    end
    stopping[client_id] = nil
  end)
end

--- This editor, as the sidecar is to call it.
---@return string
function M.editor()
  local version = vim.version --[[@as fun(): vim.Version]]
  local v = version()
  return ("Neovim %d.%d.%d"):format(v.major, v.minor, v.patch)
end

--- What is wrong with a sidecar that speaks another protocol; nothing where it speaks this plugin's.
---@param client vim.lsp.Client
---@return string?
function M.mismatch(client)
  local theirs = vim.tbl_get(client.server_capabilities or {}, "experimental", "hashline")
  if not theirs then
    return "it did not announce the protocol; is it a hashline binary? If so, update it"
  elseif theirs.protocol ~= protocol.version then
    local older = tonumber(theirs.protocol) and theirs.protocol < protocol.version
    return ("it speaks protocol %s, this plugin %d; update %s"):format(
      tostring(theirs.protocol),
      protocol.version,
      older and "that program" or "this plugin"
    )
  end
end

--- Ends a sidecar that would not understand this plugin, nor this plugin it, and says so once.
---@param client vim.lsp.Client
---@param binary string
local function greet(client, binary)
  local wrong = M.mismatch(client)
  if wrong then
    starting_mark.unmark(client.root_dir)
    unfit[binary] = true
    stopping[client.id] = true
    client:stop()
    local message = ("hashline: %s: %s, then :Hashline restart"):format(binary, wrong)
    vim.notify(message, vim.log.levels.ERROR)
  end
end

--- The client's settings for vim.lsp.start().
---@param binary string
---@param root string
---@param start hashline.Trusted
---@return vim.lsp.ClientConfig
function M.settings(binary, root, start)
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.experimental = { hashline = { protocol = protocol.version, version = M.version } }
  capabilities.workspace.workspaceEdit.documentChanges = true
  return {
    name = NAME,
    cmd = vim.list_extend(vim.list_extend({}, start.command), { "lsp", "--editor", M.editor() }),
    root_dir = root,
    capabilities = capabilities,
    handlers = handlers,
    init_options = { hashline = config.for_sidecar() },
    settings = { hashline = config.for_sidecar() },
    on_init = function(client)
      start.close()
      cause.listen(client)
      greet(client, binary)
    end,
    -- The document was opened a moment ago, with what had been typed until then in its text.
    on_attach = function(client, buf)
      state.attach(buf)
      hunk_keys.attach(buf)
      starting_mark.known(client)
    end,
    on_exit = function(...)
      starting_mark.unmark(root)
      start.close()
      ended(...)
    end,
  }
end

---@param client vim.lsp.Client
---@param root string?
local function is_of(client, root)
  return client.name == NAME and client.root_dir == root and not client:is_stopped()
end

---@param root string
local function is_running(root)
  for _, client in ipairs(vim.lsp.get_clients({ name = NAME })) do
    if is_of(client, root) then
      return true
    end
  end
  return false
end

--- Brings a buffer to the sidecar of its project, which is started if need be.
---@param buf integer
---@return integer? client_id
function M.attach(buf)
  if not M.is_for(buf) or M.of_buffer(buf) then
    return nil
  end
  local found, sentence = locator.find(config.get("binary"), vim.env.HASHLINE_BIN)
  if not found then
    if M.missing ~= sentence then
      M.missing = sentence
      vim.notify(sentence --[[@as string]], vim.log.levels.WARN)
    end
    return nil
  end
  M.missing = nil
  if unfit[found.path] then
    return nil
  end
  local root = M.root(buf)
  local runs = is_running(root)
  if not runs then
    starting_mark.mark(root)
  end
  -- One that runs is not hashed again for each buffer that comes to it.
  local start, refused = pinned_binary.verify(found, runs and "" or config.get("binary_hash"))
  if not start then
    starting_mark.unmark(root)
    unfit[found.path] = true
    vim.notify(refused --[[@as string]], vim.log.levels.ERROR)
    return nil
  elseif start.told then
    vim.notify(start.told, vim.log.levels.WARN)
  end
  state.attach(buf)
  watch(buf)
  local id = vim.lsp.start(M.settings(found.path, root, start), {
    bufnr = buf,
    reuse_client = function(client, wanted)
      return is_of(client, wanted.root_dir)
    end,
  })
  if not id then
    starting_mark.unmark(root)
  end
  return id
end

--- A buffer is about to get another name: its document ends with what was typed so far, under the name that it still has.
--- (Neovim sends changes under the new name from here on, and tells of it when the buffer is written.)
---@param buf integer
function M.leave(buf)
  for _, client in ipairs(vim.lsp.get_clients({ name = NAME, bufnr = buf })) do
    vim.lsp.buf_detach_client(buf, client.id)
  end
  if state.is_attached(buf) then
    renamed[buf] = true
    forget(buf)
    status.clear(buf)
  end
  -- Where no new name comes after all.
  require("hashline").attach_soon(buf)
end

--- Ends the sidecars and starts them anew for all buffers.
function M.restart()
  local clients = vim.lsp.get_clients({ name = NAME })
  for _, client in ipairs(clients) do
    stopping[client.id] = true
    client:stop()
  end
  local tries = 0
  local function again()
    tries = tries + 1
    for _, client in ipairs(clients) do
      if vim.lsp.get_client_by_id(client.id) then
        if tries == 20 then
          client:stop(true)
        end
        vim.defer_fn(again, 50)
        return
      end
    end
    M.missing, unfit = nil, {}
    for _, buf in ipairs(vim.api.nvim_list_bufs()) do
      M.attach(buf)
    end
  end
  again()
end

return M
