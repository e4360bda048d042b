--- `:Hashline` and the <Plug> maps.
local M = {}

---@class hashline.Call
---@field range [integer, integer]?
---@field bang boolean
---@field rest string

---@param verb "accept"|"reject"
---@return fun(call: hashline.Call)
local function deciding(verb)
  return function(call)
    require("hashline.decide").decide(verb, {
      range = call.range,
      whole_file = call.bang,
      reason = verb == "reject" and call.rest ~= "" and call.rest or nil,
    })
  end
end

---@param direction 1|-1
---@return fun(call: hashline.Call)
local function stepping(direction)
  return function(call)
    require("hashline.navigation").step(direction * (tonumber(call.rest) or 1))
  end
end

---@type table<string, { run: fun(call: hashline.Call), bang: boolean? }>
local subcommands = {
  accept = { run = deciding("accept"), bang = true },
  reject = { run = deciding("reject"), bang = true },
  keep = { run = deciding("accept"), bang = true },
  undo = { run = deciding("reject"), bang = true },
  next = { run = stepping(1) },
  prev = { run = stepping(-1) },
  list = {
    run = function()
      require("hashline.list").open()
    end,
  },
  diff = {
    run = function()
      require("hashline.compare").open()
    end,
  },
  status = {
    run = function()
      require("hashline.status").show()
    end,
  },
  restart = {
    run = function()
      require("hashline.client").restart()
    end,
  },
}

---@return string[]
local function names()
  return vim.fn.sort(vim.tbl_keys(subcommands))
end

---@param call vim.api.keyset.create_user_command.command_args
function M.run(call)
  require("hashline").start()
  local word, rest = call.args:match("^(%S*)%s*(.-)%s*$")
  local name = word:gsub("!$", "")
  if name == "" then
    name = "status"
  end
  local subcommand = subcommands[name]
  if not subcommand then
    vim.notify(
      ("hashline: there is no `:Hashline %s`; there are %s"):format(name, table.concat(names(), ", ")),
      vim.log.levels.ERROR
    )
    return
  end
  local bang = call.bang or vim.endswith(word, "!")
  if bang and not subcommand.bang then
    vim.notify(("hashline: `:Hashline %s` takes no !"):format(name), vim.log.levels.ERROR)
    return
  end
  subcommand.run({ range = call.range > 0 and { call.line1, call.line2 } or nil, bang = bang, rest = rest })
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local before = line:match("Hashline!?%s+(.*)$") or ""
  if before:find("%s") then
    return {} -- the subcommand stands already
  end
  return vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, names())
end

--- What a <Plug> map does. Those that can be repeated give back the keys to press.
---@param action string
---@return string?
function M.plug(action)
  require("hashline").start()
  local decide, navigation = require("hashline.decide"), require("hashline.navigation")
  if action == "accept" or action == "reject" then
    vim.go.operatorfunc = ("v:lua.require'hashline.decide'.operator_%s"):format(action)
    return "g@l"
  elseif action == "accept_file" then
    decide.decide("accept", { whole_file = true })
  elseif action == "reject_file" then
    decide.decide("reject", { whole_file = true })
  elseif action == "next" then
    navigation.step(vim.v.count1)
  elseif action == "prev" then
    navigation.step(-vim.v.count1)
  elseif action == "select" then
    navigation.select()
  else
    subcommands[action].run({ bang = false, rest = "" })
  end
end

return M
