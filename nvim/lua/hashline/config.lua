--- The settings: one schema, from which defaults, checks, types and the help page come.
local M = {}

--- What a value has to be.
---@class hashline.Kind
---@field name string for people
---@field type string as EmmyLua writes it
---@field problem fun(value: any): string? which part of it is something else, if not all of it

---@param value any
---@return string
local function shown(value)
  return type(value) == "string" and ('"%s"'):format(value)
    or vim.inspect(value, { newline = " ", indent = "" })
end

---@param lua_type type
---@return hashline.Kind
local function plain(lua_type)
  return {
    name = "a " .. lua_type,
    type = lua_type,
    problem = function(value)
      return type(value) ~= lua_type and "" or nil
    end,
  }
end

local a_boolean, a_string = plain("boolean"), plain("string")

--- The hash of a file, as `file_hashes` has them.
---@type hashline.Kind
local hash = {
  name = 'a hash ("sha256:" and 64 hex digits in lower case), or ""',
  type = "string",
  problem = function(value)
    local digits = type(value) == "string" and value:match("^sha256:([%da-f]+)$")
    return not (value == "" or (digits and #digits == 64)) and "" or nil
  end,
}

--- A whole number, from 1.
---@type hashline.Kind
local count = {
  name = "a whole number from 1",
  type = "integer",
  problem = function(value)
    return not (type(value) == "number" and value >= 1 and value % 1 == 0) and "" or nil
  end,
}

---@param values string[]
---@return hashline.Kind
local function one_of(values)
  local quoted = vim.tbl_map(shown, values)
  return {
    name = "one of " .. table.concat(quoted, ", "),
    type = table.concat(quoted, "|"),
    problem = function(value)
      return not vim.list_contains(values, value) and "" or nil
    end,
  }
end

---@param element hashline.Kind
---@return hashline.Kind
local function list_of(element)
  return {
    name = "a list, each " .. element.name,
    type = element.type:find("|", 1, true) and ("(%s)[]"):format(element.type) or element.type .. "[]",
    problem = function(value)
      if type(value) ~= "table" or not vim.islist(value) then
        return ""
      end
      for i, item in ipairs(value) do
        local inner = element.problem(item)
        if inner then
          return ("[%d]%s"):format(i, inner)
        end
      end
    end,
  }
end

---@param first hashline.Kind
---@param second hashline.Kind
---@return hashline.Kind
local function either(first, second)
  return {
    name = first.name .. " or " .. second.name,
    type = first.type .. "|" .. second.type,
    problem = function(value)
      return first.problem(value) and second.problem(value)
    end,
  }
end

local MODES = one_of({ "propose", "apply" })

---@type { [1]: string, [2]: hashline.Kind, [3]: boolean }[] key, kind, whether it has to be there
local RULE = { { "agent", a_string, false }, { "glob", a_string, false }, { "mode", MODES, true } }

--- What happens with the edits of an agent to some files.
---@type hashline.Kind
local rule = {
  name = 'a table of `mode` ("propose" or "apply") and, where it is not for all, `agent` and `glob` (strings)',
  type = "hashline.Rule",
  problem = function(value)
    if type(value) ~= "table" then
      return ""
    end
    local known = {}
    for _, field in ipairs(RULE) do
      local key, kind, is_needed = unpack(field)
      known[key] = true
      local is_wrong = value[key] ~= nil and kind.problem(value[key]) or (value[key] == nil and is_needed)
      if is_wrong then
        return "." .. key
      end
    end
    for key in vim.spairs(value) do
      if not known[key] then
        return "." .. tostring(key)
      end
    end
  end,
}

---@class hashline.Setting
---@field key string dotted name
---@field kind hashline.Kind
---@field default any
---@field about string

---@type hashline.Setting[]
M.schema = {
  {
    key = "enabled",
    kind = a_boolean,
    default = true,
    about = "Start the sidecar for file buffers. `b:hashline_enabled` says it for one buffer.",
  },
  {
    key = "binary",
    kind = a_string,
    default = "",
    about = "The hashline binary. Empty: $HASHLINE_BIN, then the build of the repository that the plugin lies in, then $PATH.",
  },
  {
    key = "binary_hash",
    kind = hash,
    default = "",
    about = 'The hash that the binary has to have ("sha256:" and 64 digits): it is looked at before each start, and with any other '
      .. "the last one that had it runs instead, or none. Empty: any will do.",
  },
  {
    key = "root_markers",
    kind = list_of(either(a_string, list_of(a_string))),
    default = { { ".mcp", ".git" }, { "Cargo.toml", "package.json" } },
    about = "What marks a project's folder, as for |vim.fs.root()|, the first group that is found counts. With none found it is the working directory.",
  },
  {
    key = "signs",
    kind = a_boolean,
    default = true,
    about = "Signs beside lines that an edit replaces (-) or made (+), where it inserts or took lines away (_), and at conflicts (!).",
  },
  {
    key = "hints",
    kind = a_boolean,
    default = true,
    about = "The keys or commands in the line that introduces a hunk.",
  },
  {
    key = "keys",
    kind = a_boolean,
    default = true,
    about = "Keys for reviewing, while something is to be reviewed: see |hashline-maps|.",
  },
  {
    key = "max_lines",
    kind = count,
    default = 80,
    about = "Show at most so many lines of one hunk, and no more than a window has room for; "
      .. "`:Hashline diff` shows all.",
  },
  {
    key = "notify",
    kind = a_boolean,
    default = true,
    about = "A message when agents do something in files that are not open, and once for each connection of an agent that proposes edits.",
  },
  {
    key = "mode.open",
    kind = MODES,
    default = "propose",
    about = "What happens with edits of open documents: held until accepted (propose) or put into the text at once (apply).",
  },
  {
    key = "mode.disk",
    kind = MODES,
    default = "apply",
    about = "The same for documents that are not open.",
  },
  {
    key = "mode.rules",
    kind = list_of(rule),
    default = {},
    about = "Other modes for some agents or files, as in { { agent = "
      .. '"codex", glob = "docs/**", mode = "apply" } }; the last that matches wins.',
  },
  {
    key = "mode.hold",
    kind = list_of(a_string),
    default = {},
    about = 'Globs of more files whose edits are held in every mode, as in { "deploy/**" }, besides those that programs act '
      .. "on by themselves (.envrc, .nvim.lua, the settings of agents and so on).",
  },
  {
    key = "saveAfterAccept",
    kind = one_of({ "never", "ifClean", "always" }),
    default = "never",
    about = "Write the file after an acceptance: never, if it had no unsaved changes before, or always.",
  },
  {
    key = "diagnostics",
    kind = a_boolean,
    default = false,
    about = "Show the sidecar's diagnostics of pending edits, too; the hunks are drawn without them.",
  },
  {
    key = "noHardLinks",
    kind = a_boolean,
    default = false,
    about = "Refuse agents files with more than one name (hard links), since another name may lie outside the folder. Works only on Unix.",
  },
  {
    key = "ideLink",
    kind = a_boolean,
    default = true,
    about = "Let Claude Code find this Neovim by its IDE link, so that what it asks about before an edit is held here.",
  },
  {
    key = "http.listen",
    kind = a_string,
    default = "",
    about = "Serve agents over HTTP at this address (127.0.0.1:8437) while Neovim runs. An agent's token from `hashline token` limits what it may do. Empty: do not serve.",
  },
}

---@type table<string, any> by dotted key
local values = {}
local problems = {} ---@type string[]
local given ---@type hashline.Settings?

---@param setting hashline.Setting
---@param value any
---@return string? problem
local function check(setting, value)
  local where = setting.kind.problem(value)
  if not where then
    return nil
  end
  local part = where ~= "" and (" (at `%s%s`)"):format(setting.key, where) or ""
  return ("hashline: `%s` is %s%s; expected %s"):format(setting.key, shown(value), part, setting.kind.name)
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
        wrong[#wrong + 1] = ("hashline: `%s` is %s; expected a table"):format(name, shown(value))
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
    wrong[#wrong + 1] = ("hashline: the settings are %s; expected a table"):format(shown(user))
  else
    take("", user)
  end
  return found, wrong
end

--- Takes the settings of `setup{}`; without it those of `vim.g.hashline` count.
---@param user hashline.Settings?
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
      hold = M.get("mode.hold"),
    },
    saveAfterAccept = M.get("saveAfterAccept"),
    diagnostics = M.get("diagnostics"),
    noHardLinks = M.get("noHardLinks"),
    ideLink = M.get("ideLink"),
    http = { listen = M.get("http.listen") },
  }
end

--- Text in lines of a width.
---@param text string
---@param indent string
---@return string[]
local function filled(text, indent)
  local lines, line = {}, indent
  for word in text:gmatch("%S+") do
    local longer = line == indent and indent .. word or line .. " " .. word
    if vim.fn.strdisplaywidth(longer) > 78 and line ~= indent then
      lines[#lines + 1] = line
      longer = indent .. word
    end
    line = longer
  end
  lines[#lines + 1] = line
  return lines
end

--- The settings as the help page has them.
---@return string[] lines
function M.help()
  local lines = {}
  for _, setting in ipairs(M.schema) do
    local tag = ("*hashline-%s*"):format(setting.key)
    local head = ("%s ~"):format(setting.key)
    lines[#lines + 1] = head .. (" "):rep(math.max(1, 78 - #head - #tag)) .. tag
    local kind = setting.kind.name:sub(1, 1):upper() .. setting.kind.name:sub(2)
    vim.list_extend(lines, filled(("%s; default `%s`."):format(kind, shown(setting.default)), "    "))
    vim.list_extend(lines, filled(setting.about, "    "))
    lines[#lines + 1] = ""
  end
  return lines
end

--- The settings as types, for those who write their own in Lua.
---@return string[] lines
function M.types()
  local lines = {
    "---@meta",
    "--- The settings as types, for `vim.g.hashline` and `setup()`. The schema in config.lua writes this file.",
    "",
    "---@class hashline.Rule",
  }
  for _, field in ipairs(RULE) do
    lines[#lines + 1] = ("---@field %s%s %s"):format(field[1], field[3] and "" or "?", field[2].type)
  end
  local order = { "" }
  local groups = { [""] = { "---@class hashline.Settings" } } ---@type table<string, string[]>
  for _, setting in ipairs(M.schema) do
    local group, key = setting.key:match("^(.-)%.(.*)$")
    group, key = group or "", key or setting.key
    if not groups[group] then
      local class = "hashline.Settings." .. group
      groups[group] = { "---@class " .. class }
      order[#order + 1] = group
      table.insert(groups[""], ("---@field %s? %s"):format(group, class))
    end
    table.insert(groups[group], ("---@field %s? %s %s"):format(key, setting.kind.type, setting.about))
  end
  for _, group in ipairs(order) do
    lines[#lines + 1] = ""
    vim.list_extend(lines, groups[group])
  end
  return lines
end

return M
