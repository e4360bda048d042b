--- How long Neovim is busy with a key, a scrolled screen and a list of the sidecar's, without hunks and with 1,000 of them in
--- 50,000 lines: nvim -l nvim/tests/frames.lua [ROUNDS], with NVIM_BINARY in the environment, prints it as JSON, in milliseconds.
local here = vim.fs.dirname(vim.uv.fs_realpath(debug.getinfo(1, "S").source:sub(2)))
package.path = here .. "/?.lua;" .. package.path
local Child, messages = require("child"), require("messages")

local LINES, HUNKS = 50000, 1000
local rounds = tonumber(arg[1]) or 200

local lines = {}
for i = 1, LINES do
  lines[i] = ("    let value_%d = compute(%d, &context)?; // what line %d is for"):format(i, i * 7, i)
end

--- A held hunk in every fiftieth line: most replace it, some insert behind it.
local hunks = {}
for number = 1, HUNKS do
  local row = number * LINES / HUNKS - 25
  local line = lines[row + 1]
  hunks[number] = number % 5 == 0 and { lines = messages.at(row, row), proposed = { line, line } }
    or {
      lines = messages.at(row, row + 1),
      removed = { line },
      proposed = { (line:gsub("context", "scope")) },
    }
end

local child = Child.start(nil, { 50, 160 }, { longest_ms = 300000 })
local uri = child:open("long.rs", lines)

--- Does something so often, and says how long each took until the screen showed it.
local MEASURE = [[
  local work, rounds = ...
  local took = {}
  for round = 1, rounds do
    local began = vim.uv.hrtime()
    work(round)
    vim.cmd("redraw")
    took[round] = (vim.uv.hrtime() - began) / 1e6
  end
  return took
]]

local works = {
  -- Each in the middle of the file, where hunks are above and below.
  scroll = [[
    if round == 1 then vim.cmd("normal! 25000Gzt") end
    vim.cmd("normal! 5\5")
  ]],
  page = [[
    if round == 1 then vim.cmd("normal! 5000Gzt") end
    vim.cmd("normal! \6")
  ]],
  key = [[
    if round == 1 then vim.cmd("normal! 25010Gzz") end
    vim.api.nvim_feedkeys("ax", "nx", false)
  ]],
  line = [[
    if round == 1 then vim.cmd("normal! 25010Gzz") end
    vim.api.nvim_feedkeys("onew", "nx", false)
  ]],
}

---@return table<string, number[]>
local function measure()
  local took = {}
  for name, work in vim.spairs(works) do
    child:cmd("silent! undo 0 | set nomodified")
    took[name] = child:lua(
      ("local work = function(round) %s end\n"):format(work)
        .. MEASURE:gsub("local work, rounds", "local rounds"),
      rounds
    )
  end
  child:cmd("silent! undo 0")
  return took
end

--- A list that comes: read, taken in, drawn. Every other one says something else about one hunk.
local function receive(list)
  return child:lua(
    [[
      local texts, rounds = ...
      local client = vim.lsp.get_clients({ name = "hashline" })[1]
      local took = {}
      for round = 1, rounds do
        local began = vim.uv.hrtime()
        local message = vim.json.decode(texts[round % 2 + 1], { luanil = { object = true } })
        client.handlers[message.method](nil, message.params, { client_id = client.id })
        vim.cmd("redraw")
        took[round] = (vim.uv.hrtime() - began) / 1e6
      end
      return took
    ]],
    list,
    rounds
  )
end

local function message(edits)
  return { method = "hashline/pendingEdits", params = messages.list(uri, 0, edits) }
end

local without = measure()
without.list = receive({ vim.json.encode(message({})), vim.json.encode(message({})) })
child:push("hashline/pendingEdits", message({ messages.edit(vim.deepcopy(hunks)) }).params)
child:cmd("redraw")
local with = measure()
local version = child:version()
local one, other = message({ messages.edit(vim.deepcopy(hunks)) }), message({ messages.edit(hunks) })
one.params.version, other.params.version = version, version
other.params.edits[1].hunks[HUNKS / 2].deciding = true
with.list = receive({ vim.json.encode(one), vim.json.encode(other) })
Child.stop_all()
print(vim.json.encode({ without = without, with = with }))
os.exit(0)
