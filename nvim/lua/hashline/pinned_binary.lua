--- A binary whose hash is pinned is started only as the very bytes that have it.
local M = {}

--- Where `hashline package verify-binary` keeps the binaries that it has verified: in the home of the password database, as all that
--- hashline keeps for a user. Not everybody has one in there.
M.kept = vim.fs.joinpath((vim.uv.os_get_passwd() or {}).homedir or "~", ".hashline", "binaries")

local HASHERS = { { "sha256sum" }, { "shasum", "-a", "256" }, { "certutil", "-hashfile" } }
local LONGEST_MS = 10000

---@class hashline.Trusted
---@field command string[] what starts the binary, before its own arguments
---@field close fun() lets go of the opened file, which has to be there until the binary runs
---@field told string? what the person is to know

---@class hashline.Opened
---@field path string a name of the opened file where the system has one
---@field hash string
---@field close fun()

---@param file string
---@return string? hash
---@return string? problem
local function hash_of(file)
  for _, hasher in ipairs(HASHERS) do
    if vim.fn.executable(hasher[1]) == 1 then
      local command = vim.list_extend(vim.list_extend({}, hasher), { file })
      if hasher[1] == "certutil" then
        command[#command + 1] = "SHA256"
      end
      local ran = vim.system(command, { text = true, timeout = LONGEST_MS }):wait()
      local digits = ran.code == 0 and (ran.stdout or ""):match(("%x"):rep(64))
      if digits then
        return "sha256:" .. digits:lower()
      end
      return nil, vim.trim(ran.stderr or "")
    end
  end
  return nil, "neither sha256sum nor shasum nor certutil is there to hash it"
end

---@param file string
---@return hashline.Opened?
---@return string? problem
local function open(file)
  local fd, problem = vim.uv.fs_open(file, "r", 0)
  if not fd then
    return nil, problem
  end
  -- Where the system has a name for what is open, that is hashed and started: whatever has the file's own name by then.
  local opened = vim.uv.os_uname().sysname == "Linux" and ("/proc/%d/fd/%d"):format(vim.uv.os_getpid(), fd)
    or file
  local hash, unknown = hash_of(opened)
  if not hash then
    vim.uv.fs_close(fd)
    return nil, unknown
  end
  return {
    path = opened,
    hash = hash,
    close = function()
      if fd then
        vim.uv.fs_close(fd)
        fd = nil
      end
    end,
  }
end

--- How a binary is started that has to have this hash.
---@param found hashline.Found
---@param expected string the setting `binary_hash`; empty where any will do
---@return hashline.Trusted?
---@return string? sentence why it is not started
function M.verify(found, expected)
  if expected == "" then
    return { command = { found.path }, close = function() end }
  end
  ---@param opened hashline.Opened
  ---@param file string
  ---@param told string?
  ---@return hashline.Trusted
  local function start(opened, file, told)
    -- It keeps the binary for the day on which another has taken its place.
    local command = { opened.path, "package", "verify-binary", file, "--hash", expected, "--run", "--" }
    return { command = command, close = opened.close, told = told }
  end
  local given, problem = open(found.path)
  if given and given.hash == expected then
    return start(given, found.path)
  end
  if given then
    given.close()
  end
  local other = ("hashline: %s is not the binary that is meant: expected %s, actual %s, from %s."):format(
    found.path,
    expected,
    given and given.hash or problem,
    found.source
  )
  local digits = expected:sub(#"sha256:" + 1)
  local kept = vim.fs.joinpath(M.kept, digits, vim.fs.basename(found.path))
  local last = open(kept)
  if last and last.hash == expected then
    return start(last, kept, other .. " The last good one runs instead.")
  end
  if last then
    last.close()
  end
  return nil, other .. " It is not started; install it anew, or mend the setting `binary_hash`."
end

return M
