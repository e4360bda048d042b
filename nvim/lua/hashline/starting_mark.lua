--- The mark of an editor that is starting (editors/PROTOCOL.md, "Starting"): agents wait for it until the sidecar knows what is open.
local protocol = require("hashline.protocol")

local M = {}

local OWN_FILE = 384 -- 0600
local OWN_FOLDER = "0o700"

local marks = {} ---@type table<string, string> files, by the folder that each marks

---@return string?
local function folder()
  local state = vim.env.HASHLINE_STATE_DIR
  if not state or state == "" then
    local home = (vim.uv.os_get_passwd() or {}).homedir
    state = home and vim.fs.joinpath(home, ".hashline")
  end
  return state and vim.fs.joinpath(state, "sidecars")
end

---@param path string
---@param text string
---@return boolean written
local function write(path, text)
  local file = vim.uv.fs_open(path, "wx", OWN_FILE)
  if not file then
    return false
  end
  local written = vim.uv.fs_write(file, text)
  vim.uv.fs_close(file)
  return written == #text
end

--- Marks a folder. Where that cannot be done nobody waits.
---@param root string
function M.mark(root)
  local sidecars = folder()
  if marks[root] or not sidecars or not pcall(vim.fn.mkdir, sidecars, "p", OWN_FOLDER) then
    return
  end
  local seconds, micros = vim.uv.gettimeofday()
  local text = vim.json.encode({
    pid = vim.uv.os_getpid(),
    host = vim.uv.os_gethostname(),
    roots = { root },
    started = seconds * 1000 + math.floor(micros / 1000),
  })
  local name = ("nvim-%d-%d"):format(vim.uv.os_getpid(), vim.uv.hrtime())
  local unready = vim.fs.joinpath(sidecars, "." .. name)
  local path = vim.fs.joinpath(sidecars, name .. ".starting")
  if write(unready, text) and vim.uv.fs_rename(unready, path) then
    marks[root] = path
  else
    vim.uv.fs_unlink(unready)
  end
end

--- Takes the mark of a folder away.
---@param root string?
function M.unmark(root)
  local path = root and marks[root]
  if root and path then
    vim.uv.fs_unlink(path)
    marks[root] = nil
  end
end

--- Takes the mark of a client's folder away when its sidecar knows the buffers that are with it by now.
---@param client vim.lsp.Client
function M.known(client)
  local root = client.root_dir
  if not root or not marks[root] then
    return
  end
  -- When this is over all of them were opened; the sidecar answers after it has taken that in.
  vim.schedule(function()
    protocol.ask(client, "hashline/status", vim.empty_dict(), function()
      M.unmark(root)
    end)
  end)
end

--- Takes all marks away.
function M.stop()
  for root in pairs(marks) do
    M.unmark(root)
  end
end

return M
