--- The settings: one schema, from which defaults, checks and the help page come.
local M = {}

---@class hashline.Setting
---@field key string dotted name
---@field types string[] what vim.type() may say
---@field values string[]? the only values that a string may have
---@field default any
---@field about string

---@type hashline.Setting[]
M.schema = {
  {
    key = "enabled",
    types = { "boolean" },
    default = true,
    about = "Start the sidecar for file buffers. `b:hashline_enabled` says it for one buffer.",
  },
  {
    key = "binary",
    types = { "string" },
    default = "",
    about = "The hashline binary. Empty: $HASHLINE_BIN, then the build of the repository that the plugin lies in, then $PATH.",
  },
  {
    key = "root_markers",
    types = { "table" },
    default = { { ".mcp", ".git" }, { "Cargo.toml", "package.json" } },
    about = "What marks a project's folder, as for |vim.fs.root()|, the first group that is found counts. With none found it is the working directory.",
  },
  {
    key = "signs",
    types = { "boolean" },
    default = true,
    about = "Signs beside lines that an edit replaces (-) or made (+), where it inserts or took lines away (_), and at conflicts (!).",
  },
  {
    key = "hints",
    types = { "boolean" },
    default = true,
    about = "The commands in the line that introduces a hunk.",
  },
  {
    key = "max_lines",
    types = { "number" },
    default = 80,
    about = "Show at most so many lines of one hunk, and no more than a window has room for; "
      .. "`:Hashline diff` shows all.",
  },
  {
    key = "notify",
    types = { "boolean" },
    default = true,
    about = "One message for each connection of an agent that proposes edits.",
  },
  {
    key = "mode.open",
    types = { "string" },
    values = { "propose", "apply" },
    default = "propose",
    about = "What happens with edits of open documents: held until accepted (propose) or put into the text at once (apply).",
  },
  {
    key = "mode.disk",
    types = { "string" },
    values = { "propose", "apply" },
    default = "apply",
    about = "The same for documents that are not open.",
  },
  {
    key = "mode.rules",
    types = { "table" },
    default = {},
    about = "A list of { agent = …, glob = …, mode = … }; the last that matches wins.",
  },
  {
    key = "saveAfterAccept",
    types = { "string" },
    values = { "never", "ifClean", "always" },
    default = "never",
    about = "Write the file after an acceptance: never, if it had no unsaved changes before, or always.",
  },
  {
    key = "diagnostics",
    types = { "boolean" },
    default = false,
    about = "Show the sidecar's diagnostics of pending edits, too; the hunks are drawn without them.",
  },
  {
    key = "http.listen",
    types = { "string" },
    default = "",
    about = "Serve agents over HTTP at this address (127.0.0.1:8437) while Neovim runs, each within what its token from `hashline token` gives. Empty: do not.",
  },
}

---@type table<string, any> by dotted key
local values = {}
local problems = {} ---@type string[]
local given ---@type table?

---@param value any
local function shown(value)
  return type(value) == "string" and ('"%s"'):format(value)
    or vim.inspect(value, { newline = " ", indent = "" })
end

---@param setting hashline.Setting
---@param value any
---@return string? problem
local function check(setting, value)
  if not vim.tbl_contains(setting.types, type(value)) then
    return ("hashline: `%s` is %s (a %s); expected a %s"):format(
      setting.key,
      shown(value),
      type(value),
      table.concat(setting.types, " or a ")
    )
  end
  if setting.values and not vim.tbl_contains(setting.values, value) then
    return ("hashline: `%s` is %s; expected one of %s"):format(
      setting.key,
      shown(value),
      table.concat(vim.tbl_map(shown, setting.values), ", ")
    )
  end
end

--- Checks user settings against the schema. Wrong ones are left at their defaults.
---@param user any
---@return table<string, any> values by dotted key
---@return string[] problems one sentence each
function M.resolve(user)
  local found, wrong = {}, {}
  local by_key, groups = {}, {}
  for _, setting in ipairs(M.schema) do
    by_key[setting.key] = setting
    found[setting.key] = setting.default
    local group = setting.key:match("^(.-)%.")
    if group then
      groups[group] = true
    end
  end

  local function take(prefix, settings)
    for key, value in vim.spairs(settings) do
      local name = prefix .. tostring(key)
      if groups[name] and type(value) == "table" then
        take(name .. ".", value)
      elseif by_key[name] then
        local problem = check(by_key[name], value)
        if problem then
          wrong[#wrong + 1] = problem
        else
          found[name] = value
        end
      elseif groups[name] then
        wrong[#wrong + 1] = ("hashline: `%s` is %s (a %s); expected a table"):format(
          name,
          shown(value),
          type(value)
        )
      else
        local known = vim.tbl_map(function(setting)
          return setting.key
        end, M.schema)
        wrong[#wrong + 1] = ("hashline: there is no setting `%s` (found %s); expected one of %s"):format(
          name,
          shown(value),
          table.concat(known, ", ")
        )
      end
    end
  end

  if type(user) ~= "table" then
    wrong[#wrong + 1] = ("hashline: the settings are %s (a %s); expected a table"):format(
      shown(user),
      type(user)
    )
  else
    take("", user)
  end
  return found, wrong
end

--- Takes the settings of `setup{}`; without it those of `vim.g.hashline` count.
---@param user table?
function M.set(user)
  given = user or vim.g.hashline or {}
  values, problems = M.resolve(given)
  for _, problem in ipairs(problems) do
    vim.notify(problem, vim.log.levels.WARN)
  end
end

---@param key string dotted name
---@return any
function M.get(key)
  if not given then
    M.set(nil)
  end
  local value = values[key]
  assert(value ~= nil, "no such setting: " .. key)
  return value
end

---@return string[]
function M.problems()
  M.get("enabled")
  return problems
end

--- The part that the sidecar needs, under the names that it has in every editor.
---@return table
function M.for_sidecar()
  return {
    mode = {
      open = M.get("mode.open"),
      disk = M.get("mode.disk"),
      rules = M.get("mode.rules"),
    },
    saveAfterAccept = M.get("saveAfterAccept"),
    diagnostics = M.get("diagnostics"),
    http = { listen = M.get("http.listen") },
  }
end

--- The settings as the help page has them.
---@return string[] lines
function M.help()
  local lines = {}
  for _, setting in ipairs(M.schema) do
    local tag = ("*hashline-%s*"):format(setting.key)
    local head = ("%s ~"):format(setting.key)
    lines[#lines + 1] = head .. (" "):rep(math.max(1, 78 - #head - #tag)) .. tag
    local kind = setting.values and table.concat(vim.tbl_map(shown, setting.values), ", ")
      or table.concat(setting.types, " or ")
    lines[#lines + 1] = ("    %s, default `%s`"):format(kind, shown(setting.default))
    local line = "   "
    for word in setting.about:gmatch("%S+") do
      if vim.fn.strdisplaywidth(line .. " " .. word) > 78 then
        lines[#lines + 1] = line
        line = "   "
      end
      line = line .. " " .. word
    end
    lines[#lines + 1] = line
    lines[#lines + 1] = ""
  end
  return lines
end

return M
