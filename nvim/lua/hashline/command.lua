--- `:Hashline` and the <Plug> maps.
local M = {}

---@class hashline.Call
---@field range [integer, integer]?
---@field bang boolean
---@field rest string

---@class hashline.Subcommand
---@field run fun(call: hashline.Call)
---@field bang boolean? it takes a !
---@field words boolean? it takes words
---@field completes string[]? what its first word may be

---@param verb hashline.Verb
---@return hashline.Subcommand
local function deciding(verb)
  return {
    bang = true,
    words = verb == "reject",
    run = function(call)
      require("hashline.decide").decide(verb, {
        range = call.range,
        whole_file = call.bang,
        reason = call.rest ~= "" and call.rest or nil,
      })
    end,
  }
end

--- Rejecting with a reason that is asked for.
---@type hashline.Subcommand
local asking_why = {
  bang = true,
  run = function(call)
    require("hashline.decide").decide("reject", {
      range = call.range,
      whole_file = call.bang,
      ask_reason = true,
    })
  end,
}

--- Telling agents something without a decision, which is asked for where it is not given.
---@type hashline.Subcommand
local commenting = {
  bang = true,
  words = true,
  run = function(call)
    local is_given = call.rest ~= ""
    require("hashline.decide").decide("comment", {
      range = call.range,
      whole_file = call.bang,
      reason = is_given and call.rest or nil,
      ask_reason = not is_given,
    })
  end,
}

---@param direction 1|-1
---@return hashline.Subcommand
local function stepping(direction)
  return {
    words = true,
    run = function(call)
      require("hashline.navigation").step(direction * math.floor(tonumber(call.rest) or 1))
    end,
  }
end

---@param module string
---@param name string
---@return hashline.Subcommand
local function calling(module, name)
  return {
    run = function()
      require("hashline." .. module)[name]()
    end,
  }
end

---@type table<string, hashline.Verb>
local VERBS = { accept = "accept", keep = "accept", reject = "reject", undo = "reject" }

---@param call hashline.Call
local function decide_conversation(call)
  local word, reason = call.rest:match("^(%S*)%s*(.-)$") --[[@as string, string]]
  local verb = VERBS[word]
  if not verb then
    vim.notify(
      "hashline: say what is to become of it: `:Hashline conversation accept` or `reject`",
      vim.log.levels.ERROR
    )
    return
  end
  require("hashline.decide").decide(verb, {
    conversation = true,
    reason = verb == "reject" and reason ~= "" and reason or nil,
  })
end

---@type table<string, hashline.Subcommand>
local subcommands = {
  accept = deciding("accept"),
  reject = deciding("reject"),
  keep = deciding("accept"),
  undo = deciding("reject"),
  reason = asking_why,
  comment = commenting,
  conversation = {
    run = decide_conversation,
    words = true,
    completes = { "accept", "keep", "reject", "undo" },
  },
  reopen = calling("reopen", "last"),
  rejected = calling("rejected", "open"),
  history = calling("history", "open"),
  next = stepping(1),
  prev = stepping(-1),
  pick = calling("pick", "open"),
  list = calling("list", "open"),
  review = calling("review", "open"),
  diff = calling("compare", "open"),
  edit = calling("proposal", "edit"),
  status = calling("status", "show"),
  restart = calling("client", "restart"),
}

---@param options string[]
---@param lead string
---@return string[]
local function beginning(options, lead)
  return vim.tbl_filter(function(option)
    return vim.startswith(option, lead)
  end, options)
end

---@return string[]
local function names()
  return vim.fn.sort(vim.tbl_keys(subcommands))
end

---@param call vim.api.keyset.create_user_command.command_args
function M.run(call)
  require("hashline").start()
  local word, rest = call.args:match("^(%S*)%s*(.-)%s*$") --[[@as string, string]]
  local name = word:gsub("!$", "")
  if name == "" then
    name = "status"
  end
  local function refuse(message)
    vim.notify("hashline: " .. message, vim.log.levels.ERROR)
  end
  local subcommand = subcommands[name]
  if not subcommand then
    return refuse(("there is no `:Hashline %s`; there are %s"):format(name, table.concat(names(), ", ")))
  end
  local bang = call.bang or vim.endswith(word, "!")
  if bang and not subcommand.bang then
    return refuse(("`:Hashline %s` takes no !"):format(name))
  elseif rest ~= "" and not subcommand.words then
    return refuse(("`:Hashline %s` takes no words, and got `%s`"):format(name, rest))
  end
  subcommand.run({ range = call.range > 0 and { call.line1, call.line2 } or nil, bang = bang, rest = rest })
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local before = line:match("Hashline!?%s+(.*)$") or ""
  local name, rest = before:match("^(%S+)%s+(.*)$")
  if not name or not rest then
    return beginning(names(), lead)
  elseif rest:find("%s") then
    return {}
  end
  return beginning((subcommands[name] or {}).completes or {}, lead)
end

---@param action string what `g@` calls
---@param motion string
---@return string keys
local function operating(action, motion)
  vim.go.operatorfunc = "v:lua.require'hashline.decide'.operator_" .. action
  return "g@" .. motion
end

--- What the <Plug> maps do. Those that can be repeated by a dot give back the keys to press.
---@type table<string, fun(): string?>
local actions = {
  accept = function()
    return operating("accept", "l")
  end,
  reject = function()
    return operating("reject", "l")
  end,
  accept_motion = function()
    return operating("accept_motion", "")
  end,
  reject_motion = function()
    return operating("reject_motion", "")
  end,
  comment = function()
    require("hashline.decide").decide("comment", { ask_reason = true })
  end,
  reject_reason = function()
    require("hashline.decide").decide("reject", { ask_reason = true })
  end,
  accept_file = function()
    require("hashline.decide").decide("accept", { whole_file = true })
  end,
  reject_file = function()
    require("hashline.decide").decide("reject", { whole_file = true })
  end,
  accept_conversation = function()
    require("hashline.decide").decide("accept", { conversation = true })
  end,
  reject_conversation = function()
    require("hashline.decide").decide("reject", { conversation = true })
  end,
  next = function()
    require("hashline.navigation").step(vim.v.count1)
  end,
  prev = function()
    require("hashline.navigation").step(-vim.v.count1)
  end,
  select = function()
    require("hashline.navigation").select()
  end,
}
for _, name in ipairs({ "reopen", "pick", "list", "review", "diff", "edit", "history" }) do
  actions[name] = function()
    subcommands[name].run({ bang = false, rest = "" })
  end
end

---@param action string
---@return string? keys
function M.plug(action)
  require("hashline").start()
  return actions[action]()
end

return M
