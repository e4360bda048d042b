--- Finds the hashline binary.
local M = {}

---@class hashline.Found
---@field path string
---@field source string where it was found, in words

--- The folder of the repository that this file lies in, when it lies in one.
local function repository()
  local here = debug.getinfo(1, "S").source:sub(2)
  local nvim_folder = vim.fn.fnamemodify(here, ":p:h:h:h")
  return vim.fs.dirname(vim.uv.fs_realpath(nvim_folder) or nvim_folder)
end

---@param configured string? the setting `binary`
---@param env string? the value of $HASHLINE_BIN
---@return hashline.Found?
---@return string? sentence why there is none
function M.find(configured, env)
  configured, env = configured or "", env or ""
  local function explicit(path, source)
    local full = vim.fn.exepath(vim.fs.normalize(path))
    if full ~= "" then
      return { path = full, source = source }
    end
    return nil,
      ("hashline: %s says %s, which is no executable file. Build it with `cargo build --release`, or mend the path."):format(
        source,
        path
      )
  end
  if configured ~= "" then
    return explicit(configured, "the setting `binary`")
  end
  if env ~= "" then
    return explicit(env, "$HASHLINE_BIN")
  end
  local built = vim.fs.joinpath(repository(), "target", "release", "hashline")
  if vim.fn.executable(built) == 1 then
    return { path = built, source = "the repository that the plugin lies in" }
  end
  local on_path = vim.fn.exepath("hashline")
  if on_path ~= "" then
    return { path = on_path, source = "$PATH" }
  end
  return nil,
    ("hashline: no `hashline` binary found: not at %s, not on $PATH. "):format(built)
      .. "Install it, or set `vim.g.hashline = { binary = '/path/to/hashline' }`."
end

return M
